/**
 * What a tenant's alerts and deliveries must be, naively: its commands gone through from the first, by rules that are
 * written down here once more. Nothing is bounded, forgotten or indexed.
 */
import type { Candidate } from '../../src/domain/alert.ts';
import type { TenantCommand } from '../../src/domain/command.ts';
import {
  type AgentId,
  type AlertId,
  type DeliveryId,
  eventIdOf,
  type IntegrationId,
  type OutboundId,
  outboundIdOf,
  serviceIdOf,
  type TenantId,
} from '../../src/domain/ids.ts';

type Of<T extends TenantCommand['type']> = Extract<TenantCommand, { type: T }>;
type Change = Of<'process-delivery'>['changes'][number];
type Fired = Extract<Change, { type: 'fired' }>;

interface ModelAlert {
  fired: Fired;
  readonly integrationId: IntegrationId;
  readonly tool: string;
  readonly receivedAtMs: number;
  status: 'firing' | 'resolved';
  resolvedAtMs: number | null;
  candidates: readonly Candidate[];
}

interface Subject {
  readonly kind: 'note' | 'change-event' | 'agent-stale' | 'agent-returned';
  readonly alert_id: string | null;
  readonly event_id: string | null;
  readonly agent_id: string | null;
  /** Of an alarm: the id of its end. */
  readonly end?: OutboundId;
}

interface ModelDelivery {
  readonly id: OutboundId;
  readonly integrationId: IntegrationId;
  subject: Subject;
  state: 'queued' | 'sending' | 'waiting' | 'delivered' | 'dead-lettered';
  attempts: number;
  queuedAtMs: number;
  updatedAtMs: number;
  notBeforeMs: number;
  detail: string | null;
  isOutdated: boolean;
}

interface ModelIntegration {
  readonly id: IntegrationId;
  readonly type: string;
  readonly direction: string;
  config: Readonly<Record<string, unknown>>;
}

interface ModelAgent {
  lastSeenAtMs: number;
  staleSinceMs: number | null;
}

const NOTHING = { alert_id: null, event_id: null, agent_id: null };
const TOO_LATE = 'the agent was back before this was delivered';

export class AlertsModel {
  readonly alerts = new Map<AlertId, ModelAlert>();
  readonly deliveries = new Map<OutboundId, ModelDelivery>();
  readonly pending = new Map<DeliveryId, IntegrationId>();
  readonly agents = new Map<AgentId, ModelAgent>();
  readonly #tenantId: TenantId;
  readonly #integrations = new Map<IntegrationId, ModelIntegration>();
  /** Ends that were told of before what they end. */
  readonly #earlyEnds = new Map<AlertId, number>();
  #events = 0;

  constructor(tenantId: TenantId) {
    this.#tenantId = tenantId;
  }

  isRefused(command: TenantCommand): boolean {
    switch (command.type) {
      case 'process-delivery':
        return !this.pending.has(command.deliveryId);
      case 'correlate-alert':
        return !this.alerts.has(command.alertId);
      case 'mark-agent-stale': {
        const agent = this.agents.get(command.agentId);
        return agent?.staleSinceMs !== null || agent.lastSeenAtMs !== command.lastSeenAtMs;
      }
      case 'start-attempt':
        return !['queued', 'waiting'].includes(this.deliveries.get(command.outboundId)?.state ?? '');
      case 'finish-attempt':
        return this.deliveries.get(command.outboundId)?.state !== 'sending';
      default:
        return false;
    }
  }

  /** A command that was not refused. */
  take(command: TenantCommand, atMs: number): void {
    switch (command.type) {
      case 'create-integration': {
        const { integrationId: id, integrationType: type, direction } = command;
        this.#integrations.set(id, { id, type, direction, config: {} });
        return;
      }
      case 'configure-integration': {
        const integration = this.#integrations.get(command.integrationId);
        if (integration !== undefined) integration.config = JSON.parse(command.configJson);
        return;
      }
      case 'delete-integration':
        return this.#delete(command.integrationId);
      case 'receive-delivery':
        this.pending.set(command.deliveryId, command.integrationId);
        return;
      case 'process-delivery':
        this.pending.delete(command.deliveryId);
        for (const change of command.changes) this.#change(command.integrationId, change, atMs);
        return;
      case 'correlate-alert':
        return this.#correlate(command, atMs);
      case 'record-events':
        for (const { eventType } of command.events) this.#record(eventType, atMs);
        return this.#seen(command.agentId, atMs);
      case 'heartbeat':
      case 'register-agent':
        return this.#seen(command.agentId, atMs);
      case 'mark-agent-stale':
        return this.#silent(command.agentId, atMs);
      case 'start-attempt': {
        const delivery = this.deliveries.get(command.outboundId);
        if (delivery === undefined) return;
        Object.assign(delivery, { state: 'sending', updatedAtMs: atMs, isOutdated: false });
        delivery.attempts += 1;
        return;
      }
      case 'finish-attempt':
        return this.#finish(command, atMs);
    }
  }

  // Answers, as JSON values.

  page(page: number, perPage: number, status: string | null): object {
    const matching = [...this.alerts]
      .filter(([, alert]) => status === null || alert.status === status)
      .reverse();
    return {
      alerts: matching
        .slice((page - 1) * perPage, page * perPage)
        .map(([id, alert]) => this.#summary(id, alert)),
      ...{
        page,
        per_page: perPage,
        total_pages: Math.ceil(matching.length / perPage),
        total: matching.length,
      },
      ...{ filter_service: null, filter_status: status },
    };
  }

  detail(id: AlertId): object | undefined {
    const alert = this.alerts.get(id);
    if (alert === undefined) return undefined;
    return {
      ...this.#summary(id, alert),
      candidates: alert.candidates.map(candidateJson),
      deliveries: this.#listed(({ subject }) => subject.kind === 'note' && subject.alert_id === id),
    };
  }

  deliveriesOf(integration: IntegrationId): object[] {
    return this.#listed(({ integrationId }) => integrationId === integration);
  }

  #delete(integration: IntegrationId): void {
    this.#integrations.delete(integration);
    for (const [id, of] of this.pending) if (of === integration) this.pending.delete(id);
    for (const [id, { integrationId }] of this.deliveries) {
      if (integrationId === integration) this.deliveries.delete(id);
    }
  }

  #change(integrationId: IntegrationId, change: Change, atMs: number): void {
    const integration = this.#integrations.get(integrationId);
    if (integration === undefined) return;
    const firing = [...this.alerts.values()].find(
      (alert) =>
        alert.status === 'firing' && alert.integrationId === integrationId && alert.fired.key === change.key,
    );
    if (change.type === 'resolved') {
      if (firing !== undefined) Object.assign(firing, { status: 'resolved', resolvedAtMs: change.endedAtMs });
      else if (integration.type === 'pagerduty' && change.alertId !== undefined)
        this.#earlyEnds.set(change.alertId, change.endedAtMs);
      return;
    }
    const { alertId, candidates, key } = change;
    if (firing !== undefined) {
      if (firing.fired.match.type === 'matched' || change.match.type === 'unmatched') return;
      Object.assign(firing, { fired: { ...firing.fired, match: change.match }, candidates });
      this.#wantNotes(integration, firing.fired.alertId, key, atMs, () => true);
      return;
    }
    const known = this.alerts.get(alertId);
    if (known !== undefined) {
      const fired = { ...known.fired, match: change.match };
      Object.assign(known, { status: 'firing', resolvedAtMs: null, candidates, fired });
    } else {
      this.alerts.set(alertId, {
        ...{ fired: change, integrationId, tool: integration.type, receivedAtMs: atMs, candidates },
        ...{ status: 'firing', resolvedAtMs: null },
      });
    }
    const endedAtMs = this.#earlyEnds.get(alertId);
    if (endedAtMs !== undefined) {
      const resolvedAtMs = Math.max(endedAtMs, change.startedAtMs);
      Object.assign(this.alerts.get(alertId) ?? {}, { status: 'resolved', resolvedAtMs });
    }
    this.#wantNotes(integration, alertId, key, atMs, () => true);
  }

  #correlate({ alertId, match, candidates }: Of<'correlate-alert'>, atMs: number): void {
    const alert = this.alerts.get(alertId);
    if (alert === undefined) return;
    const fired = { ...alert.fired, match: match ?? alert.fired.match };
    const isNews =
      JSON.stringify([alert.fired.match, alert.candidates]) !== JSON.stringify([fired.match, candidates]);
    Object.assign(alert, { fired, candidates });
    const integration = this.#integrations.get(alert.integrationId);
    if (!isNews || integration === undefined) return;
    this.#wantNotes(integration, alertId, alert.fired.key, atMs, (told) => {
      return (this.alerts.get(told as AlertId)?.receivedAtMs ?? 0) <= alert.receivedAtMs;
    });
  }

  #wantNotes(
    from: ModelIntegration,
    alertId: AlertId,
    incident: string,
    atMs: number,
    mayReplace: (alertId: string) => boolean,
  ): void {
    if (from.type !== 'pagerduty') return;
    const all = [...this.#integrations.values()].filter((each) =>
      sends(each, 'pagerduty', 'pagerduty_token'),
    );
    const tokenOf = ({ config }: ModelIntegration) =>
      (config as { pagerduty_token?: unknown }).pagerduty_token;
    const writers = (all.includes(from) ? [from] : all).map(
      (each) => all.find((other) => tokenOf(other) === tokenOf(each)) ?? each,
    );
    for (const { id: integrationId } of new Set(writers)) {
      const id = outboundIdOf(integrationId, `note ${incident}`);
      const told = this.deliveries.get(id)?.subject.alert_id ?? null;
      if (told !== null && !mayReplace(told)) continue;
      this.#want(id, integrationId, { ...NOTHING, kind: 'note', alert_id: alertId }, atMs);
    }
  }

  #record(eventType: string, atMs: number): void {
    this.#events += 1;
    if (eventType !== 'deploy' && eventType !== 'flag_change') return;
    const eventId = eventIdOf(this.#tenantId, atMs, this.#events);
    for (const integration of this.#integrations.values()) {
      if (!sends(integration, 'pagerduty', 'pagerduty_routing_key')) continue;
      const id = outboundIdOf(integration.id, `change ${eventId}`);
      this.#want(id, integration.id, { ...NOTHING, kind: 'change-event', event_id: eventId }, atMs);
    }
  }

  #silent(agentId: AgentId, atMs: number): void {
    const agent = this.agents.get(agentId);
    if (agent === undefined) return;
    agent.staleSinceMs = atMs;
    for (const integration of this.#integrations.values()) {
      if (!sends(integration, 'alertmanager', 'alertmanager_url')) continue;
      const end = outboundIdOf(integration.id, `returned ${agentId} ${atMs}`);
      const subject = { ...NOTHING, kind: 'agent-stale', agent_id: agentId, end } as const;
      this.#want(outboundIdOf(integration.id, `stale ${agentId} ${atMs}`), integration.id, subject, atMs);
    }
  }

  #seen(agentId: AgentId, atMs: number): void {
    const since = this.agents.get(agentId)?.staleSinceMs ?? null;
    this.agents.set(agentId, { lastSeenAtMs: atMs, staleSinceMs: null });
    if (since === null) return;
    for (const integration of this.#integrations.values()) {
      const raised = this.deliveries.get(outboundIdOf(integration.id, `stale ${agentId} ${since}`));
      if (raised === undefined && !sends(integration, 'alertmanager', 'alertmanager_url')) continue;
      if (raised !== undefined) this.#giveUp(raised, atMs);
      const subject = { ...NOTHING, kind: 'agent-returned', agent_id: agentId } as const;
      this.#want(outboundIdOf(integration.id, `returned ${agentId} ${since}`), integration.id, subject, atMs);
    }
  }

  #want(id: OutboundId, integrationId: IntegrationId, subject: Subject, atMs: number): void {
    const known = this.deliveries.get(id);
    if (known === undefined) {
      const fresh = { state: 'queued', attempts: 0, detail: null, isOutdated: false } as const;
      const times = { queuedAtMs: atMs, updatedAtMs: atMs, notBeforeMs: atMs };
      this.deliveries.set(id, { id, integrationId, subject, ...fresh, ...times });
      return;
    }
    known.subject = subject;
    if (known.state === 'sending') known.isOutdated = true;
    if (known.state === 'delivered' || known.state === 'dead-lettered') requeue(known, atMs);
  }

  #finish({ outboundId, result }: Of<'finish-attempt'>, atMs: number): void {
    const delivery = this.deliveries.get(outboundId);
    if (delivery === undefined) return;
    delivery.detail = result.detail;
    delivery.updatedAtMs = atMs;
    if (result.type === 'gone' || (result.type === 'delivered' && delivery.isOutdated))
      requeue(delivery, atMs);
    else if (result.type === 'delivered') delivery.state = 'delivered';
    else if (result.type === 'dead') delivery.state = 'dead-lettered';
    else Object.assign(delivery, { state: 'waiting', notBeforeMs: result.notBeforeMs });
    const { end } = delivery.subject;
    if (end !== undefined && this.deliveries.has(end)) this.#giveUp(delivery, atMs);
  }

  #giveUp(delivery: ModelDelivery, atMs: number): void {
    if (delivery.state !== 'queued' && delivery.state !== 'waiting') return;
    Object.assign(delivery, { state: 'dead-lettered', detail: TOO_LATE, updatedAtMs: atMs });
  }

  #summary(id: AlertId, alert: ModelAlert): object {
    const { key, title, severity, url, startedAtMs, match } = alert.fired;
    const service = match.type === 'matched' ? match.serviceName : null;
    return {
      ...{ id, integration_id: alert.integrationId, type: alert.tool, key, title, severity, url },
      ...{ status: alert.status, started_at: isoTime(startedAtMs), received_at: isoTime(alert.receivedAtMs) },
      resolved_at: alert.resolvedAtMs === null ? null : isoTime(alert.resolvedAtMs),
      ...{ service, service_id: service === null ? null : serviceIdOf(this.#tenantId, service) },
      matched_by:
        match.type === 'matched' ? { source: match.source, via: match.via, exact: match.exact } : null,
      unmatched_reason: match.type === 'unmatched' ? match.reason : null,
      candidate_count: alert.candidates.length,
    };
  }

  #listed(which: (delivery: ModelDelivery) => boolean): object[] {
    return [...this.deliveries.values()]
      .filter(which)
      .sort((a, b) => b.updatedAtMs - a.updatedAtMs || (a.id < b.id ? -1 : 1))
      .map(
        ({ id, integrationId, subject, state, attempts, queuedAtMs, updatedAtMs, notBeforeMs, detail }) => {
          const { end: _, ...about } = subject;
          const isToCome = state === 'queued' || state === 'waiting';
          return {
            ...{ id, integration_id: integrationId, ...about, state, attempts, detail },
            ...{ queued_at: isoTime(queuedAtMs), updated_at: isoTime(updatedAtMs) },
            next_attempt_at: isToCome ? isoTime(notBeforeMs) : null,
          };
        },
      );
  }
}

function sends({ type, direction, config }: ModelIntegration, ofType: string, key: string): boolean {
  const value = Object.hasOwn(config, key) ? config[key] : undefined;
  return type === ofType && direction !== 'inbound' && typeof value === 'string' && value !== '';
}

function requeue(delivery: ModelDelivery, atMs: number): void {
  const times = { queuedAtMs: atMs, updatedAtMs: atMs, notBeforeMs: atMs };
  Object.assign(delivery, { state: 'queued', attempts: 0, isOutdated: false, ...times });
}

function candidateJson({ event, minutesBefore, score, reasons, occurrences }: Candidate): object {
  const { id, serviceName, vendor, entity, eventType, oldValue, newValue, actor, sha, confidence } = event;
  return {
    ...{ minutes_before: minutesBefore, score, reasons, occurrences },
    event: {
      ...{ id, service_name: serviceName, vendor, entity, event_type: eventType },
      ...{ old_value: oldValue, new_value: newValue, actor, sha, confidence },
      ...{ timestamp: isoTime(event.timestampMs), received_at: isoTime(event.receivedAtMs) },
      expires_at: isoTime(event.expiresAtMs),
    },
  };
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
