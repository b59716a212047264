/** A service's event log: what all of its agents have told of it, live and expired, as far as retention goes. */
import type { Service } from '../commands/services.ts';
import type { Tenant } from '../commands/state.ts';
import type { EventType } from '../domain/event.ts';
import { type EventId, eventIdOf, eventNumberOf } from '../domain/ids.ts';
import { type ReadEvents, storedEvent } from './event-log.ts';

export interface ServiceLogRequest {
  readonly perPage: number;
  /** Where the page before ended; null for the newest events. */
  readonly before: EventId | null;
  readonly eventType: EventType | null;
}

/**
 * Newest receipt first. Pages are told apart by where the one before ended, and not by number: events come in while
 * somebody turns them, and the logs of thousands of agents need not be counted for one of them.
 */
export function serviceLog(
  tenant: Tenant,
  { name }: Service,
  { perPage, before, eventType }: ServiceLogRequest,
  nowMs: number,
  readEvents: ReadEvents,
): object {
  const request = {
    service: name,
    untilMs: nowMs,
    ...(before !== null && { beforeNumber: eventNumberOf(before) }),
    wanted: (type: EventType) => eventType === null || type === eventType,
    limit: perPage + 1,
  };
  const found = [...tenant.agents.values()].flatMap(({ identity, history }) => {
    history.trim(nowMs, Number.POSITIVE_INFINITY);
    return history.newestUntil(request).map((entry) => ({ entry, agentId: identity.id }));
  });
  found.sort((a, b) => b.entry.eventNumber - a.entry.eventNumber);
  const page = found.slice(0, perPage);
  const events = readEvents(page.map(({ entry }) => entry));
  const last = page.at(-1)?.entry;
  const isMore = found.length > perPage && last !== undefined;
  return {
    events: page.map(({ entry, agentId }, index) => {
      const event = events[index];
      return event && { ...storedEvent(tenant.id, event, entry), agent_id: agentId };
    }),
    per_page: perPage,
    next_before: isMore ? eventIdOf(tenant.id, last.receivedAtMs, last.eventNumber) : null,
  };
}
