/**
 * Events that say the same of the same thing are one candidate. Which of them stands for the rest decides how
 * recent the candidate is:
 *
 *     | events                                        | stands for them | because                                  |
 *     | --------------------------------------------- | --------------- | ---------------------------------------- |
 *     | changes with an old and another new value     | the latest      | it was changed back in between, and has  |
 *     |                                               |                 | now been changed again                   |
 *     | changes that do not say what was before       | the first       | the rest are reports of the same change: |
 *     |                                               |                 | pods that were replaced, retries         |
 *     | faults                                        | the first       | it began then; a pod that has been       |
 *     |                                               |                 | crashing for an hour is no news          |
 *
 * What came before the start goes before what came after it.
 */
import type { PastEvent } from '../domain/alert.ts';
import { isChange } from '../domain/event.ts';

export interface IdenticalEvents {
  /** The one that stands for them all. */
  readonly event: PastEvent;
  readonly occurrences: number;
  /** The highest among them. */
  readonly confidence: number;
  /** When the last of them ends. */
  readonly expiresAtMs: number;
}

export function identicalEvents(
  events: readonly PastEvent[],
  startedAtMs: number,
): readonly IdenticalEvents[] {
  const groups = new Map<string, IdenticalEvents>();
  for (const event of events) {
    const identity = identityOf(event);
    const group = groups.get(identity);
    groups.set(
      identity,
      group === undefined
        ? { event, occurrences: 1, confidence: event.confidence, expiresAtMs: event.expiresAtMs }
        : {
            event: standsBefore(event, group.event, startedAtMs) ? event : group.event,
            occurrences: group.occurrences + 1,
            confidence: Math.max(group.confidence, event.confidence),
            expiresAtMs: Math.max(group.expiresAtMs, event.expiresAtMs),
          },
    );
  }
  return [...groups.values()];
}

/** As JSON, since a separator could be part of a value. */
function identityOf({ serviceName, eventType, vendor, entity, oldValue, newValue, sha }: PastEvent): string {
  return JSON.stringify([serviceName, eventType, vendor, entity, oldValue, newValue, sha]);
}

function standsBefore(a: PastEvent, b: PastEvent, startedAtMs: number): boolean {
  const isBeforeA = a.timestampMs <= startedAtMs;
  if (isBeforeA !== b.timestampMs <= startedAtMs) return isBeforeA;
  if (a.timestampMs === b.timestampMs) return a.id < b.id;
  const wantsLatest = isBeforeA && isChange(a.eventType) && a.oldValue !== null && a.oldValue !== a.newValue;
  return wantsLatest && a.newValue !== null ? a.timestampMs > b.timestampMs : a.timestampMs < b.timestampMs;
}
