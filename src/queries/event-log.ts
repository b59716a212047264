/** An agent's event log: the index says which events make the page, the log gives their payloads. */
import type { Command, Stamp } from '../domain/command.ts';
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

export type ReadRecord = (position: number) => { readonly command: Command; readonly stamp: Stamp };

export function eventLog(
  tenantId: TenantId,
  history: AgentHistory,
  request: EventLogRequest,
  nowMs: number,
  readRecord: ReadRecord,
): object {
  const { page, perPage, service, vendor, eventType } = request;
  const { total, entries } = history.page(request, (page - 1) * perPage, perPage, nowMs);
  return {
    events: readEvents(tenantId, entries, readRecord),
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

function readEvents(tenantId: TenantId, entries: readonly HistoryEntry[], readRecord: ReadRecord): object[] {
  // Events of one batch stand in one record, and next to one another on the page.
  let position: number | undefined;
  let events: readonly ContextEvent[] = [];
  return entries.map((entry) => {
    if (entry.position !== position) {
      const { command } = readRecord(entry.position);
      if (command.type !== 'record-events') throw new Error(`no events at log position ${entry.position}`);
      events = command.events;
      position = entry.position;
    }
    const event = events[entry.index];
    if (event === undefined) throw new Error(`no event ${entry.index} at log position ${entry.position}`);
    return storedEvent(tenantId, event, entry);
  });
}

/** A stored event as JSON: all of it but the raw line, which never leaves the box. */
function storedEvent(
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
