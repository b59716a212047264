/** The events that an alert is correlated with, read back from the log: a window forgets them when they expire. */
import type { Tenant } from '../commands/state.ts';
import type { PastEvent } from '../domain/alert.ts';
import type { Command, Stamp } from '../domain/command.ts';
import { timestampOf } from '../domain/event.ts';
import { eventIdOf } from '../domain/ids.ts';
import type { HistoryEntry } from '../windows/history.ts';

export interface PastEventsOptions {
  readonly readRecord: (position: number) => { readonly command: Command; readonly stamp: Stamp };
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
  { readRecord, nowMs, pause }: PastEventsOptions,
): Promise<readonly PastEvent[]> {
  const filter = { service: serviceName, vendor: null, eventType: null };
  const entries: HistoryEntry[] = [];
  for (const { history } of tenant.agents.values()) {
    if (history.holds(serviceName)) entries.push(...history.page(filter, 0, MAX_EVENTS, nowMs).entries);
  }
  entries.sort((a, b) => b.eventNumber - a.eventNumber);
  const events: PastEvent[] = [];
  for (const [index, entry] of entries.slice(0, MAX_EVENTS).entries()) {
    if (index % SLICE === SLICE - 1) await pause();
    const { command } = readRecord(entry.position);
    const event = command.type === 'record-events' ? command.events[entry.index] : undefined;
    if (event === undefined) throw new Error(`no event ${entry.index} at log position ${entry.position}`);
    const { rawLine: _, ttlSeconds, ...facts } = event;
    const { receivedAtMs, eventNumber } = entry;
    events.push({
      ...facts,
      id: eventIdOf(tenant.id, receivedAtMs, eventNumber),
      timestampMs: timestampOf(event, receivedAtMs),
      receivedAtMs,
      expiresAtMs: receivedAtMs + ttlSeconds * 1000,
    });
  }
  return events;
}
