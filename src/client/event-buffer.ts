/**
 * Events that wait to be sent, oldest first: a bounded queue, and before its door whoever waits for room. Batches are
 * cut off its front.
 */
import type { EventBody } from './wire.ts';

/** What is done with an event for which there is no room. */
export type OnFull = 'wait' | 'drop-oldest' | 'drop-newest';

export interface Entry {
  /** Counting from 1, in the order in which they were added. */
  readonly number: number;
  readonly event: EventBody;
  /** The event as JSON, as it was when it was added. */
  readonly line: string;
  /** Of the line and its end, in UTF-8. */
  readonly bytes: number;
  readonly atMs: number;
}

export interface EventBufferOptions {
  /** How many wait at most. */
  readonly maxBuffered: number;
  /** Of a batch. */
  readonly maxEvents: number;
  /** Of a batch; an event that is larger makes one alone. */
  readonly maxBytes: number;
  readonly onFull: OnFull;
  readonly onDropped: (event: EventBody) => void;
  /** Something was let in, dropped or taken. */
  readonly onChange: () => void;
}

interface Outsider {
  readonly entry: Entry;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class EventBuffer {
  readonly #options: EventBufferOptions;
  #onFull: OnFull;
  #maxBytes: number;
  #queue: Entry[] = [];
  #queuedBytes = 0;
  #outside: Outsider[] = [];
  #isShut = false;

  constructor(options: EventBufferOptions) {
    this.#options = options;
    this.#onFull = options.onFull;
    this.#maxBytes = options.maxBytes;
  }

  get length(): number {
    return this.#queue.length + this.#outside.length;
  }

  get oldest(): Entry | undefined {
    return this.#queue[0] ?? this.#outside[0]?.entry;
  }

  /** Whether there is as much as goes into a batch, or as there is room for. */
  get isRipe(): boolean {
    const { maxEvents, maxBuffered } = this.#options;
    return this.#queue.length >= Math.min(maxEvents, maxBuffered) || this.#queuedBytes >= this.#maxBytes;
  }

  get onFull(): OnFull {
    return this.#onFull;
  }

  /** Those that wait for room do so no longer where nobody is to wait. */
  set onFull(onFull: OnFull) {
    this.#onFull = onFull;
    this.#letIn();
  }

  /** Resolves once the event has its place, or none; rejects with the reason of `shut`. */
  put(entry: Entry): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#outside.push({ entry, resolve, reject });
      this.#letIn();
    });
  }

  /** The next batch; it makes room for others. */
  takeBatch(): readonly Entry[] {
    const batch = this.#take(this.#batchLength());
    this.#letIn();
    return batch;
  }

  /** From here on a batch has at most so many bytes. */
  limitBatches(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Nobody is let in any more. */
  shut(reason: unknown): void {
    this.#isShut = true;
    for (const { reject } of this.#outside.splice(0)) reject(reason);
  }

  #letIn(): void {
    while (!this.#isShut) {
      const isFull = this.#queue.length >= this.#options.maxBuffered;
      if (isFull && this.#onFull === 'wait') break;
      const next = this.#outside.shift();
      if (next === undefined) break;
      if (isFull && this.#onFull === 'drop-newest') this.#options.onDropped(next.entry.event);
      else {
        const dropped = isFull ? this.#take(1) : [];
        this.#queue.push(next.entry);
        this.#queuedBytes += next.entry.bytes;
        for (const { event } of dropped) this.#options.onDropped(event);
      }
      next.resolve();
    }
    this.#options.onChange();
  }

  #take(count: number): readonly Entry[] {
    const taken = this.#queue.splice(0, count);
    for (const { bytes } of taken) this.#queuedBytes -= bytes;
    return taken;
  }

  /** How many of those that wait go together. */
  #batchLength(): number {
    let bytes = 0;
    let length = 0;
    for (const entry of this.#queue) {
      bytes += entry.bytes;
      if (length > 0 && (length >= this.#options.maxEvents || bytes > this.#maxBytes)) break;
      length += 1;
    }
    return length;
  }
}
