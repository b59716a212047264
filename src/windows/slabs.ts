/**
 * Memory in spans of one size, cut from slabs that are so large that the allocator maps each by itself: only then
 * does freeing one give its pages back to the system. (glibc keeps what is smaller than 32 MiB on its heap, where
 * one block in use above it pins it: of two million events that had expired, every byte stayed resident. And not
 * larger than that: to give back 33 MiB takes 2.5 ms, in which nothing else is done.) A page of a slab is no
 * memory before it is written to, so a slab hardly used costs hardly anything. The first ones are smaller all the
 * same, for where it is no shared memory (`lib/returnable-memory.ts`) the garbage collector counts what is mapped: with
 * three large ones for a few events it took 40 % of the time of a simulation.
 *
 * A span comes from the first slab that has room, so that the later ones run empty. One that does gives its memory back
 * there and then. One of which little was ever used keeps it, so that a server with little to do does not give back and
 * take again for every event.
 */
import { type ReturnableMemory, returnableMemory } from '../lib/returnable-memory.ts';

const SLAB_BYTES = 33 * 2 ** 20;
const FIRST_SLABS_BYTES = [2 ** 18, 2 ** 21, 2 ** 23];
const LEAST_SPANS = 4;
/** What an empty slab may keep resident. */
const KEPT_BYTES = 2 ** 20;

/**
 * Memory that the allocator maps by itself begins at byte 16 of a page, and spans at the next multiple of two cache
 * lines: one of 64 bytes would lie in two of them, and one of 128 in three.
 */
const ALIGNMENT_BYTES = 128;
const FIRST_BYTE = ALIGNMENT_BYTES - 16;

interface Slab {
  readonly memory: ReturnableMemory;
  readonly bytes: Buffer;
  readonly words: Float64Array;
  readonly halves: Uint32Array;
  readonly spanCount: number;
  /** Spans that were given back. */
  readonly free: number[];
  /** The first span that was never taken. */
  untouched: number;
  taken: number;
}

/** Where a span is: good until it is given back. */
export interface Span {
  readonly bytes: Buffer;
  readonly words: Float64Array;
  readonly halves: Uint32Array;
}

export class Slabs {
  readonly #spanBytes: number;
  readonly #allocate: (bytes: number) => ReturnableMemory;
  /** A span's number: its slab's above this many bits, and below them its place there. */
  readonly #indexBits: number;
  readonly #indexMask: number;
  readonly #slabs: (Slab | undefined)[] = [];
  /** Memory that was given back, for the next slab of the number. */
  readonly #returned: ReturnableMemory[] = [];
  /** No slab before it has room. */
  #firstWithRoom = 0;

  /** @param spanBytes a power of two, from 8 to 2^20 */
  constructor(spanBytes: number, allocate: (bytes: number) => ReturnableMemory = returnableMemory) {
    this.#spanBytes = spanBytes;
    this.#allocate = allocate;
    // More than any slab has, so numbers leave gaps: dividing by 33 took 6 % of replaying an event.
    this.#indexBits = Math.ceil(Math.log2(SLAB_BYTES / spanBytes));
    this.#indexMask = 2 ** this.#indexBits - 1;
  }

  /** Slabs that have memory. */
  get slabCount(): number {
    return this.#slabs.filter((slab) => slab !== undefined).length;
  }

  /** Spans that are taken. */
  get taken(): number {
    return this.#slabs.reduce((sum, slab) => sum + (slab?.taken ?? 0), 0);
  }

  /** A span's number, never 0. What is in it is what the last holder left there. */
  take(): number {
    for (let number = this.#firstWithRoom; ; number += 1) {
      const slab = this.#slabs[number] ?? this.#newSlab(number);
      const index = slab.free.pop() ?? slab.untouched;
      if (index === slab.spanCount) continue;
      if (index === slab.untouched) slab.untouched += 1;
      slab.taken += 1;
      this.#firstWithRoom = number;
      return number * (this.#indexMask + 1) + index;
    }
  }

  give(span: number): void {
    const number = span >>> this.#indexBits;
    const slab = this.#slabOf(span);
    slab.free.push(span & this.#indexMask);
    slab.taken -= 1;
    if (number < this.#firstWithRoom) this.#firstWithRoom = number;
    if (slab.taken > 0 || slab.untouched * this.#spanBytes <= KEPT_BYTES) return;
    this.#slabs[number] = undefined;
    if (slab.memory.giveBack()) this.#returned[number] = slab.memory;
  }

  /** The memory that a span lies in … */
  spanOf(span: number): Span {
    return this.#slabOf(span);
  }

  /** … from this byte on. */
  startOf(span: number): number {
    return (span & this.#indexMask) * this.#spanBytes;
  }

  #slabOf(span: number): Slab {
    const slab = this.#slabs[span >>> this.#indexBits];
    if (slab === undefined) throw new Error('a span that was given back');
    return slab;
  }

  #newSlab(number: number): Slab {
    const bytes = FIRST_SLABS_BYTES[number] ?? SLAB_BYTES;
    const spanCount = Math.max(LEAST_SPANS, bytes / this.#spanBytes);
    const memory = this.#returned[number] ?? this.#allocate(FIRST_BYTE + spanCount * this.#spanBytes);
    const { buffer } = memory;
    const slab: Slab = {
      memory,
      bytes: Buffer.from(buffer, FIRST_BYTE),
      words: new Float64Array(buffer, FIRST_BYTE),
      halves: new Uint32Array(buffer, FIRST_BYTE),
      spanCount,
      free: [],
      // Of the first slab this leaves number 0 out, which then can stand for none.
      untouched: 1,
      taken: 0,
    };
    this.#slabs[number] = slab;
    return slab;
  }
}
