/**
 * How much speaks for a candidate: the product of its parts, each over 0 and up to 1, so that a score can be
 * explained part by part and no part makes up for another.
 *
 *     | part       | value                                                                                       |
 *     | ---------- | ------------------------------------------------------------------------------------------- |
 *     | type       | deploy 1, flag_change 0.9: somebody changed something. saturation 0.6, restart 0.5: a       |
 *     |            | fault, itself caused by something. circuit_open, dependency_failure 0.3: they say where     |
 *     |            | else to look, and the place they name is weighed for itself                                 |
 *     | recency    | 15 / (15 + minutes before the start): a half after a quarter of an hour, a fifth after an   |
 *     |            | hour. Not exponential: leaks and caches take their time, and nothing sinks to zero          |
 *     | order      | 1 before the start. After it, within the grace: a fault 0.6, for symptoms are noticed at    |
 *     |            | different speeds; a change 0.2, for a cause comes first, and only clocks may say otherwise  |
 *     | confidence | that of the agent                                                                           |
 *     | entity     | 1 where the alert names the same resource, else 0.75                                        |
 *     | distance   | 1 for the alert's own service; over a dependency 0.7 × the confidence of the event that     |
 *     |            | names it, over two the product                                                              |
 *     | lifetime   | 1 while it is live at the start, 0.7 once its sender's TTL has passed                       |
 *     | noise      | 0.15 for a change that changed nothing (a self-heal: the revision is the old one), 0.2 for  |
 *     |            | what an autoscaler does, else 1                                                             |
 *     | repetition | 10 / (9 + occurrences), at least 0.3: two reports of one deploy are as good as one, twenty  |
 *     |            | restarts are a state of things rather than news                                             |
 */
import { type EventType, isChange } from '../domain/event.ts';

/** What looks like a change and is none worth a page. */
export type Noise = 'unchanged' | 'autoscaling';

export interface Evidence {
  readonly eventType: EventType;
  /** From the event to the start of the alert; negative where it came after. */
  readonly ageMs: number;
  readonly confidence: number;
  readonly isSameEntity: boolean;
  /** Of the way to the event's service, over 0 and up to 1. */
  readonly distance: number;
  readonly isLive: boolean;
  readonly noise: Noise | null;
  readonly occurrences: number;
}

export interface ScoreParts {
  readonly type: number;
  readonly recency: number;
  readonly order: number;
  readonly confidence: number;
  readonly entity: number;
  readonly distance: number;
  readonly lifetime: number;
  readonly noise: number;
  readonly repetition: number;
}

export const DEPENDENCY_DISTANCE = 0.7;

const TYPE: Readonly<Record<EventType, number>> = {
  deploy: 1,
  flag_change: 0.9,
  saturation: 0.6,
  restart: 0.5,
  circuit_open: 0.3,
  dependency_failure: 0.3,
};
const NOISE: Readonly<Record<Noise, number>> = { unchanged: 0.15, autoscaling: 0.2 };
const HALF_AFTER_MINUTES = 15;
const CHANGE_AFTER_START = 0.2;
const FAULT_AFTER_START = 0.6;
const OTHER_ENTITY = 0.75;
const EXPIRED = 0.7;
const HALF_AFTER_REPETITIONS = 10;
const LEAST_REPETITION = 0.3;
/** Scores are given, and compared, with three decimals: what readers see is what the order follows. */
const DECIMALS = 1000;

export function scoreParts(evidence: Evidence): ScoreParts {
  const minutes = Math.abs(evidence.ageMs) / 60_000;
  const afterStart = isChange(evidence.eventType) ? CHANGE_AFTER_START : FAULT_AFTER_START;
  return {
    type: TYPE[evidence.eventType],
    recency: HALF_AFTER_MINUTES / (HALF_AFTER_MINUTES + minutes),
    order: evidence.ageMs >= 0 ? 1 : afterStart,
    confidence: evidence.confidence,
    entity: evidence.isSameEntity ? 1 : OTHER_ENTITY,
    distance: evidence.distance,
    lifetime: evidence.isLive ? 1 : EXPIRED,
    noise: evidence.noise === null ? 1 : NOISE[evidence.noise],
    repetition: Math.max(
      LEAST_REPETITION,
      HALF_AFTER_REPETITIONS / (HALF_AFTER_REPETITIONS - 1 + evidence.occurrences),
    ),
  };
}

/** Over 0, since nothing that is listed is impossible, and up to 1. */
export function scoreOf(evidence: Evidence): number {
  const product = Object.values(scoreParts(evidence)).reduce(
    (score: number, part: number) => score * part,
    1,
  );
  return Math.max(1, Math.round(product * DECIMALS)) / DECIMALS;
}
