/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Gathers events and sends them as batches, in order and one batch at a time. A batch is sent with one idempotency key
 * until it is answered, so that a server that took it and was killed before it said so does not take it twice. What
 * becomes of an answer:
 *
 *   | answer                       | then                                                                |
 *   | ---------------------------- | ------------------------------------------------------------------- |
 *   | 200                          | each event is accepted, or rejected with its reason; next batch     |
 *   | 413 of several events        | in halves, each with a key of its own; batches stay that small      |
 *   | 400 of several events        | in halves too: it may be for one of them, as at `--max-services`    |
 *   | 400 or 413 of one, 415, 422  | the events are rejected with that reason; next batch                |
 *   | none, 408, 429, 5xx          | the server is away: wait, the same again, however long              |
 *   | anything else (401, 403 …)   | `onRefused` decides: the same again, or the batcher fails with it   |
 *
 * Events wait in a buffer of at most `maxBuffered`, beside the batch that is on its way.
 */
import { ForeshockError } from './error.ts';
import { type Entry, EventBuffer, type OnFull } from './event-buffer.ts';
import { type RetryPolicy, waitBeforeRetry } from './retry.ts';
import type { BatchResult, EventBody } from './wire.ts';

export interface BatcherOptions {
  /** Of one batch; default 1000, and no server takes more than 10 000. */
  readonly maxEvents?: number;
  /** Of one batch, in bytes of JSON; default 1 MiB. An event that is larger goes alone. */
  readonly maxBytes?: number;
  /** How long an event waits for others to go with, milliseconds; default 200. */
  readonly maxDelayMs?: number;
  /** How many events wait at most; default 10 000. */
  readonly maxBuffered?: number;
  /** Default `wait`. */
  readonly onFull?: OnFull;
  /** Each batch's share of events that the server has recorded. */
  readonly onAccepted?: (events: readonly EventBody[]) => void;
  /** The server does not take the event, and would not if it were sent again. */
  readonly onRejected?: (event: EventBody, detail: string) => void;
  /** There was no room for it. */
  readonly onDropped?: (event: EventBody) => void;
  /** The server is away; the same batch is sent again after `waitMs`. */
  readonly onRetry?: (error: ForeshockError, waitMs: number) => void;
  /** What to do where the sender itself is refused. Default `fail`. */
  readonly onRefused?: (error: ForeshockError) => Promise<'again' | 'fail'>;
  /** Gives up at once: what has not been answered is left. */
  readonly signal?: AbortSignal;
}

/** Sends a batch, an event a line, once. */
export type SendLines = (
  lines: string,
  options: { readonly idempotencyKey: string; readonly signal?: AbortSignal },
) => Promise<BatchResult>;

export interface BatcherDependencies {
  readonly send: SendLines;
  readonly newKey: () => string;
  readonly retry: RetryPolicy;
}

const MIB = 1024 * 1024;
const ENCODER = new TextEncoder();
/** About the events that were sent, not about who sent them. */
const EVENT_REFUSALS: ReadonlySet<number | null> = new Set([400, 413, 415, 422]);

export class Batcher implements AsyncDisposable {
  readonly #options: BatcherOptions;
  readonly #dependencies: BatcherDependencies;
  readonly #buffer: EventBuffer;
  /** Of the batch that is on its way, those that are not answered. */
  #inFlight: readonly Entry[] = [];
  #added = 0;
  #flushes = 0;
  #isRunning = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | undefined;
  readonly #abort = () => this.#fail(this.#options.signal?.reason);
  #hurry = () => {};
  #watchers: (() => void)[] = [];

  constructor(options: BatcherOptions, dependencies: BatcherDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#buffer = new EventBuffer({
      maxEvents: atLeastOne(options.maxEvents ?? 1000, 'maxEvents'),
      maxBytes: atLeastOne(options.maxBytes ?? MIB, 'maxBytes'),
      maxBuffered: atLeastOne(options.maxBuffered ?? 10_000, 'maxBuffered'),
      onFull: options.onFull ?? 'wait',
      onDropped: (event) => options.onDropped?.(event),
      onChange: () => this.#go(),
    });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    if (options.signal?.aborted) this.#abort();
  }

  /** Events that have been added and of which it is not known what became of them. */
  get pending(): number {
    return this.#inFlight.length + this.#buffer.length;
  }

  get onFull(): OnFull {
    return this.#buffer.onFull;
  }

  /** May be decided anew: those that wait for room do so no longer where nobody is to. */
  set onFull(onFull: OnFull) {
    this.#buffer.onFull = onFull;
  }

  /**
   * Takes an event as it is now. Resolves once it has its place; with `wait` that is when there is room, so that whoever
   * awaits it goes no faster than the server.
   *
   * @throws Error where the batcher is closed, has failed (with that error) or was aborted (with the signal's reason)
   */
  async add(event: EventBody): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isClosed) throw new Error('the batcher is closed');
    const line = JSON.stringify(event);
    // With the end of the line.
    const bytes = ENCODER.encode(line).byteLength + 1;
    const atMs = this.#dependencies.retry.now();
    await this.#buffer.put({ number: ++this.#added, event, line, bytes, atMs });
  }

  /**
   * Sends at once what waits; resolves when it is known what became of all that was added before.
   *
   * @throws Error where the batcher has failed (with that error) or was aborted (with the signal's reason)
   */
  async flush(): Promise<void> {
    const last = this.#added;
    this.#flushes += 1;
    this.#hurry();
    try {
      while (this.#failure === undefined && this.#oldest <= last) await this.#changed();
      // Also where nothing is left: it may be a callback that threw as it was told of the last.
      if (this.#failure !== undefined) throw this.#failure.error;
    } finally {
      this.#flushes -= 1;
    }
  }

  /** Takes nothing more, and flushes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.flush();
    } finally {
      this.#options.signal?.removeEventListener('abort', this.#abort);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The number of the oldest event of which is not known what became of it. */
  get #oldest(): number {
    return (this.#inFlight[0] ?? this.#buffer.oldest)?.number ?? this.#added + 1;
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #tell(): void {
    for (const resolve of this.#watchers.splice(0)) resolve();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#buffer.shut(this.#failure.error);
    this.#hurry();
    this.#tell();
  }

  #go(): void {
    this.#tell();
    if (this.#buffer.isRipe) this.#hurry();
    if (this.#isRunning || this.#buffer.length === 0 || this.#failure !== undefined) return;
    this.#isRunning = true;
    this.#run();
  }

  async #run(): Promise<void> {
    try {
      while (this.#buffer.length > 0) {
        await this.#ripe();
        if (this.#failure !== undefined) return;
        this.#inFlight = this.#buffer.takeBatch();
        await this.#deliver(this.#inFlight);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Until there is a batch, its oldest event has waited long enough, or somebody waits for it. */
  async #ripe(): Promise<void> {
    const { oldest } = this.#buffer;
    if (oldest === undefined || this.#flushes > 0 || this.#buffer.isRipe) return;
    const waitMs = oldest.atMs + (this.#options.maxDelayMs ?? 200) - this.#dependencies.retry.now();
    if (waitMs <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#hurry = () => {};
  }

  async #deliver(entries: readonly Entry[]): Promise<void> {
    const { send, retry, newKey } = this.#dependencies;
    const { signal, onRetry, onRefused } = this.#options;
    const lines = entries.map(({ line }) => line).join('\n');
    const once = { idempotencyKey: newKey(), ...(signal && { signal }) };
    for (let failures = 0; ; ) {
      const answer = await send(lines, once).catch((error: unknown) => {
        signal?.throwIfAborted();
        if (error instanceof ForeshockError) return error;
        throw error;
      });
      if (!(answer instanceof ForeshockError)) return this.#settle(entries, answer);
      const { status, isServerAway } = answer;
      if ((status === 413 || status === 400) && entries.length > 1) {
        if (status === 413) this.#buffer.limitBatches(Math.ceil(bytesOf(entries) / 2));
        return this.#deliverHalves(entries);
      }
      if (EVENT_REFUSALS.has(status)) return this.#settle(entries, allRejected(entries, answer));
      if (isServerAway) {
        const waitMs = waitBeforeRetry(retry, ++failures, answer.retryAfterMs);
        onRetry?.(answer, waitMs);
        await retry.sleep(waitMs, signal);
      } else if ((await onRefused?.(answer)) !== 'again') throw answer;
    }
  }

  async #deliverHalves(entries: readonly Entry[]): Promise<void> {
    const half = Math.ceil(entries.length / 2);
    await this.#deliver(entries.slice(0, half));
    await this.#deliver(entries.slice(half));
  }

  #settle(entries: readonly Entry[], { rejected }: BatchResult): void {
    this.#inFlight = this.#inFlight.slice(entries.length);
    const reasons = new Map(rejected.map(({ index, detail }) => [index, detail]));
    const accepted = entries.filter((_, index) => !reasons.has(index)).map(({ event }) => event);
    if (accepted.length > 0) this.#options.onAccepted?.(accepted);
    for (const [index, detail] of reasons) {
      const entry = entries[index];
      if (entry !== undefined) this.#options.onRejected?.(entry.event, detail);
    }
    this.#tell();
  }
}

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function allRejected(entries: readonly Entry[], { detail }: ForeshockError): BatchResult {
  return { accepted: 0, rejected: entries.map((_, index) => ({ index, detail })) };
}

function atLeastOne(value: number, name: string): number {
  if (!(value >= 1)) throw new Error(`${name} must be at least 1`);
  return value;
}
