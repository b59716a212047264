/** An agent's event log: the index says which events make the page, the log gives their payloads. */
import {
  type ContextEvent,
  type EventType,
  expiresAtMs,
  publicFields,
  timestampOf,
} from '../domain/event.ts';
import { eventIdOf, type TenantId } from '../domain/ids.ts';
import type { AgentHistory, HistoryEntry } from '../windows/history.ts';
import { isoTime } from './json.ts';

export interface EventLogRequest {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly service: string | null;
  readonly vendor: string | null;
  readonly eventType: EventType | null;
}

/** Reads events back from the log, in the order in which they are asked for. */
export type ReadEvents = (entries: readonly HistoryEntry[]) => readonly ContextEvent[];

export function eventLog(
  tenantId: TenantId,
  history: AgentHistory,
  request: EventLogRequest,
  nowMs: number,
  readEvents: ReadEvents,
): object {
  const { page, perPage, service, vendor, eventType } = request;
  const { total, entries } = history.page(request, (page - 1) * perPage, perPage, nowMs);
  return {
    events: readEvents(entries).map((event, n) => storedEvent(tenantId, event, entries[n] as HistoryEntry)),
    page,
    per_page: perPage,
    total_pages: Math.ceil(total / perPage),
    total,
    filter_services: history.services(nowMs),
    filter_vendors: history.vendors(nowMs),
    filter_service: service,
    filter_vendor: vendor,
    filter_event_type: eventType,
  };
}

/** A stored event as JSON: all of it but the raw line, which never leaves the box. */
export function storedEvent(
  tenantId: TenantId,
  event: ContextEvent,
  { eventNumber, receivedAtMs }: HistoryEntry,
): object {
  return {
    id: eventIdOf(tenantId, receivedAtMs, eventNumber),
    ...publicFields(event),
    timestamp: isoTime(timestampOf(event, receivedAtMs)),
    received_at: isoTime(receivedAtMs),
    expires_at: isoTime(expiresAtMs(event, receivedAtMs)),
  };
}
