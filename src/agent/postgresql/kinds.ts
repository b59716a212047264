/**
 * What the plugin can find, and how each finding is reported.
 *
 * `ttlSeconds`: how long it may explain trouble. `repeatSeconds`: a condition that lasts writes a line a second; it
 * is reported at once and then at most this often, so a person sees one entry and its count. It is at most half
 * of the ttl, so that a condition that lasts never drops out of the service's window. Null: every line is news.
 */
import type { EventType } from '../../domain/event.ts';

export interface KindReport {
  readonly eventType: EventType;
  /** Over 0 and up to 1: how sure it is that what the event says has happened to the service. */
  readonly confidence: number;
  readonly ttlSeconds: number;
  readonly repeatSeconds: number | null;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** A setting shows its effect late: under the next peak, after the next vacuum, at the next restart. */
const CHANGE = { eventType: 'flag_change', ttlSeconds: 4 * HOUR } as const;
/** Caches stay cold, clients reconnect and replicas catch up for a while after. */
const RESTART = { eventType: 'restart', ttlSeconds: HOUR } as const;
/** Passes with the load; a fresh line comes while it lasts. */
const PRESSURE = { eventType: 'saturation', ttlSeconds: 15 * MINUTE, repeatSeconds: 5 * MINUTE } as const;
/** Ends with its transaction; matters while it happens again and again. */
const CONTENTION = { eventType: 'saturation', ttlSeconds: 10 * MINUTE, repeatSeconds: 2 * MINUTE } as const;
/** Lasts until the other end is mended. */
const DEPENDENCY = {
  eventType: 'dependency_failure',
  ttlSeconds: 30 * MINUTE,
  repeatSeconds: 10 * MINUTE,
} as const;

export const KINDS = {
  'parameter-changed': { ...CHANGE, confidence: 0.95, repeatSeconds: null },
  // In the file but not in effect; every reload says so again until the restart.
  'parameter-pending': { ...CHANGE, confidence: 0.3, repeatSeconds: 2 * HOUR },
  // Nothing changed yet, but the next restart may not come up.
  'configuration-refused': { ...CHANGE, confidence: 0.3, repeatSeconds: HOUR },

  restart: { ...RESTART, confidence: 0.95, repeatSeconds: null },

  'connection-slots': { ...PRESSURE, confidence: 0.9 },
  'too-many-clients': { ...PRESSURE, confidence: 0.9 },
  'connection-limit': { ...PRESSURE, confidence: 0.9 },
  // A full disk does not empty itself.
  'disk-full': { ...PRESSURE, confidence: 0.9, ttlSeconds: HOUR, repeatSeconds: 10 * MINUTE },
  'out-of-memory': { ...PRESSURE, confidence: 0.9 },
  'no-process': { ...PRESSURE, confidence: 0.9 },
  'frequent-checkpoints': { ...PRESSURE, confidence: 0.9 },
  // Often a query's habit rather than a change.
  'temporary-file': { ...PRESSURE, confidence: 0.3 },

  deadlock: { ...CONTENTION, confidence: 0.6 },
  'lock-timeout': { ...CONTENTION, confidence: 0.6 },
  'lock-wait': { ...CONTENTION, confidence: 0.6 },
  'statement-timeout': { ...CONTENTION, confidence: 0.6 },
  // The text is in a language we do not read: a timeout, or a person who pressed Ctrl-C.
  'statement-canceled': { ...CONTENTION, confidence: 0.3 },

  'archive-failed': { ...DEPENDENCY, confidence: 0.9 },
  'replication-broken': { ...DEPENDENCY, confidence: 0.9 },
} as const satisfies Readonly<Record<string, KindReport>>;

export type Kind = keyof typeof KINDS;

/** What a line says, before it is decided whether it is news. */
export interface Finding {
  readonly kind: Kind;
  /** The parameter, file, lock … that it is about. */
  readonly entity: string;
  readonly oldValue?: string;
  readonly newValue?: string;
  readonly actor?: string;
  /** What makes it the same as an earlier finding of its kind; default its entity. */
  readonly sameAs?: string;
}
