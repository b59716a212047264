/** The hour before an alert, told in minutes. */
import { correlate } from '../../src/alerting/correlation.ts';
import type { Candidate, PastEvent } from '../../src/domain/alert.ts';
import type { EventId } from '../../src/domain/ids.ts';

export const STARTED_AT_MS = Date.parse('2026-08-22T10:15:00Z');
export const MINUTE_MS = 60_000;
export const LOOKBACK_MS = 60 * MINUTE_MS;

/** An event as a story tells it; everything but what happened and when has a default. */
export type Told = Partial<Omit<PastEvent, 'id' | 'timestampMs' | 'receivedAtMs' | 'expiresAtMs'>> &
  Pick<PastEvent, 'eventType'> & {
    readonly id?: string;
    /** Before the start of the alert; negative for after it. */
    readonly minutesBefore: number;
    /** From then on. */
    readonly liveMinutes?: number;
  };

let made = 0;

export function happened({ id, minutesBefore, liveMinutes = 60, ...told }: Told): PastEvent {
  const timestampMs = STARTED_AT_MS - minutesBefore * MINUTE_MS;
  made += 1;
  return {
    id: (id ?? `event-${String(made).padStart(6, '0')}`) as EventId,
    serviceName: 'checkout-api',
    vendor: 'argocd',
    entity: 'checkout-api',
    oldValue: null,
    newValue: null,
    actor: null,
    sha: null,
    confidence: 1,
    timestampMs,
    receivedAtMs: timestampMs,
    expiresAtMs: timestampMs + liveMinutes * MINUTE_MS,
    ...told,
  };
}

export interface Alert {
  readonly startedAtMs?: number;
  readonly serviceName?: string;
  readonly entities?: readonly string[];
  readonly title?: string;
}

/** What the alert is put down to, among all that happened. */
export function causesOf(
  events: readonly PastEvent[],
  { startedAtMs = STARTED_AT_MS, serviceName = 'checkout-api', entities = [], title = '' }: Alert = {},
): readonly Candidate[] {
  const services = new Set(events.map((event) => event.serviceName));
  return correlate(
    { startedAtMs, serviceName, entities, title },
    {
      eventsOf: (name) => events.filter((event) => event.serviceName === name),
      serviceNamed: (text) => (services.has(text) ? text : undefined),
    },
    { lookbackMs: LOOKBACK_MS },
  );
}
