/**
 * The history index of one agent: for every event within retention where its record is and what it can be
 * filtered by, off the heap (27 bytes an event). Payloads stay in the log; paging and filtering never touch them.
 *
 * Events leave by receipt time: one is in the history until, exclusively, receipt plus retention. Receipt
 * times never run back, so the entries are sorted and the oldest are always at the front.
 */
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { AgentNumber } from '../domain/ids.ts';
import type { BlockEntry, HistoryBlocks } from './history-blocks.ts';
import type { HistoryRows } from './history-rows.ts';
import type { Names } from './names.ts';
import { type NameKind, NamesUsed } from './names-used.ts';

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
  readonly #rows: HistoryRows;
  readonly row: AgentNumber;
  readonly #memory: HistoryBlocks;
  readonly #names: Names;
  /** Entries that were let go of. */
  #trimmed = 0;
  /** Of the blocks to which nothing is added any more and which nothing has left. */
  readonly #used: NamesUsed;
  /** The oldest first; those before #firstBlock are gone. */
  #blocks: number[] = [];
  #firstBlock = 0;
  readonly #retentionMs: number;

  constructor(retentionMs: number, rows: HistoryRows, names: Names) {
    this.#retentionMs = retentionMs;
    this.#rows = rows;
    this.row = rows.create();
    this.#memory = rows.blocks;
    this.#used = new NamesUsed(rows.blocks);
    this.#names = names;
  }

  /** Entries ever appended. */
  get #appended(): number {
    return this.#rows.appended(this.row);
  }

  /** The block that grows; 0 where there is none. */
  get #growing(): number {
    return this.#rows.growing(this.row);
  }

  /** Names are numbers of the `Names` that the history was made with: a vendor's is let go of with its entry. */
  append(entry: BlockEntry): void {
    if (!this.#rows.append(this.row, entry)) this.appendToNewBlock(entry);
  }

  /** `append`, where the block that grows has not taken it. */
  appendToNewBlock(entry: BlockEntry): void {
    this.#close();
    this.trim(entry.receivedAtMs, TRIM_PER_BLOCK);
    const block = this.#memory.open(entry, this.#appended);
    this.#blocks.push(block);
    this.#rows.setGrowing(this.row, block);
    this.#rows.append(this.row, entry);
  }

  /** Lets go of at most `limit` entries that are past retention; true where none is left. */
  trim(nowMs: number, limit: number): boolean {
    const before = nowMs - this.#retentionMs;
    for (let left = limit; this.#trimmed < this.#appended; left -= 1) {
      const block = this.#blocks[this.#firstBlock] ?? 0;
      const at = this.#trimmed - this.#memory.ordinal(block);
      if (this.#memory.receivedAtMs(block, at) > before) return true;
      if (left <= 0) return false;
      if (at === 0 && block !== this.#growing) this.#used.remove(block);
      this.#names.letGo(this.#memory.vendor(block, at));
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
    // Of services that it has nothing of, which is most, a look at the two blocks tells that may not be counted.
    const newest = this.#blocks.length - 1;
    const isCounted = this.#used.hasService(number);
    const step = isCounted ? 1 : Math.max(1, newest - this.#firstBlock);
    for (let n = newest; n >= this.#firstBlock && entries.length < limit; n -= step) {
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
    return this.#namesUsed('service');
  }

  /** The names of vendors in the history, sorted by code unit. */
  vendors(nowMs: number): string[] {
    this.trim(nowMs, Number.POSITIVE_INFINITY);
    return this.#namesUsed('vendor');
  }

  #namesUsed(kind: NameKind): string[] {
    const uncounted = [this.#blocks[this.#firstBlock] ?? 0, this.#growing].filter((block) => block !== 0);
    const parts = uncounted.map((block) => ({ block, first: this.#firstIn(block) }));
    return this.#used
      .numbers(kind, parts)
      .map((number) => this.#names.textOf(number))
      .sort();
  }

  /** Nothing more comes into the block that grows. */
  #close(): void {
    const block = this.#growing;
    if (block === 0) return;
    if (this.#firstIn(block) === 0) this.#used.add(block);
    this.#rows.setGrowing(this.row, 0);
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
    if (this.#firstBlock === this.#blocks.length) this.#rows.setGrowing(this.row, 0);
    if (this.#firstBlock < this.#blocks.length && this.#firstBlock < MAX_GONE) return;
    this.#blocks = this.#blocks.slice(this.#firstBlock);
    this.#firstBlock = 0;
  }
}

function entryOf({ eventNumber, receivedAtMs, position, index }: BlockEntry): HistoryEntry {
  return { eventNumber, receivedAtMs, position, index };
}
