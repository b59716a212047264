/**
 * The pipeline: the way of every command. Read this first.
 *
 *   admit    is it acceptable in the present state? A refusal costs no record.
 *   stamp    it gets its sequence number and its time, which never runs back.
 *   append   it is written to the log. From here on it has happened.
 *   apply    the state changes: at once in `write` mode, after a sync in `fsync` mode (durability.ts).
 *   settle   whoever submitted it is told, and may answer.
 *
 * Log before state, state before answer: no reader sees, and no caller is told, what the log does not hold.
 */
import type { RecordEncodedEvents, Submission } from '../domain/encoded-events.ts';
import { type Rejection, unavailable } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import { LogUnavailable, SyncFailed } from '../log/errors.ts';
import type { CommandLog } from '../log/log.ts';
import { FRAME_BYTES } from '../log/record.ts';
import type { LoggedRecord } from '../log/replay.ts';
import { apply, type Outcome, REPLAY } from './apply.ts';
import { type CommitQueue, commitQueue, type Durability } from './durability.ts';
import { eventsOverCap, overCap, refusal, type TenantCaps, tooManyServices } from './refusal.ts';
import type { State } from './state.ts';

/** Commands that may wait for a sync: about what a second of full load brings. */
const MAX_WAITING = 65_536;
/** And their bytes: batches are large. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

/** How long a write that was refused by the disk speaks for those to come. */
const TROUBLE_MS = 2000;

/** Told once what became of a command; in `write` mode before `submit` returns. */
export type Settle = (outcome: Outcome) => void;

export interface PipelineOptions {
  readonly state: State;
  readonly log: CommandLog;
  /** Never runs back, and is not before the last command of the log. */
  readonly time: Pick<Clock, 'now'>;
  readonly scheduler: Scheduler;
  readonly durability: Durability;
  readonly caps: TenantCaps;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Told of every sync of the log, how long it took. */
  readonly onSync: (milliseconds: number) => void;
  /** A broken invariant or a failed sync: the process must end, and restart is the repair. */
  readonly onFatal: (error: Error) => void;
  /** Commands are not taken any more, for this reason; or, undefined, are taken again. */
  readonly onTrouble: (reason: string | undefined) => void;
  /** A caller threw on being told; what it was told of stands. */
  readonly onSettleError: (error: unknown) => void;
}

interface Entry {
  readonly record: LoggedRecord;
  readonly settle: Settle;
}

const LOG_UNAVAILABLE: Rejection = unavailable('the log cannot be written just now; try again');
const OVERLOADED: Rejection = unavailable('too many commands wait for the disk; try again');
const DISK_HANGS: Rejection = unavailable('the disk does not answer; try again');
const CLOSED: Rejection = unavailable('the server is shutting down');

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #queue: CommitQueue<Entry>;
  #waitingBytes = 0;
  /** Bytes of records appended since the process began, those among them that the disk then did not take. */
  appendedBytes = 0;
  #trouble: string | undefined;
  #cancelForgetting: () => void = () => {};
  #closed = false;
  /** Number of the last command that was applied. */
  appliedSequence: number;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { log, scheduler, clock, onSync, onFatal } = options;
    this.appliedSequence = log.lastStamp.sequence;
    this.#queue = commitQueue(options.durability, {
      log,
      scheduler,
      clock,
      onSync,
      commit: (entry: Entry) => this.#commit(entry),
      abandon: ({ record, settle }, error) => {
        this.#waitingBytes -= bytesOf(record);
        this.#note(error.message);
        this.#tell(settle, LOG_UNAVAILABLE);
      },
      onFatal,
    });
  }

  submit(command: Submission, settle: Settle): void {
    if (this.#closed) return settle(CLOSED);
    const { state, caps } = this.#options;
    const refused = refusal(state, command);
    if (refused !== undefined) return settle(refused);
    if (command.type === 'record-encoded-events' && command.idempotency !== undefined) {
      const { key, idempotency } = command;
      const verdict = state.idempotencyKeys.verdict(key.agentId, idempotency, this.#options.time.now());
      if (verdict !== undefined) return settle(verdict.type === 'replayed' ? REPLAY : verdict);
    }
    const tooMany = overCap(state, command, caps);
    if (tooMany !== undefined) return settle(tooMany);
    if (this.#queue.stalled) return settle(DISK_HANGS);
    if (this.#queue.waiting >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES)
      return settle(OVERLOADED);

    let record: LoggedRecord;
    try {
      const logged = command.type === 'record-encoded-events' ? state.agents.encode(command) : command;
      record = this.#options.log.append(logged, this.#options.time.now());
    } catch (error) {
      if (error instanceof LogUnavailable) {
        this.#note(error.message);
        return settle(LOG_UNAVAILABLE);
      }
      if (error instanceof SyncFailed) this.#fail(error);
      throw error;
    }
    const bytes = bytesOf(record);
    this.#waitingBytes += bytes;
    this.appendedBytes += bytes;
    this.#queue.appended({ record, settle });
  }

  /** Places of events that would make more services than a tenant may have, and the sentence that refuses them. */
  overCap(command: RecordEncodedEvents): { readonly events: ReadonlySet<number>; readonly detail: string } {
    const { state, caps } = this.#options;
    return { events: eventsOverCap(state, command, caps), detail: tooManyServices(caps).detail };
  }

  /** Why commands are not taken just now, as far as the last attempt told; undefined where they are. */
  get trouble(): string | undefined {
    if (this.#closed) return CLOSED.detail;
    return this.#queue.stalled ? DISK_HANGS.detail : this.#trouble;
  }

  /** Commands that wait for a sync. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /** And their bytes. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * A time up to which nothing is left to be applied: what has expired by then has expired for every command
   * to come, so reclaiming it changes no outcome.
   */
  appliedUntil(nowMs: number): number {
    return this.#queue.oldest?.record.stamp.atMs ?? nowMs;
  }

  /** Refuses commands from here on; resolves once those that wait have settled. */
  close(): Promise<void> {
    this.#closed = true;
    return new Promise((resolve) => this.#queue.whenIdle(resolve));
  }

  #commit({ record, settle }: Entry): void {
    this.#waitingBytes -= bytesOf(record);
    if (this.#trouble !== undefined) this.#note(undefined);
    let outcome: Outcome;
    try {
      outcome = apply(this.#options.state, record);
      this.appliedSequence = record.stamp.sequence;
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    this.#tell(settle, outcome);
  }

  /** One caller's mistake must not keep the others of a group from being told. */
  #tell(settle: Settle, outcome: Outcome): void {
    try {
      settle(outcome);
    } catch (error) {
      this.#options.onSettleError(error);
    }
  }

  #note(trouble: string | undefined): void {
    this.#cancelForgetting();
    if (trouble !== undefined) {
      // Whoever is told to stay away does not try again: after a while only an attempt can tell.
      this.#cancelForgetting = this.#options.scheduler.after(TROUBLE_MS, () => this.#note(undefined));
    }
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble);
  }

  #fail(error: Error): void {
    this.#closed = true;
    this.#options.onFatal(error);
  }
}

/** In the log. */
function bytesOf({ start, end }: LoggedRecord): number {
  return FRAME_BYTES + end - start;
}
