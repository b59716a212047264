/** The events that an alert is correlated with, read back from the log: a window forgets them when they expire. */
import type { Tenant } from '../commands/state.ts';
import { type PastEvent, pastEventOf } from '../domain/alert.ts';
import { type ContextEvent, type EventType, isChange } from '../domain/event.ts';
import type { HistoryEntry } from '../windows/history.ts';

export interface PastEventsOptions {
  /** In the order in which they are asked for. */
  readonly readEvents: (entries: readonly HistoryEntry[]) => readonly ContextEvent[];
  readonly nowMs: number;
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>;
}

/**
 * Of a service: changes, however many faults came since; and the faults that had been told of when the alert started
 * or a little later, however many came after that.
 */
const MAX_CHANGES = 1000;
const MAX_FAULTS = 1000;
const FAULT_GRACE_MS = 5 * 60_000;
/** Events read between two pauses: about a millisecond. */
const SLICE = 200;

/** Events of a service that may have to do with an alert, whichever agents sent them, as far as retention goes. */
export async function pastEventsOf(
  tenant: Tenant,
  service: string,
  startedAtMs: number,
  { readEvents, nowMs, pause }: PastEventsOptions,
): Promise<readonly PastEvent[]> {
  const changes = { service, untilMs: nowMs, wanted: isChange, limit: MAX_CHANGES };
  const untilMs = startedAtMs + FAULT_GRACE_MS;
  const faults = { service, untilMs, wanted: (type: EventType) => !isChange(type), limit: MAX_FAULTS };
  const newest = [changes, faults].flatMap((request) => {
    const found = [...tenant.agents.values()].flatMap(({ history }) => history.newestUntil(request));
    return found.sort((a, b) => b.eventNumber - a.eventNumber).slice(0, request.limit);
  });
  // In the order of the log: what stands together is read together.
  newest.sort((a, b) => b.eventNumber - a.eventNumber);
  const events: PastEvent[] = [];
  for (let start = 0; start < newest.length; start += SLICE) {
    if (start > 0) await pause();
    const slice = newest.slice(start, start + SLICE);
    for (const [n, event] of readEvents(slice).entries()) {
      events.push(pastEventOf(tenant.id, event, slice[n] as HistoryEntry));
    }
  }
  return events;
}
