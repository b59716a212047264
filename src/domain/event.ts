/** ContextEvents: what an agent says happened to one entity of one service, and for how long it matters. */

export const EVENT_TYPES = [
  'deploy',
  'restart',
  'saturation',
  'flag_change',
  'circuit_open',
  'dependency_failure',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

const eventTypeNames: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(text: string): text is EventType {
  return eventTypeNames.has(text);
}

export type ChangeType = 'deploy' | 'flag_change';

/** Whether it is something that was done, and not something that happened. */
export function isChange(type: EventType): type is ChangeType {
  return type === 'deploy' || type === 'flag_change';
}

export interface ContextEvent {
  /** OpenTelemetry `service.name`. */
  readonly serviceName: string;
  /** The plugin that saw it. */
  readonly vendor: string;
  /** The application, pod, table … it happened to. */
  readonly entity: string;
  readonly eventType: EventType;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** Who or what triggered the change. */
  readonly actor: string | null;
  /** Source-control revision. */
  readonly sha: string | null;
  /** Over 0 and up to 1. */
  readonly confidence: number;
  readonly ttlSeconds: number;
  /** The event's own time, milliseconds since the epoch; null stands for its receipt. */
  readonly timestampMs: number | null;
  /** The log line it was read from: for audit on the box, never sent anywhere. */
  readonly rawLine: string | null;
}

/** The first millisecond at which the event is no longer relevant. */
export function expiresAtMs(event: ContextEvent, receivedAtMs: number): number {
  return receivedAtMs + event.ttlSeconds * 1000;
}

/** The event's own time, or its receipt where the sender gave none. */
export function timestampOf(event: ContextEvent, receivedAtMs: number): number {
  return event.timestampMs ?? receivedAtMs;
}

/** An event without its times and its log line. */
export type EventFacts = Omit<ContextEvent, 'ttlSeconds' | 'timestampMs' | 'rawLine'>;

/** What an event and a past one have in common, as JSON fields. */
export function sharedFields(event: EventFacts): object {
  return {
    service_name: event.serviceName,
    vendor: event.vendor,
    entity: event.entity,
    event_type: event.eventType,
    old_value: event.oldValue,
    new_value: event.newValue,
    actor: event.actor,
    sha: event.sha,
    confidence: event.confidence,
  };
}

/** What everybody may read of an event, as JSON fields: all but its times, which depend on its receipt. */
export function publicFields(event: ContextEvent): object {
  return { ...sharedFields(event), ttl_seconds: event.ttlSeconds };
}
