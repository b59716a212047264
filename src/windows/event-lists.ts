/**
 * The lists of windows: for each event, in the order of receipt, its reference and what decides whether it is
 * looked at at all. So expiry and eviction never touch the events themselves, and a chunk of them can be given
 * back without a word to the windows: they find out when they next look.
 *
 * A list is a chain of blocks of 256 bytes, 15 entries each; a block knows the earliest expiry in it, so that
 * taking out what has expired skips the blocks that hold nothing of it. Neighbours that fit one block are put
 * together: a list of ten thousand events from which a few expire every millisecond stays short, and costs a few
 * microseconds then, where walking all of its events through the arena took milliseconds.
 *
 *   word  what
 *   0     u32 next block, 0 for none; u32 first entry · 256 + the one after the last
 *   1     f64 earliest expiry in the block; a lower bound
 *   2 …   the entries, of two words each:
 *           u32 chunk; u32 offset in the chunk in words (13 bits), length of the details (16), event type (3)
 *           f64 expiry, milliseconds
 */
import { CHUNK_WORDS, type EventRef } from './arena.ts';
import { Slabs } from './slabs.ts';

const BLOCK_BYTES = 256;
const HEADER_WORDS = 2;
const ENTRY_WORDS = 2;
const ENTRIES = (BLOCK_BYTES / 8 - HEADER_WORDS) / ENTRY_WORDS;
const LENGTH_SHIFT = 13;
const TYPE_SHIFT = 29;
const NO_BLOCK = 0;

/** One window's. */
export interface EventList {
  firstBlock: number;
  lastBlock: number;
  /** Entries, expired ones that were not taken out yet among them. */
  size: number;
  /** Of their details. */
  bytes: number;
  /** No event expires before this; a lower bound. */
  earliestExpiryMs: number;
}

export interface ListedEvent {
  readonly ref: EventRef;
  /** By its place among the event types. */
  readonly type: number;
  readonly detailsBytes: number;
  readonly expiresAtMs: number;
}

/** Told of each event that is taken out. */
export type OnOut = (ref: EventRef) => void;

export function emptyList(): EventList {
  return {
    firstBlock: NO_BLOCK,
    lastBlock: NO_BLOCK,
    size: 0,
    bytes: 0,
    earliestExpiryMs: Number.POSITIVE_INFINITY,
  };
}

export class EventLists {
  readonly #blocks = new Slabs(BLOCK_BYTES);

  append(list: EventList, { ref, type, detailsBytes, expiresAtMs }: ListedEvent): void {
    const block = this.#blockWithRoom(list);
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    const bounds = halves[2 * at + 1] ?? 0;
    const word = at + HEADER_WORDS + (bounds & 0xff) * ENTRY_WORDS;
    halves[2 * at + 1] = bounds + 1;
    halves[2 * word] = Math.floor(ref / CHUNK_WORDS);
    halves[2 * word + 1] = (ref % CHUNK_WORDS) | (detailsBytes << LENGTH_SHIFT) | (type << TYPE_SHIFT);
    words[word + 1] = expiresAtMs;
    if (expiresAtMs < (words[at + 1] ?? 0)) words[at + 1] = expiresAtMs;
    if (expiresAtMs < list.earliestExpiryMs) list.earliestExpiryMs = expiresAtMs;
    list.size += 1;
    list.bytes += detailsBytes;
  }

  /** What has not expired, in the order of receipt. */
  live(list: EventList, nowMs: number): ListedEvent[] {
    const events: ListedEvent[] = [];
    for (let block = list.firstBlock; block !== NO_BLOCK; ) {
      const { halves, words } = this.#blocks.spanOf(block);
      const at = this.#blocks.startOf(block) / 8;
      const bounds = halves[2 * at + 1] ?? 0;
      for (let entry = bounds >>> 8; entry < (bounds & 0xff); entry += 1) {
        const word = at + HEADER_WORDS + entry * ENTRY_WORDS;
        if ((words[word + 1] ?? 0) > nowMs) events.push(entryAt(halves, words, word));
      }
      block = halves[2 * at] ?? NO_BLOCK;
    }
    return events;
  }

  /** Takes the event received first out of a list that is not empty; answers when it expires. */
  takeOldest(list: EventList, onOut: OnOut): number {
    const block = list.firstBlock;
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    const bounds = halves[2 * at + 1] ?? 0;
    const first = bounds >>> 8;
    const { ref, detailsBytes, expiresAtMs } = entryAt(
      halves,
      words,
      at + HEADER_WORDS + first * ENTRY_WORDS,
    );
    this.#noteOut(list, detailsBytes);
    if (first + 1 < (bounds & 0xff)) halves[2 * at + 1] = bounds + 0x100;
    else this.#unlink(list, NO_BLOCK, block);
    onOut(ref);
    return expiresAtMs;
  }

  /** Takes out what has expired; answers how many blocks it looked at. */
  takeExpired(list: EventList, nowMs: number, onOut: OnOut): number {
    if (list.earliestExpiryMs > nowMs) return 0;
    let looked = 0;
    let earliestExpiryMs = Number.POSITIVE_INFINITY;
    let before = NO_BLOCK;
    let hasShrunk = false;
    for (let block = list.firstBlock; block !== NO_BLOCK; looked += 1) {
      const { halves, words } = this.#blocks.spanOf(block);
      const at = this.#blocks.startOf(block) / 8;
      const next = halves[2 * at] ?? NO_BLOCK;
      const hasExpired = (words[at + 1] ?? 0) <= nowMs;
      const left = hasExpired ? this.#compact(list, block, nowMs, onOut) : ENTRIES;
      const blockExpiryMs = words[at + 1] ?? 0;
      if (blockExpiryMs < earliestExpiryMs) earliestExpiryMs = blockExpiryMs;
      hasShrunk ||= hasExpired;
      if (left === 0 || (hasShrunk && before !== NO_BLOCK && this.#merge(before, block))) {
        this.#unlink(list, before, block);
      } else {
        before = block;
        hasShrunk = hasExpired;
      }
      block = next;
    }
    list.earliestExpiryMs = earliestExpiryMs;
    return looked;
  }

  /** Moves what has not expired to the front of the block; answers how many that are. */
  #compact(list: EventList, block: number, nowMs: number, onOut: OnOut): number {
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    const bounds = halves[2 * at + 1] ?? 0;
    let to = at + HEADER_WORDS;
    let earliestExpiryMs = Number.POSITIVE_INFINITY;
    for (let entry = bounds >>> 8; entry < (bounds & 0xff); entry += 1) {
      const from = at + HEADER_WORDS + entry * ENTRY_WORDS;
      const expiresAtMs = words[from + 1] ?? 0;
      if (expiresAtMs > nowMs) {
        // By halves: as a number, a reference whose bits spell NaN would not come out as it went in.
        halves[2 * to] = halves[2 * from] ?? 0;
        halves[2 * to + 1] = halves[2 * from + 1] ?? 0;
        words[to + 1] = expiresAtMs;
        to += ENTRY_WORDS;
        if (expiresAtMs < earliestExpiryMs) earliestExpiryMs = expiresAtMs;
      } else {
        const { ref, detailsBytes } = entryAt(halves, words, from);
        this.#noteOut(list, detailsBytes);
        onOut(ref);
      }
    }
    const left = (to - at - HEADER_WORDS) / ENTRY_WORDS;
    halves[2 * at + 1] = left;
    words[at + 1] = earliestExpiryMs;
    return left;
  }

  /** Copies a block's entries behind those of the block before it, where they fit. */
  #merge(before: number, block: number): boolean {
    const from = this.#blocks.spanOf(block);
    const to = this.#blocks.spanOf(before);
    const fromAt = this.#blocks.startOf(block) / 8;
    const toAt = this.#blocks.startOf(before) / 8;
    const fromBounds = from.halves[2 * fromAt + 1] ?? 0;
    const toBounds = to.halves[2 * toAt + 1] ?? 0;
    const count = (fromBounds & 0xff) - (fromBounds >>> 8);
    if ((toBounds & 0xff) + count > ENTRIES) return false;
    const start = fromAt + HEADER_WORDS + (fromBounds >>> 8) * ENTRY_WORDS;
    const end = toAt + HEADER_WORDS + (toBounds & 0xff) * ENTRY_WORDS;
    for (let word = 0; word < 2 * count * ENTRY_WORDS; word += 1) {
      to.halves[2 * end + word] = from.halves[2 * start + word] ?? 0;
    }
    to.halves[2 * toAt + 1] = toBounds + count;
    to.words[toAt + 1] = Math.min(to.words[toAt + 1] ?? 0, from.words[fromAt + 1] ?? 0);
    return true;
  }

  #blockWithRoom(list: EventList): number {
    const last = list.lastBlock;
    if (last !== NO_BLOCK) {
      const { halves } = this.#blocks.spanOf(last);
      if (((halves[this.#blocks.startOf(last) / 4 + 1] ?? 0) & 0xff) < ENTRIES) return last;
    }
    const block = this.#blocks.take();
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    halves[2 * at] = NO_BLOCK;
    halves[2 * at + 1] = 0;
    words[at + 1] = Number.POSITIVE_INFINITY;
    if (last === NO_BLOCK) list.firstBlock = block;
    else this.#setNext(last, block);
    list.lastBlock = block;
    return block;
  }

  #unlink(list: EventList, before: number, block: number): void {
    const { halves } = this.#blocks.spanOf(block);
    const next = halves[this.#blocks.startOf(block) / 4] ?? NO_BLOCK;
    if (before === NO_BLOCK) list.firstBlock = next;
    else this.#setNext(before, next);
    if (list.lastBlock === block) list.lastBlock = before;
    this.#blocks.give(block);
  }

  #setNext(block: number, next: number): void {
    this.#blocks.spanOf(block).halves[this.#blocks.startOf(block) / 4] = next;
  }

  #noteOut(list: EventList, detailsBytes: number): void {
    list.size -= 1;
    list.bytes -= detailsBytes;
  }
}

function entryAt(halves: Uint32Array, words: Float64Array, word: number): ListedEvent {
  const packed = halves[2 * word + 1] ?? 0;
  return {
    ref: ((halves[2 * word] ?? 0) * CHUNK_WORDS + (packed % CHUNK_WORDS)) as EventRef,
    type: packed >>> TYPE_SHIFT,
    detailsBytes: (packed >>> LENGTH_SHIFT) & 0xffff,
    expiresAtMs: words[word + 1] ?? 0,
  };
}
