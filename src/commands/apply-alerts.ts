/** Applying what has to do with alerting tools: what they say, and what they are told. */
import { nameOf, type StaleSpell } from '../actors/agent.ts';
import type { DeliveryActor } from '../actors/delivery.ts';
import type { IntegrationActor } from '../actors/integration.ts';
import { type AlertChange, pastEventOf } from '../domain/alert.ts';
import type {
  CorrelateAlert,
  FinishAttempt,
  MarkAgentStale,
  ProcessDelivery,
  ReceiveDelivery,
  Stamp,
  StartAttempt,
} from '../domain/command.ts';
import type { ContextEvent } from '../domain/event.ts';
import { type AgentId, outboundIdOf } from '../domain/ids.ts';
import type { IntegrationType } from '../domain/integration.ts';
import { alarmIdOf, type OutboundSubject, type StaleAgentFacts } from '../domain/outbound.ts';
import type { Agent } from './agents.ts';
import type { State, Tenant } from './state.ts';

/**
 * How long a delivery of the same id is the same delivery. PagerDuty's ids are of one delivery, which it sends again
 * for two days. Alertmanager has none, and what stands for one comes again when an alert does, so that only the
 * latest is remembered: it is to catch what is sent again because our answer was lost.
 */
const REMEMBER_FOR_MS: { readonly [T in IntegrationType]: number } = {
  pagerduty: 48 * 3600 * 1000,
  alertmanager: 60 * 1000,
};

export function receiveDelivery(tenant: Tenant, command: ReceiveDelivery, { atMs }: Stamp): void {
  const { integrationId, deliveryId: id, toolDeliveryId, bodyJson } = command;
  const integration = tenant.integrations.get(integrationId);
  if (integration === undefined) return;
  integration.send({ type: 'delivery-received' });
  const { type } = integration.context;
  const rememberForMs = REMEMBER_FOR_MS[type];
  if (type === 'alertmanager') tenant.inbox.forgetIds(integrationId);
  tenant.inbox.take({ id, integrationId, receivedAtMs: atMs, bodyJson }, toolDeliveryId, rememberForMs);
}

export function processDelivery(tenant: Tenant, command: ProcessDelivery, stamp: Stamp): void {
  tenant.inbox.done(command.deliveryId);
  const integration = tenant.integrations.get(command.integrationId);
  if (integration === undefined) return;
  for (const change of command.changes) changeAlert(tenant, integration, change, stamp);
}

function changeAlert(
  tenant: Tenant,
  integration: IntegrationActor,
  change: AlertChange,
  { atMs }: Stamp,
): void {
  const { id: integrationId, type: tool } = integration.context;
  const firing = tenant.alerts.firing(integrationId, change.key);
  if (change.type === 'resolved') {
    const { alertId, endedAtMs } = change;
    if (firing !== undefined) tenant.alerts.resolve(firing, endedAtMs);
    // An incident ends once. Alertmanager's alerts come and go, and say the same beginning each time.
    else if (tool === 'pagerduty' && alertId !== undefined) tenant.alerts.endEarly(alertId, endedAtMs);
    return;
  }
  const { type: _, alertId: id, match, candidates, ...facts } = change;
  if (firing !== undefined) {
    // Told again of what fires already: news only where its service was not known, and now is.
    if (firing.context.match.type === 'matched' || match.type === 'unmatched') return;
    tenant.alerts.settle(firing, { match, candidates });
    wantNotes(tenant, integration, firing.context.id, change.key, atMs);
    return;
  }
  const endedAtMs = tenant.alerts.earlyEnds.get(id);
  let alert = tenant.alerts.alerts.get(id);
  if (alert !== undefined) tenant.alerts.fire(alert, { match, candidates });
  else {
    alert = tenant.alerts.add({
      ...facts,
      ...{ id, integrationId, tool, match, candidates },
      status: 'firing',
      receivedAtMs: atMs,
      resolvedAtMs: null,
      isSettled: false,
    });
  }
  // Whoever was paged still wants to know what changed: it has its note, and its causes are looked for once more.
  if (endedAtMs !== undefined) tenant.alerts.resolve(alert, Math.max(endedAtMs, change.startedAtMs));
  wantNotes(tenant, integration, id, change.key, atMs);
}

export function correlateAlert(
  tenant: Tenant,
  { alertId, match, candidates }: CorrelateAlert,
  { atMs }: Stamp,
): void {
  const alert = tenant.alerts.alerts.get(alertId);
  if (alert === undefined) return;
  const before = alert.context;
  const isNews =
    JSON.stringify([before.match, before.candidates]) !== JSON.stringify([match ?? before.match, candidates]);
  tenant.alerts.settle(alert, { match, candidates });
  const integration = tenant.integrations.get(alert.context.integrationId);
  if (!isNews || integration === undefined) return;
  const { key, receivedAtMs } = alert.context;
  wantNotes(tenant, integration, alertId, key, atMs, (note) => {
    // An incident that has fired again since has a note about that.
    const told = tenant.alerts.alerts.get(note.alertId)?.context;
    return told === undefined || told.receivedAtMs <= receivedAtMs;
  });
}

/**
 * One writer an account: where several integrations share one, it is the oldest of them, so that an incident gets one
 * note whichever of them has told of it.
 */
function noteWriters(tenant: Tenant, from: IntegrationActor): ReadonlySet<IntegrationActor> {
  const byToken = new Map<string | null, IntegrationActor>();
  for (const integration of tenant.integrations.values()) {
    const { pagerdutyToken } = integration.config;
    if (integration.sends.notes && !byToken.has(pagerdutyToken)) byToken.set(pagerdutyToken, integration);
  }
  const own = from.sends.notes && byToken.get(from.config.pagerdutyToken);
  return new Set(own ? [own] : byToken.values());
}

type Note = Extract<OutboundSubject, { readonly type: 'note' }>;

/**
 * Through the integration that the alert came by where that may send; else through those of its kind that may.
 *
 * @param mayReplace whether a note that says this may be made to say what there is now
 */
function wantNotes(
  tenant: Tenant,
  from: IntegrationActor,
  alertId: CorrelateAlert['alertId'],
  incident: string,
  atMs: number,
  mayReplace: (note: Note) => boolean = () => true,
): void {
  if (from.context.type !== 'pagerduty') return;
  for (const { context } of noteWriters(tenant, from)) {
    const id = outboundIdOf(context.id, `note ${incident}`);
    const known = tenant.outbox.deliveries.get(id)?.context.subject;
    if (known?.type === 'note' && !mayReplace(known)) continue;
    tenant.outbox.want(id, context.id, { type: 'note', alertId, incident }, atMs);
  }
}

/** A change that was recorded, to those who have asked to be told. */
export function wantChangeEvents(
  tenant: Tenant,
  event: ContextEvent,
  eventNumber: number,
  atMs: number,
): void {
  const past = pastEventOf(tenant.id, event, { receivedAtMs: atMs, eventNumber });
  for (const { context } of tenant.changeListeners) {
    const id = outboundIdOf(context.id, `change ${past.id}`);
    tenant.outbox.want(id, context.id, { type: 'change-event', event: past }, atMs);
  }
}

export function markAgentStale(
  { agents }: State,
  tenant: Tenant,
  { agentId }: MarkAgentStale,
  { atMs }: Stamp,
): void {
  const agent = tenant.agents.get(agentId);
  if (agent === undefined) return;
  const { hostname } = agent.registration;
  agents.advance(agent.number, { type: 'became-stale', atMs, name: nameOf(agent.registration), hostname });
  const { stale } = agent.context;
  if (stale === null) return;
  const facts = staleFacts(agentId, stale);
  for (const { context, sends } of tenant.integrations.values()) {
    if (!sends.staleAgents) continue;
    const id = alarmIdOf(context.id, 'stale', facts);
    tenant.outbox.want(id, context.id, { type: 'agent-stale', agent: facts }, atMs);
  }
}

/** To be called before the agent's own actor hears of it. */
export function agentReturns(tenant: Tenant, agent: Agent, atMs: number): void {
  const { id: agentId, stale } = agent.context;
  if (stale === null) return;
  const facts = staleFacts(agentId, stale);
  for (const { context, sends } of tenant.integrations.values()) {
    const raised = tenant.outbox.deliveries.get(alarmIdOf(context.id, 'stale', facts));
    // Who has come to listen since was told by the rounds that keep alarms up.
    if (raised === undefined && !sends.staleAgents) continue;
    if (raised !== undefined) abandonIfUnsent(tenant, raised, atMs);
    const id = alarmIdOf(context.id, 'returned', facts);
    tenant.outbox.want(id, context.id, { type: 'agent-returned', agent: facts, returnedAtMs: atMs }, atMs);
  }
}

/** An alarm must not go out after its all-clear. */
function abandonIfUnsent(tenant: Tenant, raised: DeliveryActor, atMs: number): void {
  if (raised.state !== 'queued' && raised.state !== 'waiting') return;
  tenant.outbox.send(raised, { type: 'dead', atMs, detail: 'the agent was back before this was delivered' });
}

/** An agent's silence, as those are told of it who listen. */
export function staleFacts(id: AgentId, stale: StaleSpell): StaleAgentFacts {
  const { name, hostname, lastSeenAtMs, sinceMs } = stale;
  return { id, name, hostname, lastSeenAtMs, staleSinceMs: sinceMs };
}

export function startAttempt(tenant: Tenant, { outboundId }: StartAttempt, { atMs }: Stamp): void {
  const delivery = tenant.outbox.deliveries.get(outboundId);
  if (delivery !== undefined) tenant.outbox.send(delivery, { type: 'started', atMs });
}

export function finishAttempt(tenant: Tenant, { outboundId, result }: FinishAttempt, { atMs }: Stamp): void {
  const delivery = tenant.outbox.deliveries.get(outboundId);
  if (delivery === undefined) return;
  tenant.outbox.send(delivery, { ...result, atMs });
  const { subject, integrationId } = delivery.context;
  // It was on its way when the agent came back.
  if (subject.type !== 'agent-stale') return;
  const isEnded = tenant.outbox.deliveries.has(alarmIdOf(integrationId, 'returned', subject.agent));
  if (isEnded) abandonIfUnsent(tenant, delivery, atMs);
}
