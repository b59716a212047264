/**
 * When an appended command may be applied and answered.
 *
 *   write   at once: what the kernel has survives the death of the process. A sync follows within SYNC_INTERVAL_MS of
 *           the one before, so a power cut loses that and the time of a sync. Answers stay synchronous, which HTTP pipelining needs.
 *   fsync   after a sync that covers it. One sync is under way at a time, and all that was appended meanwhile
 *           shares the next: group commit.
 *
 * A sync that fails ends the process: the kernel may drop the pages it could not write and report success
 * ever after ("fsyncgate"), so no later sync can be believed. One that does not come back within STALL_MS
 * means a disk that hangs: nothing more is taken until it does, so that what a power cut could lose stays
 * bounded: by a sync of nearly STALL_MS, one that hangs behind it, and SYNC_INTERVAL_MS between them.
 */
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import { LogUnavailable } from '../log/errors.ts';
import type { LogWriter } from '../log/tip.ts';

export const DURABILITIES = ['write', 'fsync'] as const;
export type Durability = (typeof DURABILITIES)[number];

const SYNC_INTERVAL_MS = 100;
const STALL_MS = 2000;

export interface CommitOptions<Entry> {
  readonly log: Pick<LogWriter, 'makeDurable'>;
  readonly scheduler: Scheduler;
  /** Called for every entry, in the order they were appended … */
  readonly commit: (entry: Entry) => void;
  /** … or, where the disk took it not and the log has forgotten it, this. */
  readonly abandon: (entry: Entry, error: LogUnavailable) => void;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Told of every sync that came back, how long it took: in `fsync` mode with the write before it. */
  readonly onSync: (milliseconds: number) => void;
  /** Called at most once; the process must end. */
  readonly onFatal: (error: Error) => void;
}

export interface CommitQueue<Entry> {
  /** Takes an entry whose command has just been appended. */
  appended(entry: Entry): void;
  /** A sync is overdue: nothing may be appended. */
  readonly stalled: boolean;
  /** Entries appended and not committed, those of the sync under way among them. */
  readonly waiting: number;
  /** The one that has waited longest. */
  readonly oldest: Entry | undefined;
  /** Calls back once nothing waits and no sync is under way; nothing may be appended meanwhile. */
  whenIdle(done: () => void): void;
}

export function commitQueue<Entry>(
  durability: Durability,
  options: CommitOptions<Entry>,
): CommitQueue<Entry> {
  return durability === 'write' ? new WriteThrough(options) : new GroupCommit(options);
}

type SyncingOptions = Pick<CommitOptions<unknown>, 'log' | 'scheduler' | 'clock' | 'onSync'>;

/** One sync at a time, watched. */
class Syncing {
  readonly #options: SyncingOptions;
  #onIdle: (() => void) | undefined;
  underWay = false;
  stalled = false;

  constructor(options: SyncingOptions) {
    this.#options = options;
  }

  /** Starts one; `done` may start the next before those who wait for idleness are told. */
  start(done: (error: unknown) => void, onForgotten?: () => void): void {
    const { log, scheduler, clock, onSync } = this.#options;
    this.underWay = true;
    const startedMs = clock.monotonic();
    const cancel = scheduler.after(STALL_MS, () => {
      this.stalled = true;
    });
    const finish = (error: unknown) => {
      cancel();
      onSync(clock.monotonic() - startedMs);
      this.underWay = false;
      this.stalled = false;
      done(error);
      if (!this.underWay) this.#onIdle?.();
    };
    log.makeDurable(onForgotten).then(() => finish(undefined), finish);
  }

  whenIdle(done: () => void): void {
    if (this.underWay) this.#onIdle = done;
    else done();
  }
}

class WriteThrough<Entry> implements CommitQueue<Entry> {
  readonly #options: CommitOptions<Entry>;
  readonly #syncing: Syncing;
  #due = false;
  #disarm: () => void = () => {};
  #closed = false;
  readonly waiting = 0;
  readonly oldest = undefined;

  constructor(options: CommitOptions<Entry>) {
    this.#options = options;
    this.#syncing = new Syncing(options);
  }

  get stalled(): boolean {
    return this.#syncing.stalled;
  }

  appended(entry: Entry): void {
    if (!this.#due) {
      this.#due = true;
      if (!this.#syncing.underWay) this.#arm();
    }
    // Before this returns: the bytes of the record are lent until then.
    this.#options.commit(entry);
  }

  /** A sync that is only due is not waited for: closing the log makes everything durable. */
  whenIdle(done: () => void): void {
    this.#closed = true;
    this.#disarm();
    this.#syncing.whenIdle(done);
  }

  #arm(): void {
    if (this.#closed) return;
    this.#disarm = this.#options.scheduler.after(SYNC_INTERVAL_MS, () => {
      // What is appended from here on may miss this sync, and calls for the next.
      this.#due = false;
      this.#syncing.start((error) => {
        if (error instanceof Error) this.#options.onFatal(error);
        else if (this.#due) this.#arm();
      });
    });
  }
}

class GroupCommit<Entry> implements CommitQueue<Entry> {
  readonly #options: CommitOptions<Entry>;
  readonly #syncing: Syncing;
  /** Those of the sync under way … */
  #group: Entry[] = [];
  /** … and those of the next. */
  #next: Entry[] = [];
  #due = false;

  constructor(options: CommitOptions<Entry>) {
    this.#options = options;
    this.#syncing = new Syncing(options);
  }

  get stalled(): boolean {
    return this.#syncing.stalled;
  }

  get waiting(): number {
    return this.#group.length + this.#next.length;
  }

  get oldest(): Entry | undefined {
    return this.#group[0] ?? this.#next[0];
  }

  appended(entry: Entry): void {
    this.#next.push(entry);
    if (this.#due || this.#syncing.underWay) return;
    this.#due = true;
    // Not at once: the requests that are at hand beside this one go into the same group.
    this.#options.scheduler.soon(() => {
      this.#due = false;
      this.#start();
    });
  }

  whenIdle(done: () => void): void {
    if (this.#due) this.#options.scheduler.soon(() => this.whenIdle(done));
    else this.#syncing.whenIdle(done);
  }

  /** Where there is something to sync, and no sync under way: what was appended meanwhile goes into the next. */
  #start(): void {
    if (this.#syncing.underWay || this.#next.length === 0) return;
    const { commit, abandon, onFatal } = this.#options;
    this.#group = this.#next;
    this.#next = [];
    // What came after the group stood behind it in the log, and is forgotten with it; what comes later is not.
    let forgotten: Entry[] = [];
    const onForgotten = () => {
      forgotten = [...this.#group.splice(0), ...this.#next.splice(0)];
    };
    this.#syncing.start((error) => {
      const group = this.#group;
      this.#group = [];
      if (error instanceof LogUnavailable) {
        for (const entry of forgotten) abandon(entry, error);
      } else if (error instanceof Error) {
        onFatal(error);
        return;
      } else for (const entry of group) commit(entry);
      this.#start();
    }, onForgotten);
  }
}
