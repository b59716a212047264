/** Alerts: what a tool says is wrong, since when and with which service; and what changed just before. */
import { type ContextEvent, type EventFacts, expiresAtMs, timestampOf } from './event.ts';
import { type AlertId, type EventId, eventIdOf, type IntegrationId, type TenantId } from './ids.ts';
import type { IntegrationType } from './integration.ts';

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** A name that a service may go by, and the field of the delivery that gave it (`labels.service`, …). */
export interface ServiceHint {
  readonly source: string;
  readonly name: string;
}

/** One alert of a delivery, as the parser of its tool understands it. */
export interface AlertSignal {
  /** What the tool calls it, the same in every delivery about it: an incident id, a fingerprint. */
  readonly key: string;
  readonly status: AlertStatus;
  /** Null where the tool does not say: then it is the receipt. */
  readonly startedAtMs: number | null;
  /** When it was resolved; null while it fires, and where the tool does not say. */
  readonly endedAtMs: number | null;
  readonly title: string;
  readonly severity: string | null;
  /** Where a human reads on in the tool; http or https. */
  readonly url: string | null;
  /** Names its service may go by, the most telling first. */
  readonly serviceHints: readonly ServiceHint[];
  /** Resources it is about (pods, instances, databases …), to be held against the entities of events. */
  readonly entities: readonly string[];
}

/** An event of the past, as correlation weighs it. */
export interface PastEvent extends EventFacts {
  readonly id: EventId;
  readonly timestampMs: number;
  readonly receivedAtMs: number;
  readonly expiresAtMs: number;
}

/** An event of a tenant as correlation weighs it: without its log line, which goes nowhere. */
export function pastEventOf(
  tenant: TenantId,
  event: ContextEvent,
  { receivedAtMs, eventNumber }: { readonly receivedAtMs: number; readonly eventNumber: number },
): PastEvent {
  const { rawLine: _, ttlSeconds: __, ...facts } = event;
  return {
    ...facts,
    id: eventIdOf(tenant, receivedAtMs, eventNumber),
    timestampMs: timestampOf(event, receivedAtMs),
    receivedAtMs,
    expiresAtMs: expiresAtMs(event, receivedAtMs),
  };
}

export const CANDIDATE_REASONS = [
  'same_service',
  'dependency',
  'same_entity',
  'changed_before_start',
  'still_live',
  'repeated',
  'autoscaling',
] as const;
export type CandidateReason = (typeof CANDIDATE_REASONS)[number];

/** Something that may have caused an alert. */
export interface Candidate {
  readonly event: PastEvent;
  /** From the event to the start of the alert, in minutes with one decimal; negative where it came after. */
  readonly minutesBefore: number;
  /** Over 0 and up to 1: how much speaks for it. */
  readonly score: number;
  readonly reasons: readonly CandidateReason[];
  /** Identical events that it stands for, itself among them. */
  readonly occurrences: number;
}

/** Which service an alert is about, or why that is not known. */
export type AlertMatch =
  | {
      readonly type: 'matched';
      readonly serviceName: string;
      /** The field of the delivery that led there. */
      readonly source: string;
      readonly via: 'name' | 'service_map';
      /** False where the names differ in upper and lower case. */
      readonly exact: boolean;
    }
  | {
      readonly type: 'unmatched';
      /** What was tried, as a sentence for the operator. */
      readonly reason: string;
    };

/** What its tool tells of an alert that fires. */
export interface AlertFacts {
  /** What its tool calls it. */
  readonly key: string;
  readonly startedAtMs: number;
  readonly title: string;
  readonly severity: string | null;
  readonly url: string | null;
  /** Names its service may go by: kept, since a service may be known, or mapped, later than its alert. */
  readonly serviceHints: readonly ServiceHint[];
  /** Resources it is about. */
  readonly entities: readonly string[];
}

export interface Alert extends AlertFacts {
  readonly id: AlertId;
  /** That it came through. */
  readonly integrationId: IntegrationId;
  readonly tool: IntegrationType;
  readonly status: AlertStatus;
  readonly receivedAtMs: number;
  readonly resolvedAtMs: number | null;
  readonly match: AlertMatch;
  /** Best first, as of its start. */
  readonly candidates: readonly Candidate[];
  /** Its candidates have been looked for again, when what was late had come. */
  readonly isSettled: boolean;
}

/** What a delivery says of one alert, worked out. */
export type AlertChange =
  | (AlertFacts & {
      readonly type: 'fired';
      readonly alertId: AlertId;
      readonly match: AlertMatch;
      readonly candidates: readonly Candidate[];
    })
  | {
      readonly type: 'resolved';
      readonly key: string;
      readonly endedAtMs: number;
      /** Of the alert that has ended, where the tool says when it began. */
      readonly alertId?: AlertId;
    };
