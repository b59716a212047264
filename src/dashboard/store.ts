/**
 * The page's state: a TinyBase store, fed by lists and by the stream. Views say which of its tables they read, and are
 * brought up to date when one of those changes; its indexes find what belongs together.
 *
 * A row is one JSON text (TinyBase drops cells whose text begins with U+FFFD, and agents may send any), beside the cells
 * that it is found by.
 */
import { createIndexes } from 'tinybase/indexes';
import { createStore } from 'tinybase/store';
import type {
  Agent,
  Alert,
  Delivery,
  EventFields,
  EventType,
  Integration,
  Load,
  Past,
  Service,
  ServiceEvent,
} from './model.ts';

export interface Rows {
  readonly services: Service;
  readonly agents: Agent;
  readonly events: ServiceEvent;
  readonly alerts: Alert;
  readonly deliveries: Delivery;
  readonly integrations: Integration;
  /** What was asked for, by what it is and of what: `window 0a1b`. */
  readonly loads: Load;
  /** By service. */
  readonly pasts: Past;
}
export type TableName = keyof Rows | 'activity';

/** The cells that the rows of a table are found by. */
type Keys = { readonly [T in keyof Rows]?: (row: Rows[T]) => Readonly<Record<string, string>> };
const KEYS: Keys = {
  services: ({ name }) => ({ name }),
  events: ({ service_id }) => ({ service: service_id }),
  alerts: ({ service_id, integration_id, status }) => ({
    service: service_id ?? '',
    integration: integration_id,
    status,
  }),
  deliveries: ({ alert_id, integration_id }) => ({ alert: alert_id ?? '', integration: integration_id }),
};

const INDEXES = {
  servicesByName: ['services', 'name'],
  eventsByService: ['events', 'service'],
  alertsByService: ['alerts', 'service'],
  alertsByStatus: ['alerts', 'status'],
  alertsByIntegration: ['alerts', 'integration'],
  deliveriesByAlert: ['deliveries', 'alert'],
  deliveriesByIntegration: ['deliveries', 'integration'],
} as const;
type IndexName = keyof typeof INDEXES;

const MINUTE_MS = 60_000;
/** Older than the hour that is shown. */
const KEPT_MINUTES = 62;

export type ValueName = 'connection' | 'problem' | 'lostAtMs' | 'alertsTotal';

export class PageStore {
  readonly #store = createStore();
  readonly #indexes = createIndexes(this.#store);
  /** What rows hold, read once. */
  readonly #parsed = new Map<string, Map<string, { readonly json: string; readonly value: unknown }>>();
  /** Ids of events that agree on all that a window tells. */
  readonly #idsByContent = new Map<string, string[]>();

  constructor() {
    for (const [name, [table, cell]] of Object.entries(INDEXES)) {
      this.#indexes.setIndexDefinition(name, table, cell);
    }
  }

  put<T extends keyof Rows>(table: T, id: string, value: Rows[T]): void {
    const json = JSON.stringify(value);
    if (this.#store.getCell(table, id, 'json') === json) return;
    this.#store.setRow(table, id, { json, ...KEYS[table]?.(value) });
  }

  get<T extends keyof Rows>(table: T, id: string): Rows[T] | undefined {
    const json = this.#store.getCell(table, id, 'json');
    if (typeof json !== 'string') return undefined;
    let rows = this.#parsed.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#parsed.set(table, rows);
    }
    let known = rows.get(id);
    if (known?.json !== json) {
      known = { json, value: JSON.parse(json) };
      rows.set(id, known);
    }
    return known.value as Rows[T];
  }

  all<T extends keyof Rows>(table: T): Rows[T][] {
    return this.#found(table, this.#store.getRowIds(table));
  }

  /** The rows of an index whose cell is `value`, in the order in which they came. */
  where<Name extends IndexName>(name: Name, value: string): Rows[(typeof INDEXES)[Name][0]][] {
    return this.#found<(typeof INDEXES)[Name][0]>(
      INDEXES[name][0],
      this.#indexes.getSliceRowIds(name, value),
    );
  }

  count(name: IndexName, value: string): number {
    return this.#indexes.getSliceRowIds(name, value).length;
  }

  delete(table: keyof Rows, id: string): void {
    this.#store.delRow(table, id);
    this.#parsed.get(table)?.delete(id);
    if (table === 'events') this.#forgetOccurrence(id);
  }

  clearTable(table: TableName): void {
    this.#store.delTable(table);
    this.#parsed.delete(table);
    if (table === 'events') this.#idsByContent.clear();
  }

  clear(): void {
    this.#store.delTables();
    this.#store.delValues();
    this.#parsed.clear();
    this.#idsByContent.clear();
  }

  /** Makes a table hold these and no others; what is in `newer` stays as it is, there or not. */
  replace<T extends keyof Rows>(
    table: T,
    values: readonly (Rows[T] & { readonly id: string })[],
    newer: ReadonlySet<string> = new Set(),
  ): void {
    this.together(() => {
      const ids = new Set(values.map(({ id }) => id));
      for (const id of this.#store.getRowIds(table)) {
        if (!ids.has(id) && !newer.has(id)) this.delete(table, id);
      }
      for (const value of values) if (!newer.has(value.id)) this.put(table, value.id, value);
    });
  }

  /** Whoever listens hears of all the changes at once. */
  together(change: () => void): void {
    this.#store.transaction(change);
  }

  /** Calls back whenever something in one of the tables, or a value, has changed; until the answer is called. */
  onChange(tables: readonly TableName[], listener: () => void): () => void {
    const ids = [
      this.#store.addValuesListener(listener),
      ...tables.map((table) => this.#store.addTableListener(table, listener)),
    ];
    return () => {
      for (const id of ids) this.#store.delListener(id);
    };
  }

  setValue(name: ValueName, value: string | number): void {
    this.#store.setValue(name, value);
  }

  text(name: ValueName): string {
    return String(this.#store.getValue(name) ?? '');
  }

  number(name: ValueName): number {
    return Number(this.#store.getValue(name) ?? 0);
  }

  /** Of events that agree on everything but the id there is one each time it is told of: windows tell of no ids. */
  putEvents(serviceId: string, events: readonly EventFields[]): void {
    const told = new Map<string, number>();
    this.together(() => {
      for (const event of events) {
        const content = contentOf(serviceId, event);
        let occurrence: number;
        if (event.id === undefined) {
          occurrence = told.get(content) ?? 0;
          told.set(content, occurrence + 1);
        } else occurrence = this.#occurrenceOf(content, event.id);
        this.#putEvent(serviceId, keyOf(content, occurrence), event);
      }
    });
  }

  liveCounts(serviceId: string, now: number): ReadonlyMap<EventType, number> {
    const counts = new Map<EventType, number>();
    for (const { event_type, untilMs } of this.where('eventsByService', serviceId)) {
      if (untilMs > now) counts.set(event_type, (counts.get(event_type) ?? 0) + 1);
    }
    return counts;
  }

  /** Of an agent, the events of each of so many minutes up to now, the oldest first; undefined where nobody knows. */
  activity(agentId: string, minutes: number, nowMs: number): readonly number[] | undefined {
    if (!this.#store.hasRow('activity', agentId)) return undefined;
    const last = Math.floor(nowMs / MINUTE_MS);
    return Array.from({ length: minutes }, (_, index) =>
      Number(this.#store.getCell('activity', agentId, String(last - minutes + 1 + index)) ?? 0),
    );
  }

  /** @param counts of the minutes before `nowMs`, the oldest first */
  putActivity(agentId: string, counts: readonly number[], nowMs: number): void {
    const last = Math.floor(nowMs / MINUTE_MS);
    const cells = counts.map((count, index) => [String(last - counts.length + 1 + index), count] as const);
    this.#store.setRow('activity', agentId, Object.fromEntries(cells));
  }

  /** One more event; of an agent whose activity nobody has asked for nothing is kept. */
  countEvent(agentId: string, receivedAtMs: number): void {
    if (!this.#store.hasRow('activity', agentId)) return;
    const minute = String(Math.floor(receivedAtMs / MINUTE_MS));
    this.#store.setCell('activity', agentId, minute, (count) => Number(count ?? 0) + 1);
  }

  forgetOldActivity(nowMs: number): void {
    const first = Math.floor(nowMs / MINUTE_MS) - KEPT_MINUTES;
    this.together(() => {
      for (const agentId of this.#store.getRowIds('activity')) {
        for (const minute of this.#store.getCellIds('activity', agentId)) {
          if (Number(minute) < first) this.#store.delCell('activity', agentId, minute);
        }
      }
    });
  }

  #found<T extends keyof Rows>(table: T, ids: readonly string[]): Rows[T][] {
    return ids.map((id) => this.get(table, id)).filter((value) => value !== undefined);
  }

  #occurrenceOf(content: string, id: string): number {
    const ids = this.#idsByContent.get(content);
    if (ids === undefined) {
      this.#idsByContent.set(content, [id]);
      return 0;
    }
    const known = ids.indexOf(id);
    return known === -1 ? ids.push(id) - 1 : known;
  }

  /** Its place stays its own: the others keep theirs. */
  #forgetOccurrence(key: string): void {
    const at = key.indexOf(' ');
    const content = key.slice(at + 1);
    const ids = this.#idsByContent.get(content);
    if (ids === undefined) return;
    ids[Number(key.slice(0, at))] = '';
    if (ids.every((id) => id === '')) this.#idsByContent.delete(content);
  }

  #putEvent(serviceId: string, key: string, event: EventFields): void {
    const known = this.get('events', key);
    this.put('events', key, {
      ...known,
      ...event,
      key,
      service_id: serviceId,
      fromMs: Date.parse(event.received_at ?? known?.received_at ?? event.timestamp),
      untilMs: Date.parse(event.expires_at),
    });
  }
}

/** All that a window tells of an event. */
function contentOf(serviceId: string, event: EventFields): string {
  const { event_type, vendor, entity, old_value, new_value, actor, sha, confidence } = event;
  const { timestamp, expires_at } = event;
  const told = [event_type, vendor, entity, old_value, new_value, actor, sha, confidence];
  return JSON.stringify([serviceId, ...told, timestamp, expires_at]);
}

function keyOf(content: string, occurrence: number): string {
  return `${occurrence} ${content}`;
}
