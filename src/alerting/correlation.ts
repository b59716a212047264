/**
 * What may have caused an alert: events of its service, and of what that depends on, as they stood when the alert
 * started. An event is looked at when both hold:
 *
 *     it came      before the start, or within a minute after it: not all notice at the same speed
 *     it mattered  until the start (it was live then), or until at most `lookbackMs` before it
 *
 * `score.ts` says how candidates are weighed, `dependencies.ts` how far is looked, `identical-events.ts` what is
 * taken together, `noise.ts` what is not taken for a change. The order is by score, then the later first, then
 * by id: the same events give the same answer, in whatever order they are handed over.
 */
import type { Candidate, CandidateReason, PastEvent } from '../domain/alert.ts';
import { isChange } from '../domain/event.ts';
import { reachedServices, type Surroundings } from './dependencies.ts';
import { type IdenticalEvents, identicalEvents } from './identical-events.ts';
import { noiseOf } from './noise.ts';
import { type Named, sameEntityTest } from './same-entity.ts';
import { type Evidence, scoreOf } from './score.ts';

export interface AlertStart extends Named {
  readonly startedAtMs: number;
}

const GRACE_MS = 60_000;
const MAX_CANDIDATES = 20;
/** Weighing takes some 4 µs an event, while nothing else is answered. */
const MAX_EVENTS_PER_SERVICE = 2000;

/** Best first, at most 20. */
export function correlate(
  alert: AlertStart,
  { eventsOf, serviceNamed }: Surroundings,
  { lookbackMs }: { readonly lookbackMs: number },
): readonly Candidate[] {
  const { startedAtMs, serviceName } = alert;
  const inSight = (event: PastEvent): boolean =>
    event.timestampMs <= startedAtMs + GRACE_MS && event.expiresAtMs >= startedAtMs - lookbackMs;
  const services = reachedServices(serviceName, {
    eventsOf: (name) => mostTelling(eventsOf(name).filter(inSight), startedAtMs),
    serviceNamed,
  });
  const isSameEntity = sameEntityTest(alert);
  return services
    .flatMap(({ distance, events }) =>
      identicalEvents(events, startedAtMs).map((group) => {
        const evidence = evidenceOf(group, { startedAtMs, distance, isSameEntity });
        return candidateOf(group, evidence, group.event.serviceName === serviceName);
      }),
    )
    .sort(bestFirst)
    .slice(0, MAX_CANDIDATES);
}

/** A flood is of faults: the changes are kept through it, then what is nearest to the start. */
function mostTelling(events: readonly PastEvent[], startedAtMs: number): readonly PastEvent[] {
  if (events.length <= MAX_EVENTS_PER_SERVICE) return events;
  const away = (event: PastEvent): number => Math.abs(startedAtMs - event.timestampMs);
  return events
    .toSorted((a, b) => {
      const changesFirst = Number(isChange(b.eventType)) - Number(isChange(a.eventType));
      return changesFirst || away(a) - away(b) || (a.id < b.id ? -1 : 1);
    })
    .slice(0, MAX_EVENTS_PER_SERVICE);
}

interface Circumstances {
  readonly startedAtMs: number;
  readonly distance: number;
  readonly isSameEntity: (entity: string) => boolean;
}

function evidenceOf(
  group: IdenticalEvents,
  { startedAtMs, distance, isSameEntity }: Circumstances,
): Evidence {
  const { event, occurrences, confidence, expiresAtMs } = group;
  return {
    eventType: event.eventType,
    ageMs: startedAtMs - event.timestampMs,
    confidence,
    isSameEntity: isSameEntity(event.entity),
    distance,
    isLive: expiresAtMs > startedAtMs,
    noise: noiseOf(event),
    occurrences,
  };
}

function candidateOf({ event, occurrences }: IdenticalEvents, evidence: Evidence, isOwn: boolean): Candidate {
  // Adding zero makes of -0, which JSON and tests tell from 0, plain 0.
  const minutesBefore = Math.round(evidence.ageMs / 6000) / 10 + 0;
  return { event, minutesBefore, score: scoreOf(evidence), reasons: reasonsOf(evidence, isOwn), occurrences };
}

function reasonsOf(evidence: Evidence, isOwn: boolean): readonly CandidateReason[] {
  const reasons: readonly (readonly [CandidateReason, boolean])[] = [
    ['same_service', isOwn],
    ['dependency', !isOwn],
    ['same_entity', evidence.isSameEntity],
    ['changed_before_start', evidence.ageMs >= 0],
    ['still_live', evidence.isLive],
    ['repeated', evidence.occurrences > 1],
    ['autoscaling', evidence.noise === 'autoscaling'],
  ];
  return reasons.flatMap(([reason, holds]) => (holds ? [reason] : []));
}

function bestFirst(a: Candidate, b: Candidate): number {
  const byTime = b.event.timestampMs - a.event.timestampMs;
  return b.score - a.score || byTime || (a.event.id < b.event.id ? -1 : 1);
}
