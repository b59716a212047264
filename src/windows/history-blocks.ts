/**
 * Entries of histories, in blocks of 512 bytes that all histories share: a history of one event takes one block,
 * one of a million grows by a block at a time, with nothing ever copied, and gives each back when all in it is past
 * retention. 27 bytes an entry; columns that doubled took 33 to 66 and stalled while they were copied.
 *
 *   word  what
 *   0     f64 time of receipt of the first entry
 *   1     f64 its event number
 *   2     f64 its position in the log
 *   3     f64 its number among all entries of the history
 *   4     u32 entries; u32 free
 *   5 …   the entries, of six halves each: time, event number and position as distances from the first; service;
 *         vendor (28 bits), event type (4); index (16 bits), the rest of the position (16)
 *
 * The position of a record is 2^32 times the number of its segment, and its offset there: a block takes what its agent
 * sent in 65 536 segments. With distances of 32 bits it took what came in one, and was a quarter full where 50 000 sent.
 */
import { Slabs } from './slabs.ts';

export const BLOCK_BYTES = 512;
const HEADER_WORDS = 5;
const ENTRY_HALVES = 6;
const CAPACITY = Math.floor((BLOCK_BYTES / 4 - 2 * HEADER_WORDS) / ENTRY_HALVES);
const VENDOR_BITS = 28;
const MAX_VENDOR = 2 ** VENDOR_BITS - 1;
const INDEX_BITS = 16;
const MAX_INDEX = 2 ** INDEX_BITS - 1;
const HALF_SPAN = 2 ** 32;

/** An entry, its names as numbers. */
export interface BlockEntry {
  readonly receivedAtMs: number;
  readonly eventNumber: number;
  readonly position: number;
  readonly index: number;
  readonly service: number;
  readonly vendor: number;
  readonly type: number;
}

export class HistoryBlocks {
  readonly #slabs = new Slabs(BLOCK_BYTES);

  /** Blocks that hold entries. */
  get blockCount(): number {
    return this.#slabs.taken;
  }

  /**
   * A block for a history whose entry of this number is the next.
   *
   * @throws RangeError where no block can take the entry
   */
  open(first: BlockEntry, ordinal: number): number {
    check(first);
    const block = this.#slabs.take();
    const { words, halves } = this.#slabs.spanOf(block);
    const at = this.#slabs.startOf(block) / 8;
    words[at] = first.receivedAtMs;
    words[at + 1] = first.eventNumber;
    words[at + 2] = first.position;
    words[at + 3] = ordinal;
    halves[2 * at + 8] = 0;
    return block;
  }

  free(block: number): void {
    this.#slabs.give(block);
  }

  /** False where it has no room, or the entry is too far from its first one. */
  append(block: number, entry: BlockEntry): boolean {
    const { words, halves } = this.#slabs.spanOf(block);
    const at = this.#slabs.startOf(block) / 8;
    const count = halves[2 * at + 8] ?? 0;
    if (count === CAPACITY) return false;
    const time = entry.receivedAtMs - (words[at] ?? 0);
    const eventNumber = entry.eventNumber - (words[at + 1] ?? 0);
    const position = entry.position - (words[at + 2] ?? 0);
    const positionRest = Math.floor(position / HALF_SPAN);
    if (time !== time >>> 0 || eventNumber !== eventNumber >>> 0) return false;
    if (positionRest !== (positionRest & MAX_INDEX)) return false;
    check(entry);
    const half = 2 * (at + HEADER_WORDS) + count * ENTRY_HALVES;
    halves[half] = time;
    halves[half + 1] = eventNumber;
    halves[half + 2] = position;
    halves[half + 3] = entry.service;
    halves[half + 4] = entry.vendor | (entry.type << VENDOR_BITS);
    halves[half + 5] = entry.index | (positionRest << INDEX_BITS);
    halves[2 * at + 8] = count + 1;
    return true;
  }

  count(block: number): number {
    return this.#slabs.spanOf(block).halves[this.#slabs.startOf(block) / 4 + 8] ?? 0;
  }

  /** The number of its first entry among all of the history. */
  ordinal(block: number): number {
    return this.#slabs.spanOf(block).words[this.#slabs.startOf(block) / 8 + 3] ?? 0;
  }

  receivedAtMs(block: number, entry: number): number {
    const { words, halves } = this.#slabs.spanOf(block);
    const at = this.#slabs.startOf(block) / 8;
    return (words[at] ?? 0) + (halves[2 * (at + HEADER_WORDS) + entry * ENTRY_HALVES] ?? 0);
  }

  eventNumber(block: number, entry: number): number {
    const { words } = this.#slabs.spanOf(block);
    return (words[this.#slabs.startOf(block) / 8 + 1] ?? 0) + this.#half(block, entry, 1);
  }

  service(block: number, entry: number): number {
    return this.#half(block, entry, 3);
  }

  vendor(block: number, entry: number): number {
    return this.#half(block, entry, 4) & MAX_VENDOR;
  }

  type(block: number, entry: number): number {
    return this.#half(block, entry, 4) >>> VENDOR_BITS;
  }

  entry(block: number, entry: number): BlockEntry {
    const indexed = this.#half(block, entry, 5);
    const { words } = this.#slabs.spanOf(block);
    const at = this.#slabs.startOf(block) / 8;
    return {
      receivedAtMs: this.receivedAtMs(block, entry),
      eventNumber: this.eventNumber(block, entry),
      position: (words[at + 2] ?? 0) + this.#half(block, entry, 2) + (indexed >>> INDEX_BITS) * HALF_SPAN,
      index: indexed & MAX_INDEX,
      service: this.service(block, entry),
      vendor: this.vendor(block, entry),
      type: this.type(block, entry),
    };
  }

  #half(block: number, entry: number, half: number): number {
    const start = this.#slabs.startOf(block) / 4 + 2 * HEADER_WORDS;
    return this.#slabs.spanOf(block).halves[start + entry * ENTRY_HALVES + half] ?? 0;
  }
}

function check({ vendor, index }: BlockEntry): void {
  if (vendor > MAX_VENDOR) throw new RangeError('more names than a tenant can have');
  if (index > MAX_INDEX) throw new RangeError('more events than a record can have');
}
