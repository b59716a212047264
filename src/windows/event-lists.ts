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
 *
 * What is known of a list as a whole is its row (`list-rows.ts`).
 */
import { CHUNK_WORDS, type EventRef } from './arena.ts';
import {
  APPENDED,
  BYTES,
  EARLIEST_EXPIRY,
  type EventList,
  FIRST,
  LAST,
  ListRows,
  SIZE,
  TRUNCATED_UNTIL,
} from './list-rows.ts';
import { Slabs, type Span } from './slabs.ts';

const BLOCK_BYTES = 256;
const HEADER_WORDS = 2;
const ENTRY_WORDS = 2;
const ENTRIES = (BLOCK_BYTES / 8 - HEADER_WORDS) / ENTRY_WORDS;
const LENGTH_SHIFT = 13;
const TYPE_SHIFT = 29;
const NO_BLOCK = 0;

export interface ListedEvent {
  readonly ref: EventRef;
  /** By its place among the event types. */
  readonly type: number;
  readonly detailsBytes: number;
  readonly expiresAtMs: number;
}

/** Told of each event that is taken out. */
export type OnOut = (ref: EventRef) => void;

export class EventLists {
  readonly rows = new ListRows();
  readonly #blocks = new Slabs(BLOCK_BYTES);

  /** Blocks that hold entries, of all lists. */
  get blockCount(): number {
    return this.#blocks.taken;
  }

  append(list: EventList, { ref, type, detailsBytes, expiresAtMs }: ListedEvent): void {
    const rows = this.rows.spanOf(list);
    const row = this.rows.wordOf(list);
    const block = this.#blockWithRoom(rows, row);
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    const bounds = halves[2 * at + 1] ?? 0;
    const word = at + HEADER_WORDS + (bounds & 0xff) * ENTRY_WORDS;
    halves[2 * at + 1] = bounds + 1;
    halves[2 * word] = Math.floor(ref / CHUNK_WORDS);
    halves[2 * word + 1] = (ref % CHUNK_WORDS) | (detailsBytes << LENGTH_SHIFT) | (type << TYPE_SHIFT);
    words[word + 1] = expiresAtMs;
    if (expiresAtMs < (words[at + 1] ?? 0)) words[at + 1] = expiresAtMs;
    if (expiresAtMs < (rows.words[row + EARLIEST_EXPIRY] ?? 0))
      rows.words[row + EARLIEST_EXPIRY] = expiresAtMs;
    rows.words[row + SIZE] = (rows.words[row + SIZE] ?? 0) + 1;
    rows.words[row + BYTES] = (rows.words[row + BYTES] ?? 0) + detailsBytes;
    rows.words[row + APPENDED] = (rows.words[row + APPENDED] ?? 0) + 1;
  }

  /** What has not expired, in the order of receipt. */
  live(list: EventList, nowMs: number): ListedEvent[] {
    const events: ListedEvent[] = [];
    const first = this.rows.spanOf(list).halves[2 * this.rows.wordOf(list) + FIRST] ?? NO_BLOCK;
    for (let block = first; block !== NO_BLOCK; ) {
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

  /** Takes the event received first out of a list that is not empty, whether it has expired or not. */
  takeOldest(list: EventList, onOut: OnOut): void {
    const rows = this.rows.spanOf(list);
    const row = this.rows.wordOf(list);
    const block = rows.halves[2 * row + FIRST] ?? NO_BLOCK;
    const { halves, words } = this.#blocks.spanOf(block);
    const at = this.#blocks.startOf(block) / 8;
    const bounds = halves[2 * at + 1] ?? 0;
    const first = bounds >>> 8;
    const { ref, detailsBytes, expiresAtMs } = entryAt(
      halves,
      words,
      at + HEADER_WORDS + first * ENTRY_WORDS,
    );
    noteOut(rows, row, detailsBytes);
    if (expiresAtMs > (rows.words[row + TRUNCATED_UNTIL] ?? 0))
      rows.words[row + TRUNCATED_UNTIL] = expiresAtMs;
    if (first + 1 < (bounds & 0xff)) halves[2 * at + 1] = bounds + 0x100;
    else this.#unlink(rows, row, NO_BLOCK, block);
    onOut(ref);
  }

  /** Takes out what has expired; answers how many blocks it looked at. */
  takeExpired(list: EventList, nowMs: number, onOut: OnOut): number {
    const rows = this.rows.spanOf(list);
    const row = this.rows.wordOf(list);
    if ((rows.words[row + EARLIEST_EXPIRY] ?? 0) > nowMs) return 0;
    let looked = 0;
    let earliestExpiryMs = Number.POSITIVE_INFINITY;
    let before = NO_BLOCK;
    let hasShrunk = false;
    for (let block = rows.halves[2 * row + FIRST] ?? NO_BLOCK; block !== NO_BLOCK; looked += 1) {
      const { halves, words } = this.#blocks.spanOf(block);
      const at = this.#blocks.startOf(block) / 8;
      const next = halves[2 * at] ?? NO_BLOCK;
      const hasExpired = (words[at + 1] ?? 0) <= nowMs;
      const left = hasExpired ? this.#compact(rows, row, block, nowMs, onOut) : ENTRIES;
      const blockExpiryMs = words[at + 1] ?? 0;
      if (blockExpiryMs < earliestExpiryMs) earliestExpiryMs = blockExpiryMs;
      hasShrunk ||= hasExpired;
      if (left === 0 || (hasShrunk && before !== NO_BLOCK && this.#merge(before, block))) {
        this.#unlink(rows, row, before, block);
      } else {
        before = block;
        hasShrunk = hasExpired;
      }
      block = next;
    }
    rows.words[row + EARLIEST_EXPIRY] = earliestExpiryMs;
    return looked;
  }

  /** Moves what has not expired to the front of the block; answers how many that are. */
  #compact(rows: Span, row: number, block: number, nowMs: number, onOut: OnOut): number {
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
        noteOut(rows, row, detailsBytes);
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

  #blockWithRoom(rows: Span, row: number): number {
    const last = rows.halves[2 * row + LAST] ?? NO_BLOCK;
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
    if (last === NO_BLOCK) rows.halves[2 * row + FIRST] = block;
    else this.#setNext(last, block);
    rows.halves[2 * row + LAST] = block;
    return block;
  }

  #unlink(rows: Span, row: number, before: number, block: number): void {
    const { halves } = this.#blocks.spanOf(block);
    const next = halves[this.#blocks.startOf(block) / 4] ?? NO_BLOCK;
    if (before === NO_BLOCK) rows.halves[2 * row + FIRST] = next;
    else this.#setNext(before, next);
    if (rows.halves[2 * row + LAST] === block) rows.halves[2 * row + LAST] = before;
    this.#blocks.give(block);
  }

  #setNext(block: number, next: number): void {
    this.#blocks.spanOf(block).halves[this.#blocks.startOf(block) / 4] = next;
  }
}

function noteOut(rows: Span, row: number, detailsBytes: number): void {
  rows.words[row + SIZE] = (rows.words[row + SIZE] ?? 0) - 1;
  rows.words[row + BYTES] = (rows.words[row + BYTES] ?? 0) - detailsBytes;
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
