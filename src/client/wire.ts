/**
 * What travels between a client and the server, as JSON. All of it comes from the schemas by which the server judges
 * what it is sent, and describes what it answers. Only their types: a client brings no validator along.
 */
import type { z } from 'zod';
import type { EventType } from '../domain/event.ts';
import type { agentListSchema, agentSchema, eventLogSchema } from '../http/api-schemas/agents.ts';
import type { alertPageSchema, alertSchema } from '../http/api-schemas/alerts.ts';
import type { batchResultSchema, storedEventSchema } from '../http/api-schemas/events.ts';
import type { healthSchema, readinessSchema } from '../http/api-schemas/health.ts';
import type { deliverySchema, integrationSchema } from '../http/api-schemas/integrations.ts';
import type { serviceListSchema, serviceLogSchema, windowSchema } from '../http/api-schemas/services.ts';
import type { webhookResultSchema } from '../http/api-schemas/webhooks.ts';
import type {
  eventSchema,
  integrationUpdateSchema,
  newIntegrationSchema,
  registrationSchema,
} from '../http/schemas.ts';

/** An event as it is sent. What is optional may be left out, or be null. */
export type EventBody = Readonly<z.input<typeof eventSchema>>;
export type Registration = Readonly<z.input<typeof registrationSchema>>;
export type NewIntegration = Readonly<z.input<typeof newIntegrationSchema>>;
export type IntegrationConfig = Readonly<z.input<typeof integrationUpdateSchema>['config']>;

/** Of an agent's event log. */
export interface EventFilter {
  readonly service?: string;
  readonly vendor?: string;
  readonly event_type?: EventType;
}

export interface AlertFilter {
  readonly service?: string;
  readonly status?: AlertSummary['status'];
}

export interface ServiceEventQuery extends Pick<PageQuery, 'per_page'> {
  /** Id of an event: only older ones are answered. */
  readonly before?: string;
  readonly event_type?: EventType;
}

export interface PageQuery {
  readonly per_page?: 10 | 20 | 50 | 100;
  /** From 1. */
  readonly page?: number;
}

export type Agent = Readonly<z.output<typeof agentSchema>>;
/** As the list of agents has it. */
export type AgentEntry = Readonly<z.output<typeof agentListSchema>[number]>;
/** As an agent's event log has it. */
export type StoredEvent = Readonly<z.output<typeof storedEventSchema>>;
export type AgentWithEvents = Readonly<z.output<typeof eventLogSchema>>;
export type BatchResult = Readonly<z.output<typeof batchResultSchema>>;
export type Service = Readonly<z.output<typeof serviceListSchema>[number]>;
export type ServiceEvents = Readonly<z.output<typeof serviceLogSchema>>;
/** What is live of a service. */
export type StateWindow = Readonly<z.output<typeof windowSchema>>;
export type WindowEvent = Readonly<StateWindow['deploy_events'][number]>;
export type Integration = Readonly<z.output<typeof integrationSchema>>;
/** Something that was sent to an alerting tool, or is to be. */
export type Delivery = Readonly<z.output<typeof deliverySchema>>;
export type AlertPage = Readonly<z.output<typeof alertPageSchema>>;
/** As a list of alerts has it. */
export type AlertSummary = Readonly<AlertPage['alerts'][number]>;
export type Alert = Readonly<z.output<typeof alertSchema>>;
/** An event that may have caused an alert. */
export type Candidate = Readonly<Alert['candidates'][number]>;
export type WebhookResult = Readonly<z.output<typeof webhookResultSchema>>;
export type Health = Readonly<z.output<typeof healthSchema>>;
export type Readiness = Readonly<z.output<typeof readinessSchema>>;

export type { EventType };
