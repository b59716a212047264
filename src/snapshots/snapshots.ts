/**
 * Snapshots: what lists are read from. One TinyBase store a tenant, with a table each of agents, services and
 * integrations; a row holds, as text, the part of a list entry's JSON that changes seldom. What every ingest
 * changes (when an agent was last seen, a service's last event) is read from its actor at the moment of the
 * answer, since a `setRow` costs 7–13 µs and an ingest may not.
 *
 * Changes are marked, and projected together: in the background, and at the latest before a list is answered.
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

interface Marks {
  readonly tenantId: TenantId;
  readonly table: Table;
  /** In the order of their first change, which becomes the order of the rows. */
  readonly ids: Set<string>;
}

export class Snapshots {
  readonly #describe: Describe;
  readonly #stores = new Map<TenantId, Store>();
  readonly #marks = new Map<TenantId, Map<Table, Marks>>();

  constructor(describe: Describe) {
    this.#describe = describe;
  }

  /** The thing has changed, appeared or gone: its row is made anew with the next projection. */
  changed(tenantId: TenantId, table: Table, id: string): void {
    let tables = this.#marks.get(tenantId);
    if (tables === undefined) {
      tables = new Map();
      this.#marks.set(tenantId, tables);
    }
    const marks = tables.get(table);
    if (marks === undefined) tables.set(table, { tenantId, table, ids: new Set([id]) });
    else marks.ids.add(id);
  }

  /** Projects at most `limit` changes, whatever they are of; true when none is left. */
  project(limit: number): boolean {
    let left = limit;
    for (const [tenantId, tables] of this.#marks) {
      for (const marks of tables.values()) {
        left -= this.#project(marks, left);
        if (marks.ids.size > 0) return false;
      }
      this.#marks.delete(tenantId);
    }
    return true;
  }

  /** Projects at most `limit` changes of a table. */
  projectTable(tenantId: TenantId, table: Table, limit: number): void {
    const marks = this.#marks.get(tenantId)?.get(table);
    if (marks !== undefined) this.#project(marks, limit);
  }

  /** Changes of a table that are not projected yet. */
  marked(tenantId: TenantId, table: Table): number {
    return this.#marks.get(tenantId)?.get(table)?.ids.size ?? 0;
  }

  rowCount(tenantId: TenantId, table: Table): number {
    return this.#stores.get(tenantId)?.getRowCount(table) ?? 0;
  }

  /** The rows of a table as of the last projection, in the order in which they first appeared. */
  rowIds(tenantId: TenantId, table: Table): readonly string[] {
    return this.#stores.get(tenantId)?.getRowIds(table) ?? [];
  }

  /** The JSON text of a row, or undefined where it is gone. */
  row(tenantId: TenantId, table: Table, id: string): string | undefined {
    const cell = this.#stores.get(tenantId)?.getCell(table, id, CELL);
    return cell === undefined ? undefined : String(cell);
  }

  #project({ tenantId, table, ids }: Marks, limit: number): number {
    let done = 0;
    const store = this.#storeOf(tenantId);
    for (const id of ids) {
      if (done >= limit) break;
      done += 1;
      ids.delete(id);
      const text = this.#describe(tenantId, table, id);
      if (text === undefined) store.delRow(table, id);
      else store.setCell(table, id, CELL, text);
    }
    return done;
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
