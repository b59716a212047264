/** Alerts and outbound deliveries as JSON. */
import type { DeliveryActor } from '../actors/delivery.ts';
import type { Tenant } from '../commands/state.ts';
import type { Alert, AlertMatch, AlertStatus, Candidate } from '../domain/alert.ts';
import { sharedFields } from '../domain/event.ts';
import { type IntegrationId, serviceIdOf, type TenantId } from '../domain/ids.ts';
import type { OutboundSubject } from '../domain/outbound.ts';
import { isoTime } from './json.ts';

export interface AlertsRequest {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly service: string | null;
  readonly status: AlertStatus | null;
}

/** Newest first. */
export function alertsPage(tenant: Tenant, { page, perPage, service, status }: AlertsRequest): object {
  const matching = [...tenant.alerts.alerts.values()]
    .map(({ context }) => context)
    .filter((alert) => service === null || serviceNameOf(alert.match) === service)
    .filter((alert) => status === null || alert.status === status)
    .reverse();
  const first = (page - 1) * perPage;
  return {
    alerts: matching.slice(first, first + perPage).map((alert) => summary(tenant.id, alert)),
    page,
    per_page: perPage,
    total_pages: Math.ceil(matching.length / perPage),
    total: matching.length,
    filter_service: service,
    filter_status: status,
  };
}

/** An alert and what may have caused it. */
export function alertJson(tenantId: TenantId, alert: Alert): object {
  return { ...summary(tenantId, alert), candidates: alert.candidates.map(candidateJson) };
}

export function alertDetail(tenant: Tenant, alert: Alert): object {
  const deliveries = tenant.outbox.latestFirst(
    ({ subject }) => subject.type === 'note' && subject.alertId === alert.id,
  );
  return { ...alertJson(tenant.id, alert), deliveries: deliveries.map(deliveryJson) };
}

export function deliveriesOf(tenant: Tenant, integrationId: IntegrationId): string {
  return JSON.stringify(
    tenant.outbox.latestFirst((delivery) => delivery.integrationId === integrationId).map(deliveryJson),
  );
}

function summary(tenantId: TenantId, alert: Alert): object {
  const { match } = alert;
  const service = serviceNameOf(match);
  return {
    id: alert.id,
    integration_id: alert.integrationId,
    type: alert.tool,
    key: alert.key,
    title: alert.title,
    severity: alert.severity,
    url: alert.url,
    status: alert.status,
    started_at: isoTime(alert.startedAtMs),
    received_at: isoTime(alert.receivedAtMs),
    resolved_at: alert.resolvedAtMs === null ? null : isoTime(alert.resolvedAtMs),
    service,
    service_id: service === null ? null : serviceIdOf(tenantId, service),
    matched_by:
      match.type === 'matched' ? { source: match.source, via: match.via, exact: match.exact } : null,
    unmatched_reason: match.type === 'unmatched' ? match.reason : null,
    candidate_count: alert.candidates.length,
  };
}

export function serviceNameOf(match: AlertMatch): string | null {
  return match.type === 'matched' ? match.serviceName : null;
}

function candidateJson({ event, minutesBefore, score, reasons, occurrences }: Candidate): object {
  return {
    minutes_before: minutesBefore,
    score,
    reasons,
    occurrences,
    event: {
      id: event.id,
      ...sharedFields(event),
      timestamp: isoTime(event.timestampMs),
      received_at: isoTime(event.receivedAtMs),
      expires_at: isoTime(event.expiresAtMs),
    },
  };
}

export function deliveryJson({ state, context }: DeliveryActor): object {
  const isOver = state === 'delivered' || state === 'dead-lettered';
  return {
    id: context.id,
    integration_id: context.integrationId,
    ...subjectJson(context.subject),
    state,
    attempts: context.attempts,
    queued_at: isoTime(context.queuedAtMs),
    updated_at: isoTime(context.updatedAtMs),
    next_attempt_at: isOver || state === 'sending' ? null : isoTime(context.notBeforeMs),
    detail: context.detail,
  };
}

function subjectJson(subject: OutboundSubject): object {
  const none = { alert_id: null, event_id: null, agent_id: null };
  switch (subject.type) {
    case 'note':
      return { kind: subject.type, ...none, alert_id: subject.alertId };
    case 'change-event':
      return { kind: subject.type, ...none, event_id: subject.event.id };
    case 'agent-stale':
    case 'agent-returned':
      return { kind: subject.type, ...none, agent_id: subject.agent.id };
  }
}
