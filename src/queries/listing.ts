/**
 * A list in the making: in steps, since ten thousand entries take 12 ms and a hundred thousand ten times as long, in
 * which nobody else would be answered.
 *
 * Each entry is of the moment at which it was made, which is never before the list was asked for: whoever has had
 * an answer to a write finds it in every list asked for afterwards. Two entries of a list may be of different
 * moments. What was there when the list was begun and is there when its turn comes is listed; what appears
 * in between need not be.
 */
import type { TenantId } from '../domain/ids.ts';
import type { Snapshots, Table } from '../snapshots/snapshots.ts';
import type { Making } from './lister.ts';

export interface ListingOptions {
  readonly snapshots: Snapshots;
  readonly tenantId: TenantId;
  readonly table: Table;
  readonly now: () => number;
  /** An entry's JSON text, made of its row; undefined where there is no such thing. */
  readonly entry: (row: string, id: string, nowMs: number) => string | undefined;
}

/** A change takes as long to project as so many entries to make. */
const ENTRIES_PER_CHANGE = 8;

export class Listing implements Making {
  readonly #options: ListingOptions;
  /** Of changes that were there when it was begun, those that are still to be projected. */
  #changesLeft: number | undefined;
  #ids: readonly string[] | undefined;
  #next = 0;
  readonly #parts: Buffer[] = [];

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  get name(): string {
    return `${this.#options.tenantId}/${this.#options.table}`;
  }

  get length(): number {
    const { snapshots, tenantId, table } = this.#options;
    return snapshots.rowCount(tenantId, table) + ENTRIES_PER_CHANGE * (this.#changesLeft ?? this.#changes());
  }

  advance(entries: number): Buffer | undefined {
    const { snapshots, tenantId, table } = this.#options;
    this.#changesLeft ??= this.#changes();
    const changes = Math.min(this.#changesLeft, Math.ceil(entries / ENTRIES_PER_CHANGE));
    snapshots.projectTable(tenantId, table, changes);
    this.#changesLeft -= changes;
    const left = entries - changes * ENTRIES_PER_CHANGE;
    if (this.#changesLeft > 0 || left <= 0) return undefined;
    this.#ids ??= snapshots.rowIds(tenantId, table);
    this.#make(this.#ids.slice(this.#next, this.#next + left));
    this.#next += left;
    if (this.#next < this.#ids.length) return undefined;
    return Buffer.concat([BEGIN, ...this.#parts, END]);
  }

  /** All of it at once. */
  whole(): { readonly type: 'found'; readonly json: string } {
    return { type: 'found', json: String(this.advance(Number.POSITIVE_INFINITY)) };
  }

  #make(ids: readonly string[]): void {
    const { snapshots, tenantId, table, now, entry } = this.#options;
    const nowMs = now();
    const texts: string[] = [];
    for (const id of ids) {
      const row = snapshots.row(tenantId, table, id);
      const text = row === undefined ? undefined : entry(row, id, nowMs);
      if (text !== undefined) texts.push(text);
    }
    if (texts.length === 0) return;
    this.#parts.push(Buffer.from(`${this.#parts.length === 0 ? '' : ','}${texts.join(',')}`));
  }

  #changes(): number {
    return this.#options.snapshots.marked(this.#options.tenantId, this.#options.table);
  }
}

const BEGIN = Buffer.from('[');
const END = Buffer.from(']');
