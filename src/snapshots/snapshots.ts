/**
 * Snapshots: what lists are read from. One TinyBase store a tenant, with a table each of agents, services and
 * integrations; a row holds, as text, the part of a list entry's JSON that changes seldom. What every ingest
 * changes (when an agent was last seen, a service's last event) is read from its actor at the moment of the
 * answer, since a `setRow` costs 7–13 µs and an ingest may not.
 *
 * Changes are marked, and projected together: in the background, and at the latest before a read answers.
 * A row is text because reading 10 000 of them is then joining strings (0.4 µs a cell), not building and
 * serialising objects (3 µs a row); and because TinyBase drops cells that begin with U+FFFD, which JSON
 * text never does.
 */
import { createStore, type Store } from 'tinybase';
import type { TenantId } from '../domain/ids.ts';

export type Table = 'agents' | 'services' | 'integrations';

/** The JSON text of a row, or undefined where the thing is gone. */
export type Describe = (tenantId: TenantId, table: Table, id: string) => string | undefined;

const CELL = 'json';

interface Mark {
  readonly tenantId: TenantId;
  readonly table: Table;
  readonly id: string;
}

export class Snapshots {
  readonly #describe: Describe;
  readonly #stores = new Map<TenantId, Store>();
  /** In the order of their first change, which becomes the order of the rows. */
  readonly #marks = new Map<string, Mark>();

  constructor(describe: Describe) {
    this.#describe = describe;
  }

  /** The thing has changed, appeared or gone: its row is made anew with the next projection. */
  changed(tenantId: TenantId, table: Table, id: string): void {
    const mark = `${tenantId}/${table}/${id}`;
    if (!this.#marks.has(mark)) this.#marks.set(mark, { tenantId, table, id });
  }

  /** Projects at most `limit` changes; true when none is left. */
  project(limit: number): boolean {
    let left = limit;
    for (const [name, { tenantId, table, id }] of this.#marks) {
      if (left === 0) return false;
      left -= 1;
      this.#marks.delete(name);
      const store = this.#storeOf(tenantId);
      const text = this.#describe(tenantId, table, id);
      if (text === undefined) store.delRow(table, id);
      else store.setCell(table, id, CELL, text);
    }
    return true;
  }

  /** The rows of a table, in the order in which they first appeared. */
  rows(tenantId: TenantId, table: Table): readonly (readonly [id: string, json: string])[] {
    this.project(Number.POSITIVE_INFINITY);
    const store = this.#stores.get(tenantId);
    if (store === undefined) return [];
    return store.getRowIds(table).map((id) => [id, String(store.getCell(table, id, CELL))]);
  }

  #storeOf(tenantId: TenantId): Store {
    let store = this.#stores.get(tenantId);
    if (store === undefined) {
      store = createStore();
      this.#stores.set(tenantId, store);
    }
    return store;
  }
}
