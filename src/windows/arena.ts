/**
 * The arena: byte chunks that live events are kept in, off the JavaScript heap, where a million of them cost
 * neither garbage collection nor objects. After Segcache (Yang, Yue, Rashmi, NSDI '21): events that expire at
 * about the same time share a chunk, so that a chunk comes free as a whole.
 *
 * Chunks are grouped by time to live, in eight classes to a doubling: within a class expiry follows receipt, so
 * the events of a chunk expire one soon after the other. A chunk is closed when it is full, or when its events
 * would come to expire too far apart. When the last of them has expired its memory is given back at once, without
 * a look at any of them: what still refers to them finds the chunk gone, which says that they have expired. The
 * chunk's number is not used again before the last such reference has been let go of.
 *
 * A record is found by its reference: chunk number and offset in words of eight bytes. What a window must know
 * of an event without fetching it (expiry, type, length) stands beside the reference, in event-list.ts.
 *
 *   word  what
 *   0     f64 timestamp, milliseconds
 *   1     f64 confidence
 *   2 …   the details
 */
import { Slabs, type Span } from './slabs.ts';

const CHUNK_BYTES = 64 * 1024;
const WORD = 8;
const HEADER_WORDS = 2;
export const CHUNK_WORDS = CHUNK_BYTES / WORD;
/** Events of a chunk expire within this part of their time to live, at the least within a second. */
const SPREAD = 1 / 8;
const LEAST_SPREAD_MS = 1000;

/** The longest details that fit a chunk. */
export const MAX_DETAILS_BYTES = CHUNK_BYTES - HEADER_WORDS * WORD;

declare const brand: unique symbol;
/** Chunk number · 2^13 + offset in words. */
export type EventRef = number & { readonly [brand]: 'EventRef' };

export interface Chunk {
  readonly number: number;
  readonly ttlClass: number;
  readonly firstExpiryMs: number;
  lastExpiryMs: number;
  usedWords: number;
  /** References to its records that have not been let go of. */
  held: number;
  readonly span: number;
  readonly startWord: number;
  /** Undefined when it has been given back. */
  memory: Span | undefined;
}

export interface NewRecord {
  readonly timestampMs: number;
  readonly confidence: number;
  readonly details: Buffer;
  readonly detailsStart: number;
  readonly detailsEnd: number;
}

export interface ArenaOptions {
  /** A chunk was opened: whoever keeps time is to look at it when its events have expired. */
  readonly onOpened: (chunk: Chunk) => void;
  /** A chunk's memory was given back before that: nobody needs to look at it. */
  readonly onFreed: (chunk: Chunk) => void;
}

export class Arena {
  readonly #options: ArenaOptions;
  readonly #chunks: (Chunk | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  /** By class. */
  readonly #open: (Chunk | undefined)[] = [];
  readonly #slabs = new Slabs(CHUNK_BYTES);
  /** Chunks that have memory. */
  chunkCount = 0;
  /** References to events of chunks that have been given back. */
  stale = 0;

  constructor(options: ArenaOptions) {
    this.#options = options;
  }

  add(record: NewRecord, ttlMs: number, expiresAtMs: number): EventRef {
    const { details, detailsStart, detailsEnd, timestampMs, confidence } = record;
    const detailsBytes = detailsEnd - detailsStart;
    if (detailsBytes > MAX_DETAILS_BYTES) throw new RangeError(`details of ${detailsBytes} bytes`);
    const words = HEADER_WORDS + Math.ceil(detailsBytes / WORD);
    const chunk = this.#roomFor(ttlMs, expiresAtMs, words);
    const at = chunk.usedWords;
    chunk.usedWords = at + words;
    chunk.held += 1;
    if (expiresAtMs > chunk.lastExpiryMs) chunk.lastExpiryMs = expiresAtMs;
    const { bytes, words: to } = memoryOf(chunk);
    const word = chunk.startWord + at;
    to[word] = timestampMs;
    to[word + 1] = confidence;
    details.copy(bytes, (word + HEADER_WORDS) * WORD, detailsStart, detailsEnd);
    return (chunk.number * CHUNK_WORDS + at) as EventRef;
  }

  /** False where the chunk has been given back: all its events have expired. */
  has(ref: EventRef): boolean {
    return this.#chunkOf(ref).memory !== undefined;
  }

  timestampMs(ref: EventRef): number {
    const chunk = this.#chunkOf(ref);
    return memoryOf(chunk).words[chunk.startWord + (ref % CHUNK_WORDS)] ?? 0;
  }

  confidence(ref: EventRef): number {
    const chunk = this.#chunkOf(ref);
    return memoryOf(chunk).words[chunk.startWord + (ref % CHUNK_WORDS) + 1] ?? 0;
  }

  /** The details, as bytes of the chunk: good until it is given back. */
  details(ref: EventRef, lengthBytes: number): Buffer {
    const chunk = this.#chunkOf(ref);
    const from = (chunk.startWord + (ref % CHUNK_WORDS) + HEADER_WORDS) * WORD;
    return memoryOf(chunk).bytes.subarray(from, from + lengthBytes);
  }

  /** Lets go of a reference; the last of a closed chunk frees it. */
  leave(ref: EventRef): void {
    const chunk = this.#chunkOf(ref);
    chunk.held -= 1;
    if (chunk.memory === undefined) this.stale -= 1;
    if (chunk.held > 0 || this.#open[chunk.ttlClass] === chunk) return;
    if (chunk.memory !== undefined) {
      this.#giveBack(chunk);
      this.#options.onFreed(chunk);
    }
    this.#forget(chunk);
  }

  /** Gives back the memory of a chunk whose events have all expired. */
  expire(chunk: Chunk): void {
    if (this.#open[chunk.ttlClass] === chunk) this.#open[chunk.ttlClass] = undefined;
    this.#giveBack(chunk);
    this.stale += chunk.held;
    if (chunk.held === 0) this.#forget(chunk);
  }

  #roomFor(ttlMs: number, expiresAtMs: number, words: number): Chunk {
    const ttlClass = classOf(ttlMs);
    const open = this.#open[ttlClass];
    if (open !== undefined) {
      const spreadMs = Math.max(LEAST_SPREAD_MS, ttlMs * SPREAD);
      if (open.usedWords + words <= CHUNK_WORDS && expiresAtMs <= open.firstExpiryMs + spreadMs) return open;
      this.#open[ttlClass] = undefined;
      if (open.held === 0) {
        this.#giveBack(open);
        this.#options.onFreed(open);
        this.#forget(open);
      }
    }
    const span = this.#slabs.take();
    const chunk: Chunk = {
      number: this.#freeNumbers.pop() ?? this.#chunks.length,
      ttlClass,
      firstExpiryMs: expiresAtMs,
      lastExpiryMs: expiresAtMs,
      usedWords: 0,
      held: 0,
      span,
      startWord: this.#slabs.startOf(span) / WORD,
      memory: this.#slabs.spanOf(span),
    };
    this.#chunks[chunk.number] = chunk;
    this.chunkCount += 1;
    this.#open[ttlClass] = chunk;
    this.#options.onOpened(chunk);
    return chunk;
  }

  #giveBack(chunk: Chunk): void {
    this.#slabs.give(chunk.span);
    chunk.memory = undefined;
    this.chunkCount -= 1;
  }

  #forget(chunk: Chunk): void {
    this.#chunks[chunk.number] = undefined;
    this.#freeNumbers.push(chunk.number);
  }

  #chunkOf(ref: EventRef): Chunk {
    const chunk = this.#chunks[Math.floor(ref / CHUNK_WORDS)];
    if (chunk === undefined) throw new Error('a reference that was let go of');
    return chunk;
  }
}

/** Below sixteen seconds one for each, then eight to a doubling (as the buckets of an HdrHistogram). */
function classOf(ttlMs: number): number {
  const seconds = (ttlMs / 1000) >>> 0;
  const shift = Math.max(0, 28 - Math.clz32(seconds));
  return 8 * shift + (seconds >>> shift);
}

function memoryOf({ memory }: Chunk): Span {
  if (memory === undefined) throw new Error('an event that is gone');
  return memory;
}
