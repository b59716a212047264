/**
 * What travels between an agent or a reader and the server, as JSON. A sent event is a plain type, checked by the
 * server; an answer is a schema, checked here, so that a wrong address is a clear error and not an `undefined`
 * inside the next request. Answers keep fields that this version does not know.
 */
import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';

/** Body of `POST /v1/events`. */
export interface EventBody {
  /** OpenTelemetry `service.name`; not empty. */
  readonly service_name: string;
  /** The plugin that saw it; not empty. */
  readonly vendor: string;
  /** What it happened to; not empty. */
  readonly entity: string;
  readonly event_type: EventType;
  readonly old_value?: string;
  readonly new_value?: string;
  /** Who or what triggered it. */
  readonly actor?: string;
  /** Source-control revision. */
  readonly sha?: string;
  /** Over 0 and up to 1. */
  readonly confidence: number;
  /** Whole seconds, over 0. */
  readonly ttl_seconds: number;
  /** ISO 8601; without it the server takes the time of receipt. */
  readonly timestamp?: string;
  /** Kept for audit on the server's box, sent nowhere. */
  readonly raw_line?: string;
}

/** Body of `POST /v1/agents/register`. */
export interface Registration {
  readonly hostname: string;
  /** Falls back to the hostname. */
  readonly name?: string;
  readonly version?: string;
}

/** Query of `GET /v1/agents/{id}`. */
export interface EventLogQuery {
  readonly per_page?: 10 | 20 | 50 | 100;
  /** From 1. */
  readonly page?: number;
  readonly service?: string;
  readonly vendor?: string;
  readonly event_type?: EventType;
}

const text = z.string();
const optionalText = z.string().nullable();
const eventType = z.enum(EVENT_TYPES);

const agentFields = {
  id: text,
  hostname: text,
  name: text,
  agent_version: optionalText,
  registered_at: text,
  last_seen_at: text,
};

export const registeredAgent = z.looseObject({ ...agentFields, tenant_id: text, api_key_id: text });
export type RegisteredAgent = z.infer<typeof registeredAgent>;

export const agentList = z.array(z.looseObject({ ...agentFields, events_last_hour: z.number() }));
export type ListedAgent = z.infer<typeof agentList>[number];

const storedEvent = z.looseObject({
  service_name: text,
  vendor: text,
  entity: text,
  event_type: eventType,
  old_value: optionalText,
  new_value: optionalText,
  actor: optionalText,
  sha: optionalText,
  confidence: z.number(),
  ttl_seconds: z.number(),
  timestamp: text,
});

export const agentPage = z.looseObject({
  agent: z.looseObject(agentFields),
  events: z.array(storedEvent),
  page: z.number(),
  per_page: z.number(),
  total_pages: z.number(),
  total: z.number(),
  filter_services: z.array(text),
  filter_vendors: z.array(text),
  filter_service: optionalText,
  filter_vendor: optionalText,
  filter_event_type: optionalText,
});
export type AgentPage = z.infer<typeof agentPage>;

export const serviceList = z.array(
  z.looseObject({ id: text, tenant_id: text, agent_id: text, name: text, last_event_at: text }),
);
export type ListedService = z.infer<typeof serviceList>[number];

const windowEvents = z.array(
  z.looseObject({
    event_type: eventType,
    vendor: text,
    entity: text,
    old_value: optionalText,
    new_value: optionalText,
    timestamp: text,
    actor: optionalText.optional(),
  }),
);

export const serviceContext = z.looseObject({
  service: text,
  deploy_events: windowEvents,
  restart_events: windowEvents,
  saturation_events: windowEvents,
  flag_change_events: windowEvents.optional(),
  circuit_open_events: windowEvents.optional(),
  dependency_failure_events: windowEvents.optional(),
  updated_at: text,
});
export type ServiceContext = z.infer<typeof serviceContext>;
