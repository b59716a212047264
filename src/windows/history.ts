/**
 * The history index of one agent: for every event within retention where its record is and what it can be
 * filtered by, in columns (33 bytes an event). Payloads stay in the log; paging and filtering never touch them.
 *
 * Events leave by receipt time: one is in the history until, exclusively, receipt plus retention. Receipt
 * times never run back, so the columns are sorted and the oldest are always at the front.
 */
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { NameIndex } from './name-index.ts';

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

export interface HistoryPage {
  /** All that match, on this page or not. */
  readonly total: number;
  /** Newest received first. */
  readonly entries: readonly HistoryEntry[];
}

export interface NewHistoryEntry extends HistoryEntry {
  readonly service: string;
  readonly vendor: string;
  readonly eventType: EventType;
}

const FIRST_CAPACITY = 8;

export class AgentHistory {
  readonly #retentionMs: number;
  readonly #services = new NameIndex();
  readonly #vendors = new NameIndex();
  /** Entries stand at #start … #end - 1. */
  #start = 0;
  #end = 0;
  #receivedAtMs = new Float64Array(FIRST_CAPACITY);
  #eventNumber = new Float64Array(FIRST_CAPACITY);
  #position = new Float64Array(FIRST_CAPACITY);
  #index = new Uint16Array(FIRST_CAPACITY);
  #service = new Uint32Array(FIRST_CAPACITY);
  #vendor = new Uint32Array(FIRST_CAPACITY);
  #type = new Uint8Array(FIRST_CAPACITY);

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  append(entry: NewHistoryEntry): void {
    this.#trim(entry.receivedAtMs);
    if (this.#end === this.#receivedAtMs.length) this.#makeRoom();
    const at = this.#end++;
    this.#receivedAtMs[at] = entry.receivedAtMs;
    this.#eventNumber[at] = entry.eventNumber;
    this.#position[at] = entry.position;
    this.#index[at] = entry.index;
    this.#service[at] = this.#services.add(entry.service);
    this.#vendor[at] = this.#vendors.add(entry.vendor);
    this.#type[at] = EVENT_TYPES.indexOf(entry.eventType);
  }

  /** Entries within retention, oldest first. */
  *entries(nowMs: number): Iterable<NewHistoryEntry> {
    this.#trim(nowMs);
    for (let at = this.#start; at < this.#end; at += 1) {
      yield {
        ...this.#entryAt(at),
        service: this.#services.nameOf(this.#service[at] ?? 0),
        vendor: this.#vendors.nameOf(this.#vendor[at] ?? 0),
        eventType: EVENT_TYPES[this.#type[at] ?? 0] ?? EVENT_TYPES[0],
      };
    }
  }

  /** How many events were received in the `spanMs` before `nowMs`; at most retention back. O(log n). */
  countWithin(spanMs: number, nowMs: number): number {
    const after = nowMs - Math.min(spanMs, this.#retentionMs);
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#timeAt(middle) > after) high = middle;
      else low = middle + 1;
    }
    return this.#end - low;
  }

  /** The number of the first event of a record, by the record's position; undefined past retention. O(log n). */
  firstNumberAt(position: number): number | undefined {
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#position[middle] ?? 0) >= position) high = middle;
      else low = middle + 1;
    }
    if (low === this.#end || this.#position[low] !== position) return undefined;
    return (this.#eventNumber[low] ?? 0) - (this.#index[low] ?? 0);
  }

  /** The matching events from `offset` on, newest first, `limit` of them at most. */
  page(filter: HistoryFilter, offset: number, limit: number, nowMs: number): HistoryPage {
    this.#trim(nowMs);
    const service = filter.service === null ? undefined : (this.#services.indexOf(filter.service) ?? -1);
    const vendor = filter.vendor === null ? undefined : (this.#vendors.indexOf(filter.vendor) ?? -1);
    const type = filter.eventType === null ? undefined : EVENT_TYPES.indexOf(filter.eventType);
    const unfiltered = service === undefined && vendor === undefined && type === undefined;

    const entries: HistoryEntry[] = [];
    if (unfiltered) {
      for (let at = this.#end - 1 - offset; at >= this.#start && entries.length < limit; at -= 1) {
        entries.push(this.#entryAt(at));
      }
      return { total: this.#end - this.#start, entries };
    }
    let total = 0;
    for (let at = this.#end - 1; at >= this.#start; at -= 1) {
      if (service !== undefined && this.#service[at] !== service) continue;
      if (vendor !== undefined && this.#vendor[at] !== vendor) continue;
      if (type !== undefined && this.#type[at] !== type) continue;
      if (total >= offset && entries.length < limit) entries.push(this.#entryAt(at));
      total += 1;
    }
    return { total, entries };
  }

  /** Whether there is an event of a service; one that is past retention may still count. */
  holds(service: string): boolean {
    return this.#services.indexOf(service) !== undefined;
  }

  /** The names of services in the history, sorted by code unit. */
  services(nowMs: number): string[] {
    this.#trim(nowMs);
    return this.#services.names();
  }

  /** The names of vendors in the history, sorted by code unit. */
  vendors(nowMs: number): string[] {
    this.#trim(nowMs);
    return this.#vendors.names();
  }

  #trim(nowMs: number): void {
    const before = nowMs - this.#retentionMs;
    while (this.#start < this.#end && this.#timeAt(this.#start) <= before) {
      this.#services.remove(this.#service[this.#start] ?? 0);
      this.#vendors.remove(this.#vendor[this.#start] ?? 0);
      this.#start += 1;
    }
  }

  /** Moves the entries to the front of the columns, or to columns twice as large where they fill over half. */
  #makeRoom(): void {
    const length = this.#end - this.#start;
    const capacity = this.#receivedAtMs.length;
    const grown = length * 2 > capacity ? capacity * 2 : capacity;
    this.#receivedAtMs = moved(this.#receivedAtMs, new Float64Array(grown), this.#start, this.#end);
    this.#eventNumber = moved(this.#eventNumber, new Float64Array(grown), this.#start, this.#end);
    this.#position = moved(this.#position, new Float64Array(grown), this.#start, this.#end);
    this.#index = moved(this.#index, new Uint16Array(grown), this.#start, this.#end);
    this.#service = moved(this.#service, new Uint32Array(grown), this.#start, this.#end);
    this.#vendor = moved(this.#vendor, new Uint32Array(grown), this.#start, this.#end);
    this.#type = moved(this.#type, new Uint8Array(grown), this.#start, this.#end);
    this.#start = 0;
    this.#end = length;
  }

  #timeAt(at: number): number {
    return this.#receivedAtMs[at] ?? 0;
  }

  #entryAt(at: number): HistoryEntry {
    return {
      eventNumber: this.#eventNumber[at] ?? 0,
      receivedAtMs: this.#timeAt(at),
      position: this.#position[at] ?? 0,
      index: this.#index[at] ?? 0,
    };
  }
}

interface Column<Self> {
  set(from: Self): void;
  subarray(start: number, end: number): Self;
}

function moved<C extends Column<C>>(from: C, to: C, start: number, end: number): C {
  to.set(from.subarray(start, end));
  return to;
}
