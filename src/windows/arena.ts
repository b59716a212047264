/**
 * The arena: byte chunks that live events are kept in, off the JavaScript heap, where a million of them cost
 * neither garbage collection nor objects. After Segcache (Yang, Yue, Rashmi, NSDI '21): events that expire at
 * about the same time share a chunk, so that a chunk comes free as a whole.
 *
 * Chunks are grouped by time to live, in classes an eighth of a doubling apart: within a class expiry follows
 * receipt, so the events of a chunk expire one soon after the other. A chunk is closed when it is full, or when
 * its events would come to expire too far apart; it is reclaimed when the last of them has expired.
 *
 * A record is found by its reference: chunk number and offset in words of eight bytes, together 32 bits.
 * No record has reference 0.
 *
 *   word  what
 *   0     u32 reference of the event before it in its window, u32 of the one after it; 0 where there is none
 *   1     u32 number of its window, u8 event type, u8 one if it has left its window, u16 length of the details
 *   2     f64 expiry, milliseconds
 *   3     f64 timestamp, milliseconds
 *   4     f64 confidence
 *   5 …   the details
 *
 * 40 bytes and the details, rounded up to a word: about 180 bytes an event, where objects took 900.
 */

const CHUNK_BYTES = 64 * 1024;
const WORD = 8;
const HEADER_WORDS = 5;
const OFFSET_BITS = 13;
const OFFSET_MASK = (1 << OFFSET_BITS) - 1;
/** Chunks kept for reuse when they come free; more are given back. */
const SPARE_CHUNKS = 64;
/** Events of a chunk expire within this part of their time to live, at the least within a second. */
const SPREAD = 1 / 8;
const LEAST_SPREAD_MS = 1000;

/** The longest details that fit a chunk. */
export const MAX_DETAILS_BYTES = CHUNK_BYTES - (HEADER_WORDS + 1) * WORD;

declare const brand: unique symbol;
export type EventRef = number & { readonly [brand]: 'EventRef' };
export const NO_EVENT = 0 as EventRef;

interface Memory {
  readonly bytes: Buffer;
  readonly words: Float64Array;
  readonly halves: Uint32Array;
}

export interface Chunk extends Memory {
  readonly number: number;
  readonly ttlClass: number;
  readonly firstExpiryMs: number;
  lastExpiryMs: number;
  usedWords: number;
  /** Records that have not left their windows. */
  held: number;
}

export interface NewRecord {
  readonly window: number;
  readonly eventType: number;
  readonly ttlMs: number;
  readonly expiresAtMs: number;
  readonly timestampMs: number;
  readonly confidence: number;
  readonly details: Buffer;
  readonly detailsStart: number;
  readonly detailsEnd: number;
}

export interface ArenaOptions {
  /** A chunk was opened: whoever keeps time is to look at it when its events have expired. */
  readonly onOpened: (chunk: Chunk) => void;
  /** A chunk is free again: nobody needs to look at it. */
  readonly onFreed: (chunk: Chunk) => void;
}

export class Arena {
  readonly #options: ArenaOptions;
  readonly #chunks: (Chunk | undefined)[] = [undefined];
  readonly #freeNumbers: number[] = [];
  readonly #open = new Map<number, Chunk>();
  readonly #spare: Memory[] = [];
  chunkCount = 0;

  constructor(options: ArenaOptions) {
    this.#options = options;
  }

  add(record: NewRecord): EventRef {
    const { details, detailsStart, detailsEnd } = record;
    const detailsBytes = detailsEnd - detailsStart;
    if (detailsBytes > MAX_DETAILS_BYTES) throw new RangeError(`details of ${detailsBytes} bytes`);
    const words = HEADER_WORDS + Math.ceil(detailsBytes / WORD);
    const chunk = this.#roomFor(record, words);
    const at = chunk.usedWords;
    chunk.usedWords += words;
    chunk.held += 1;
    chunk.lastExpiryMs = Math.max(chunk.lastExpiryMs, record.expiresAtMs);
    const { halves } = chunk;
    halves[2 * at] = 0;
    halves[2 * at + 1] = 0;
    halves[2 * at + 2] = record.window;
    halves[2 * at + 3] = record.eventType | (detailsBytes << 16);
    chunk.words[at + 2] = record.expiresAtMs;
    chunk.words[at + 3] = record.timestampMs;
    chunk.words[at + 4] = record.confidence;
    details.copy(chunk.bytes, (at + HEADER_WORDS) * WORD, detailsStart, detailsEnd);
    return refOf(chunk, at);
  }

  /** The event before it in its window. */
  before(ref: EventRef): EventRef {
    return (this.#chunkOf(ref).halves[2 * (ref & OFFSET_MASK)] ?? 0) as EventRef;
  }

  after(ref: EventRef): EventRef {
    return (this.#chunkOf(ref).halves[2 * (ref & OFFSET_MASK) + 1] ?? 0) as EventRef;
  }

  setBefore(ref: EventRef, before: EventRef): void {
    this.#chunkOf(ref).halves[2 * (ref & OFFSET_MASK)] = before;
  }

  setAfter(ref: EventRef, after: EventRef): void {
    this.#chunkOf(ref).halves[2 * (ref & OFFSET_MASK) + 1] = after;
  }

  windowOf(ref: EventRef): number {
    return this.#chunkOf(ref).halves[2 * (ref & OFFSET_MASK) + 2] ?? 0;
  }

  eventType(ref: EventRef): number {
    return this.#chunkOf(ref).bytes[(ref & OFFSET_MASK) * WORD + 12] ?? 0;
  }

  expiresAtMs(ref: EventRef): number {
    return this.#chunkOf(ref).words[(ref & OFFSET_MASK) + 2] ?? 0;
  }

  timestampMs(ref: EventRef): number {
    return this.#chunkOf(ref).words[(ref & OFFSET_MASK) + 3] ?? 0;
  }

  confidence(ref: EventRef): number {
    return this.#chunkOf(ref).words[(ref & OFFSET_MASK) + 4] ?? 0;
  }

  /** The details, as bytes of the chunk: good until the event leaves. */
  details(ref: EventRef): Buffer {
    const { bytes } = this.#chunkOf(ref);
    const at = (ref & OFFSET_MASK) * WORD;
    const start = at + HEADER_WORDS * WORD;
    return bytes.subarray(start, start + bytes.readUInt16LE(at + 14));
  }

  /** Notes that an event has left its window; frees its chunk with the last of them. */
  leave(ref: EventRef): void {
    const chunk = this.#chunkOf(ref);
    chunk.bytes[(ref & OFFSET_MASK) * WORD + 13] = 1;
    chunk.held -= 1;
    if (chunk.held === 0 && this.#open.get(chunk.ttlClass) !== chunk) this.#free(chunk);
  }

  /** Closes a chunk whose events have all expired; answers those that have not left their windows. */
  close(chunk: Chunk): EventRef[] {
    if (this.#open.get(chunk.ttlClass) === chunk) this.#open.delete(chunk.ttlClass);
    if (chunk.held === 0) {
      this.#free(chunk);
      return [];
    }
    const refs: EventRef[] = [];
    let at = 1;
    while (at < chunk.usedWords) {
      if (chunk.bytes[at * WORD + 13] === 0) refs.push(refOf(chunk, at));
      at += HEADER_WORDS + Math.ceil(chunk.bytes.readUInt16LE(at * WORD + 14) / WORD);
    }
    return refs;
  }

  #roomFor({ ttlMs, expiresAtMs }: NewRecord, words: number): Chunk {
    const ttlClass = Math.floor(8 * Math.log2(ttlMs));
    const open = this.#open.get(ttlClass);
    if (open !== undefined) {
      const spreadMs = Math.max(LEAST_SPREAD_MS, ttlMs * SPREAD);
      const fits = (open.usedWords + words) * WORD <= CHUNK_BYTES;
      if (fits && expiresAtMs <= open.firstExpiryMs + spreadMs) return open;
      this.#open.delete(ttlClass);
      if (open.held === 0) this.#free(open);
    }
    const chunk = this.#newChunk(ttlClass, expiresAtMs);
    this.#open.set(ttlClass, chunk);
    this.#options.onOpened(chunk);
    return chunk;
  }

  #newChunk(ttlClass: number, expiresAtMs: number): Chunk {
    const number = this.#freeNumbers.pop() ?? this.#chunks.length;
    const memory = this.#spare.pop() ?? newMemory();
    const chunk: Chunk = {
      ...memory,
      number,
      ttlClass,
      firstExpiryMs: expiresAtMs,
      lastExpiryMs: expiresAtMs,
      // Word 0 is left out, so that no reference is 0.
      usedWords: 1,
      held: 0,
    };
    this.#chunks[number] = chunk;
    this.chunkCount += 1;
    return chunk;
  }

  #free(chunk: Chunk): void {
    this.#chunks[chunk.number] = undefined;
    this.#freeNumbers.push(chunk.number);
    this.chunkCount -= 1;
    const { bytes, words, halves } = chunk;
    if (this.#spare.length < SPARE_CHUNKS) this.#spare.push({ bytes, words, halves });
    this.#options.onFreed(chunk);
  }

  #chunkOf(ref: EventRef): Chunk {
    const chunk = this.#chunks[ref >>> OFFSET_BITS];
    if (chunk === undefined) throw new Error('a reference to an event that is gone');
    return chunk;
  }
}

function refOf(chunk: Chunk, word: number): EventRef {
  return (((chunk.number << OFFSET_BITS) | word) >>> 0) as EventRef;
}

function newMemory(): Memory {
  const buffer = new ArrayBuffer(CHUNK_BYTES);
  return { bytes: Buffer.from(buffer), words: new Float64Array(buffer), halves: new Uint32Array(buffer) };
}
