/**
 * The history index of one agent: for every event within retention where its record is and what it can be
 * filtered by, off the heap (27 bytes an event). Payloads stay in the log; paging and filtering never touch them.
 *
 * Events leave by receipt time: one is in the history until, exclusively, receipt plus retention. Receipt
 * times never run back, so the entries are sorted and the oldest are always at the front.
 */
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { BlockEntry, HistoryBlocks } from './history-blocks.ts';
import type { Names } from './names.ts';
import { NumberCounts } from './number-counts.ts';

export interface HistoryFilter {
  readonly service: string | null;
  readonly vendor: string | null;
  readonly eventType: EventType | null;
}

/** Where to find an event. */
export interface HistoryEntry {
  readonly eventNumber: number;
  readonly receivedAtMs: number;
  /** Of its record in the log. */
  readonly position: number;
  /** Its place among the events of that record. */
  readonly index: number;
}

export interface NewestRequest {
  readonly service: string;
  readonly untilMs: number;
  /** Only events of lower numbers. */
  readonly beforeNumber?: number;
  readonly wanted: (type: EventType) => boolean;
  readonly limit: number;
}

export interface HistoryPage {
  /** All that match, on this page or not. */
  readonly total: number;
  /** Newest received first. */
  readonly entries: readonly HistoryEntry[];
}

/** Service and vendor as numbers of the `Names` that the history was made with. Its service holds the first for good. */
export interface NewHistoryEntry extends HistoryEntry {
  readonly service: number;
  readonly vendor: number;
  /** Its place among the event types. */
  readonly type: number;
}

export interface NamedHistoryEntry extends HistoryEntry {
  readonly service: string;
  readonly vendor: string;
  readonly type: number;
}

/** Entries that a new block has let go of, at most: more than it takes, so that a history at rest comes down. */
const TRIM_PER_BLOCK = 64;
/** Blocks that were let go of before the list of blocks is cut. */
const MAX_GONE = 1024;

export class AgentHistory {
  // First what every entry needs: of 50 000 histories it is one cache line less.
  readonly #memory: HistoryBlocks;
  readonly #names: Names;
  /** The block that grows; undefined where there is none. */
  #lastBlock: number | undefined;
  /** Entries ever appended, and how many of them were let go of. */
  #appended = 0;
  #trimmed = 0;
  /**
   * How many entries have a name, those of the last block left out: twice the number of a service, and one more than
   * that of a vendor. Counted where a block is full and not with each entry, for of 50 000 agents the counts are in no
   * cache: 0.4 µs of an ingest.
   */
  readonly #uses = new NumberCounts();
  /** The oldest first; those before #firstBlock are gone. */
  #blocks: number[] = [];
  #firstBlock = 0;
  readonly #retentionMs: number;

  constructor(retentionMs: number, memory: HistoryBlocks, names: Names) {
    this.#retentionMs = retentionMs;
    this.#memory = memory;
    this.#names = names;
  }

  append(entry: NewHistoryEntry): void {
    this.#names.hold(entry.vendor);
    if (this.#lastBlock === undefined || !this.#memory.append(this.#lastBlock, entry)) {
      this.#close();
      this.trim(entry.receivedAtMs, TRIM_PER_BLOCK);
      const block = this.#memory.open(entry, this.#appended);
      this.#memory.append(block, entry);
      this.#blocks.push(block);
      this.#lastBlock = block;
    }
    this.#appended += 1;
  }

  /** Lets go of at most `limit` entries that are past retention; true where none is left. */
  trim(nowMs: number, limit: number): boolean {
    const before = nowMs - this.#retentionMs;
    for (let left = limit; this.#trimmed < this.#appended; left -= 1) {
      const block = this.#blocks[this.#firstBlock] ?? 0;
      const at = this.#trimmed - this.#memory.ordinal(block);
      if (this.#memory.receivedAtMs(block, at) > before) return true;
      if (left <= 0) return false;
      const service = this.#memory.service(block, at);
      const vendor = this.#memory.vendor(block, at);
      if (block !== this.#lastBlock) {
        this.#uses.remove(2 * service);
        this.#uses.remove(2 * vendor + 1);
      }
      this.#names.letGo(vendor);
      this.#trimmed += 1;
      if (at + 1 === this.#memory.count(block)) this.#dropFirstBlock(block);
    }
    return true;
  }

  /** Entries within retention, oldest first. */
  *entries(nowMs: number): Iterable<NamedHistoryEntry> {
    this.trim(nowMs, Number.POSITIVE_INFINITY);
    for (const block of this.#blocks.slice(this.#firstBlock)) {
      const count = this.#memory.count(block);
      for (let at = this.#firstIn(block); at < count; at += 1) {
        const entry = this.#memory.entry(block, at);
        yield {
          ...entryOf(entry),
          service: this.#names.textOf(entry.service),
          vendor: this.#names.textOf(entry.vendor),
          type: entry.type,
        };
      }
    }
  }

  /** How many events were received in the `spanMs` before `nowMs`; at most retention back. O(log n). */
  countWithin(spanMs: number, nowMs: number): number {
    const after = nowMs - Math.min(spanMs, this.#retentionMs);
    // In the block before the first that begins after that time, or where that begins, lies the first entry that counts.
    const next = this.#firstWhere((block) => this.#memory.receivedAtMs(block, 0) > after);
    if (next === this.#firstBlock) return this.#appended - this.#trimmed;
    const block = this.#blocks[next - 1] ?? 0;
    let at = this.#memory.count(block);
    while (at > 0 && this.#memory.receivedAtMs(block, at - 1) > after) at -= 1;
    return this.#appended - Math.max(this.#trimmed, this.#memory.ordinal(block) + at);
  }

  /** The number of the first event of a record, by the record's position; undefined past retention. O(log n). */
  firstNumberAt(position: number, nowMs: number): number | undefined {
    const next = this.#firstWhere((block) => this.#memory.entry(block, 0).position > position);
    // A batch may go on over several blocks: its first event is in the earliest of them.
    for (let n = next - 1; n >= this.#firstBlock; n -= 1) {
      const block = this.#blocks[n] ?? 0;
      for (let at = this.#memory.count(block) - 1; at >= this.#firstIn(block); at -= 1) {
        const entry = this.#memory.entry(block, at);
        if (entry.position < position) return undefined;
        // What is past retention may still be here, and is not told any more.
        if (entry.receivedAtMs <= nowMs - this.#retentionMs) return undefined;
        if (entry.position === position) return entry.eventNumber - entry.index;
      }
    }
    return undefined;
  }

  /** The matching events from `offset` on, newest first, `limit` of them at most. */
  page(filter: HistoryFilter, offset: number, limit: number, nowMs: number): HistoryPage {
    this.trim(nowMs, Number.POSITIVE_INFINITY);
    const service = filter.service === null ? undefined : (this.#names.find(filter.service) ?? -1);
    const vendor = filter.vendor === null ? undefined : (this.#names.find(filter.vendor) ?? -1);
    const type = filter.eventType === null ? undefined : EVENT_TYPES.indexOf(filter.eventType);
    if (service === undefined && vendor === undefined && type === undefined) return this.#all(offset, limit);

    const memory = this.#memory;
    const entries: HistoryEntry[] = [];
    let total = 0;
    for (let n = this.#blocks.length - 1; n >= this.#firstBlock; n -= 1) {
      const block = this.#blocks[n] ?? 0;
      const first = this.#firstIn(block);
      for (let at = memory.count(block) - 1; at >= first; at -= 1) {
        if (service !== undefined && memory.service(block, at) !== service) continue;
        if (vendor !== undefined && memory.vendor(block, at) !== vendor) continue;
        if (type !== undefined && memory.type(block, at) !== type) continue;
        if (total >= offset && entries.length < limit) entries.push(entryOf(memory.entry(block, at)));
        total += 1;
      }
    }
    return { total, entries };
  }

  /** The newest events of a service that had been received by `untilMs` and are of a type that is `wanted`. */
  newestUntil(request: NewestRequest): HistoryEntry[] {
    const { service, untilMs, beforeNumber = Number.POSITIVE_INFINITY, wanted, limit } = request;
    const memory = this.#memory;
    const number = this.#names.find(service);
    const entries: HistoryEntry[] = [];
    if (number === undefined) return entries;
    // Of services that it has nothing of, which is most, a look at the last block tells.
    const newest = this.#blocks.length - 1;
    const oldest = this.#uses.has(2 * number) ? this.#firstBlock : Math.max(this.#firstBlock, newest);
    for (let n = newest; n >= oldest && entries.length < limit; n -= 1) {
      const block = this.#blocks[n] ?? 0;
      // All of it came later.
      if (memory.receivedAtMs(block, 0) > untilMs || memory.eventNumber(block, 0) >= beforeNumber) continue;
      const first = this.#firstIn(block);
      for (let at = memory.count(block) - 1; at >= first && entries.length < limit; at -= 1) {
        if (memory.service(block, at) !== number || memory.receivedAtMs(block, at) > untilMs) continue;
        if (!wanted(EVENT_TYPES[memory.type(block, at)] ?? EVENT_TYPES[0])) continue;
        if (memory.eventNumber(block, at) < beforeNumber) entries.push(entryOf(memory.entry(block, at)));
      }
    }
    return entries;
  }

  /** The names of services in the history, sorted by code unit. */
  services(nowMs: number): string[] {
    this.trim(nowMs, Number.POSITIVE_INFINITY);
    return this.#namesUsed(0);
  }

  /** The names of vendors in the history, sorted by code unit. */
  vendors(nowMs: number): string[] {
    this.trim(nowMs, Number.POSITIVE_INFINITY);
    return this.#namesUsed(1);
  }

  /** @param kind 0 for services, 1 for vendors */
  #namesUsed(kind: 0 | 1): string[] {
    const used = this.#uses.numbers().filter((number) => number % 2 === kind);
    const numbers = new Set(used.map((number) => (number - kind) / 2));
    const last = this.#lastBlock;
    if (last !== undefined) {
      for (let at = this.#firstIn(last); at < this.#memory.count(last); at += 1)
        numbers.add(kind === 0 ? this.#memory.service(last, at) : this.#memory.vendor(last, at));
    }
    return Array.from(numbers, (number) => this.#names.textOf(number)).sort();
  }

  /** Nothing more comes into the last block. */
  #close(): void {
    const block = this.#lastBlock;
    if (block === undefined) return;
    for (let at = this.#firstIn(block); at < this.#memory.count(block); at += 1) {
      this.#uses.add(2 * this.#memory.service(block, at));
      this.#uses.add(2 * this.#memory.vendor(block, at) + 1);
    }
    this.#lastBlock = undefined;
  }

  /** A page of everything: blocks that it does not reach are passed over. */
  #all(offset: number, limit: number): HistoryPage {
    const entries: HistoryEntry[] = [];
    const newest = this.#appended - 1 - offset;
    for (let n = this.#blocks.length - 1; n >= this.#firstBlock && entries.length < limit; n -= 1) {
      const block = this.#blocks[n] ?? 0;
      const last = Math.min(this.#memory.count(block) - 1, newest - this.#memory.ordinal(block));
      const first = this.#firstIn(block);
      for (let at = last; at >= first && entries.length < limit; at -= 1)
        entries.push(entryOf(this.#memory.entry(block, at)));
    }
    return { total: this.#appended - this.#trimmed, entries };
  }

  /** The place of the first block of which something holds that holds of all after it, by halving. */
  #firstWhere(holds: (block: number) => boolean): number {
    let low = this.#firstBlock;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(this.#blocks[middle] ?? 0)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The first of a block's entries that has not been let go of. */
  #firstIn(block: number): number {
    return Math.max(0, this.#trimmed - this.#memory.ordinal(block));
  }

  #dropFirstBlock(block: number): void {
    this.#memory.free(block);
    this.#firstBlock += 1;
    if (this.#firstBlock === this.#blocks.length) this.#lastBlock = undefined;
    if (this.#firstBlock < this.#blocks.length && this.#firstBlock < MAX_GONE) return;
    this.#blocks = this.#blocks.slice(this.#firstBlock);
    this.#firstBlock = 0;
  }
}

function entryOf({ eventNumber, receivedAtMs, position, index }: BlockEntry): HistoryEntry {
  return { eventNumber, receivedAtMs, position, index };
}
