/**
 * When an appended command may be applied and answered.
 *
 *   write   at once: its write(2) survives the death of the process. A sync follows within SYNC_INTERVAL_MS,
 *           so a power cut loses that much at most. Answers stay synchronous, which HTTP pipelining needs.
 *   fsync   after a sync that began after its write. One sync is under way at a time, and all that was
 *           appended meanwhile shares the next: group commit.
 *
 * A sync that fails ends the process: the kernel may drop the pages it could not write and report success
 * ever after ("fsyncgate"), so no later sync can be believed.
 */

import type { Scheduler } from '../lib/scheduler.ts';
import type { CommandLog } from '../log/log.ts';

export const DURABILITIES = ['write', 'fsync'] as const;
export type Durability = (typeof DURABILITIES)[number];

const SYNC_INTERVAL_MS = 100;

export interface CommitOptions<Entry> {
  readonly log: CommandLog;
  readonly scheduler: Scheduler;
  /** Called for every entry, in the order they were appended. */
  readonly commit: (entry: Entry) => void;
  /** Called at most once; the process must end. */
  readonly onFatal: (error: Error) => void;
}

export interface CommitQueue<Entry> {
  /** Takes an entry whose command has just been appended. */
  appended(entry: Entry): void;
  /** Entries that wait to be committed. */
  readonly waiting: number;
  /** Calls back once nothing waits and no sync is under way; nothing may be appended meanwhile. */
  whenIdle(done: () => void): void;
}

export function commitQueue<Entry>(
  durability: Durability,
  options: CommitOptions<Entry>,
): CommitQueue<Entry> {
  return durability === 'write' ? new WriteThrough(options) : new GroupCommit(options);
}

class WriteThrough<Entry> implements CommitQueue<Entry> {
  readonly #options: CommitOptions<Entry>;
  #sync: 'none' | 'due' | 'under-way' = 'none';
  /** Something was appended that the sync under way may miss. */
  #missed = false;
  #onIdle: (() => void) | undefined;
  readonly waiting = 0;

  constructor(options: CommitOptions<Entry>) {
    this.#options = options;
  }

  appended(entry: Entry): void {
    if (this.#sync === 'none') this.#arm();
    else if (this.#sync === 'under-way') this.#missed = true;
    this.#options.commit(entry);
  }

  whenIdle(done: () => void): void {
    if (this.#sync === 'under-way') this.#onIdle = done;
    else done();
  }

  #arm(): void {
    this.#sync = 'due';
    this.#missed = false;
    this.#options.scheduler.after(SYNC_INTERVAL_MS, () => this.#start());
  }

  #start(): void {
    this.#sync = 'under-way';
    this.#options.log.syncInBackground((error) => {
      this.#sync = 'none';
      if (error !== null) this.#options.onFatal(error);
      else if (this.#onIdle !== undefined) this.#onIdle();
      else if (this.#missed) this.#arm();
    });
  }
}

class GroupCommit<Entry> implements CommitQueue<Entry> {
  readonly #options: CommitOptions<Entry>;
  #group: Entry[] = [];
  #syncUnderWay = false;
  #onIdle: (() => void) | undefined;

  constructor(options: CommitOptions<Entry>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#group.length;
  }

  appended(entry: Entry): void {
    this.#group.push(entry);
    if (this.#syncUnderWay) return;
    this.#syncUnderWay = true;
    // Not at once: the requests that are at hand beside this one go into the same group.
    this.#options.scheduler.soon(() => this.#start());
  }

  whenIdle(done: () => void): void {
    if (this.#syncUnderWay) this.#onIdle = done;
    else done();
  }

  #start(): void {
    const group = this.#group;
    this.#group = [];
    this.#options.log.syncInBackground((error) => {
      if (error !== null) {
        this.#options.onFatal(error);
        return;
      }
      for (const entry of group) this.#options.commit(entry);
      if (this.#group.length > 0) {
        this.#start();
        return;
      }
      this.#syncUnderWay = false;
      this.#onIdle?.();
    });
  }
}
