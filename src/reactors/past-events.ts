/** The events that an alert is correlated with, read back from the log: a window forgets them when they expire. */
import type { Tenant } from '../commands/state.ts';
import type { PastEvent } from '../domain/alert.ts';
import { type ContextEvent, timestampOf } from '../domain/event.ts';
import { eventIdOf } from '../domain/ids.ts';
import type { HistoryEntry } from '../windows/history.ts';

export interface PastEventsOptions {
  /** In the order in which they are asked for. */
  readonly readEvents: (entries: readonly HistoryEntry[]) => readonly ContextEvent[];
  readonly nowMs: number;
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>;
}

/** Of a service, the newest: what is older than so many others is not what changed just before. */
const MAX_EVENTS = 2000;
/** Events read between two pauses: about a millisecond. */
const SLICE = 200;

/** The newest events of a service, whichever agents sent them, as far as retention goes. */
export async function pastEventsOf(
  tenant: Tenant,
  serviceName: string,
  { readEvents, nowMs, pause }: PastEventsOptions,
): Promise<readonly PastEvent[]> {
  const filter = { service: serviceName, vendor: null, eventType: null };
  const entries: HistoryEntry[] = [];
  for (const { history } of tenant.agents.values()) {
    if (history.holds(serviceName)) entries.push(...history.page(filter, 0, MAX_EVENTS, nowMs).entries);
  }
  entries.sort((a, b) => b.eventNumber - a.eventNumber);
  const newest = entries.slice(0, MAX_EVENTS);
  const events: PastEvent[] = [];
  for (let start = 0; start < newest.length; start += SLICE) {
    if (start > 0) await pause();
    const slice = newest.slice(start, start + SLICE);
    for (const [n, event] of readEvents(slice).entries()) {
      const { receivedAtMs, eventNumber } = slice[n] as HistoryEntry;
      const { rawLine: _, ttlSeconds, ...facts } = event;
      events.push({
        ...facts,
        id: eventIdOf(tenant.id, receivedAtMs, eventNumber),
        timestampMs: timestampOf(event, receivedAtMs),
        receivedAtMs,
        expiresAtMs: receivedAtMs + ttlSeconds * 1000,
      });
    }
  }
  return events;
}
