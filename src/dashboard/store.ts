/**
 * The page's state: a TinyBase store, fed by lists and by the stream, listened to by the view. A row is one JSON text
 * (TinyBase drops cells whose text begins with U+FFFD, and agents may send any), beside the numbers that are looked at.
 */
import { createStore } from 'tinybase/store';
import { nowMs } from './clock.ts';
import type {
  Agent,
  Alert,
  Delivery,
  EventFields,
  EventType,
  Integration,
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
}
type TableName = keyof Rows;

const store = createStore();
/** What rows hold, read once. */
const parsed = new Map<string, { readonly json: string; readonly value: unknown }>();
const eventsByService = new Map<string, Map<string, ServiceEvent>>();

const MAX_EVENTS = 20_000;
const KEEP_EXPIRED_MS = 6 * 3600 * 1000;

export function put<T extends TableName>(table: T, id: string, value: Rows[T]): void {
  store.setRow(table, id, { json: JSON.stringify(value) });
}

export function get<T extends TableName>(table: T, id: string): Rows[T] | undefined {
  const json = store.getCell(table, id, 'json');
  if (typeof json !== 'string') return undefined;
  const name = `${table} ${id}`;
  let known = parsed.get(name);
  if (known?.json !== json) {
    known = { json, value: JSON.parse(json) };
    parsed.set(name, known);
  }
  return known.value as Rows[T];
}

export function all<T extends TableName>(table: T): Rows[T][] {
  return store
    .getRowIds(table)
    .map((id) => get(table, id))
    .filter((value) => value !== undefined);
}

/** Makes a table hold these and no others. */
export function replace<T extends TableName>(
  table: T,
  values: readonly (Rows[T] & { readonly id: string })[],
): void {
  together(() => {
    const ids = new Set(values.map(({ id }) => id));
    for (const id of store.getRowIds(table)) if (!ids.has(id)) store.delRow(table, id);
    for (const value of values) put(table, value.id, value);
  });
}

export function together(change: () => void): void {
  store.transaction(change);
}

/** Calls back whenever something has changed. */
export function onChange(listener: () => void): void {
  store.addTablesListener(listener);
  store.addValuesListener(listener);
}

export function setValue(name: 'connection' | 'refused', value: string): void {
  store.setValue(name, value);
}

export function getValue(name: 'connection' | 'refused'): string {
  return String(store.getValue(name) ?? '');
}

export function clear(): void {
  store.delTables();
  parsed.clear();
  eventsByService.clear();
}

/** The same event comes from windows, event logs and the stream: what they agree on is its key. */
export function putEvent(serviceId: string, event: EventFields): void {
  const { event_type, vendor, entity, timestamp, expires_at } = event;
  const key = JSON.stringify([serviceId, event_type, vendor, entity, timestamp, expires_at]);
  const known = eventsByService.get(serviceId)?.get(key);
  const fromMs = Date.parse(event.received_at ?? known?.received_at ?? timestamp);
  const merged: ServiceEvent = {
    ...known,
    ...event,
    key,
    service_id: serviceId,
    fromMs,
    untilMs: Date.parse(expires_at),
  };
  let events = eventsByService.get(serviceId);
  if (events === undefined) {
    events = new Map();
    eventsByService.set(serviceId, events);
  }
  events.set(key, merged);
  put('events', key, merged);
}

export function eventsOf(serviceId: string): readonly ServiceEvent[] {
  return [...(eventsByService.get(serviceId)?.values() ?? [])];
}

export function liveCounts(serviceId: string, now: number): ReadonlyMap<EventType, number> {
  const counts = new Map<EventType, number>();
  for (const { event_type, untilMs } of eventsByService.get(serviceId)?.values() ?? []) {
    if (untilMs > now) counts.set(event_type, (counts.get(event_type) ?? 0) + 1);
  }
  return counts;
}

/** Forgets events that nobody looks at any more. */
export function prune(): void {
  const now = nowMs();
  const events = [...eventsByService.values()].flatMap((byKey) => [...byKey.values()]);
  const tooMany = events.length - MAX_EVENTS;
  const old = events
    .sort((a, b) => a.untilMs - b.untilMs)
    .filter(({ untilMs }, index) => untilMs < now - KEEP_EXPIRED_MS || index < tooMany);
  together(() => {
    for (const { key, service_id } of old) {
      eventsByService.get(service_id)?.delete(key);
      store.delRow('events', key);
      parsed.delete(`events ${key}`);
    }
  });
}
