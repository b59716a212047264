/**
 * Apply: the one way state changes, live and on replay alike. Total (every command in every state has an
 * outcome) and deterministic (it reads no clock, draws nothing, and does nothing in the world).
 */
import { presenceBehaviour, registered } from '../actors/agent.ts';
import { IntegrationActor } from '../actors/integration.ts';
import { serviceBehaviour } from '../actors/service.ts';
import type {
  ConfigureIntegration,
  CreateIntegration,
  CreateKeys,
  CreateTenant,
  DeleteIntegration,
  Heartbeat,
  RegisterAgent,
  RevokeKey,
  RotateToken,
  Stamp,
} from '../domain/command.ts';
import { isChange } from '../domain/event.ts';
import { type AgentNumber, agentIdOf, serviceIdOf } from '../domain/ids.ts';
import { NOT_REGISTERED } from '../domain/key.ts';
import { AGENT_NOT_REGISTERED, type Rejection } from '../domain/rejection.ts';
import { type EventCursor, idempotencyIn } from '../events/cursor.ts';
import { decodeCommand, eventsIn } from '../log/command-codec.ts';
import type { LoggedRecord } from '../log/replay.ts';
import type { Agent } from './agents.ts';
import {
  agentReturns,
  correlateAlert,
  finishAttempt,
  markAgentStale,
  processDelivery,
  receiveDelivery,
  startAttempt,
  wantChangeEvents,
} from './apply-alerts.ts';
import { refusal } from './refusal.ts';
import type { Service } from './services.ts';
import type { State, Tenant } from './state.ts';

export interface Applied {
  readonly type: 'applied';
  /** It was carried out before, by a request of the same Idempotency-Key, and nothing has changed now. */
  readonly isReplay?: true;
}

export type Outcome = Applied | Rejection;

const APPLIED: Applied = { type: 'applied' };
export const REPLAY: Applied = { type: 'applied', isReplay: true };

/** Applies a record of the log: what is applied is what was written, also when it was written just now. */
export function apply(state: State, record: LoggedRecord): Outcome {
  const cursor = eventsIn(record.bytes, record.start);
  if (cursor !== undefined) return recordEvents(state, cursor, record);
  const command = decodeCommand(record.bytes, record.start, record.end);
  const { stamp } = record;
  const refused = refusal(state, command);
  if (refused !== undefined) return refused;
  if (command.type === 'pass-time') return APPLIED;
  if (command.type === 'create-tenant') {
    createTenant(state, command, stamp);
    return APPLIED;
  }
  const tenant = state.tenants.get(command.tenantId);
  if (tenant === undefined) throw new Error(`no tenant ${command.tenantId}, though nothing was refused`);
  switch (command.type) {
    case 'record-events':
      throw new Error('events are not applied one by one');
    case 'heartbeat':
      heartbeat(state, tenant, command, stamp);
      break;
    case 'register-agent':
      registerAgent(state, tenant, command, stamp);
      break;
    case 'create-keys':
      createKeys(state, tenant, command, stamp);
      break;
    case 'revoke-key':
      revokeKey(state, tenant, command, stamp);
      break;
    case 'create-integration':
      createIntegration(state, tenant, command, stamp);
      break;
    case 'configure-integration':
      configureIntegration(state, tenant, command);
      break;
    case 'delete-integration':
      deleteIntegration(state, tenant, command);
      break;
    case 'rotate-token':
      rotateToken(state, tenant, command);
      break;
    case 'receive-delivery':
      receiveDelivery(tenant, command, stamp);
      break;
    case 'process-delivery':
      processDelivery(tenant, command, stamp);
      break;
    case 'correlate-alert':
      correlateAlert(tenant, command, stamp);
      break;
    case 'mark-agent-stale':
      markAgentStale(state, tenant, command, stamp);
      break;
    case 'start-attempt':
      startAttempt(tenant, command, stamp);
      break;
    case 'finish-attempt':
      finishAttempt(tenant, command, stamp);
      break;
  }
  tenant.watcher?.applied(record);
  return APPLIED;
}

/** Not decoded to a command: only what has to be looked up becomes strings, and details stay bytes. */
function recordEvents(state: State, cursor: EventCursor, record: LoggedRecord): Outcome {
  const { stamp, position } = record;
  const { agents, services, live } = state;
  const agent = agents.find(cursor);
  if (agent === undefined) return AGENT_NOT_REGISTERED;
  const tenant = state.tenantOf(agent);
  const { atMs } = stamp;
  if (cursor.isKeyed) {
    const answered = recordOnce(state, tenant, agents.at(agent), record);
    if (answered !== undefined) return answered;
  }
  for (let index = 0; cursor.next(); index += 1) {
    tenant.eventCount += 1;
    const { type } = cursor;
    const window =
      services.find(tenant, cursor.view, cursor.serviceNameStart, cursor.serviceNameEnd) ??
      serviceOf(state, tenant, agent, cursor).window;
    const timestampMs = cursor.timestampMs ?? atMs;
    const recorded = { type: 'event-recorded', agent, timestampMs, receivedAtMs: atMs } as const;
    services.advance(window, recorded);
    live.insert(window, {
      type,
      ttlSeconds: cursor.ttlSeconds,
      timestampMs,
      receivedAtMs: atMs,
      confidence: cursor.confidence,
      details: cursor.bytes,
      detailsStart: cursor.detailsStart,
      detailsEnd: cursor.detailsEnd,
    });
    const eventNumber = tenant.eventCount;
    if (tenant.changeListeners.length > 0 && isChange(cursor.eventType)) {
      wantChangeEvents(tenant, cursor.event(), eventNumber, atMs);
    }
    const vendor = tenant.names.numberOf(cursor.vendor);
    tenant.names.hold(vendor);
    agents.record(agent, {
      eventNumber,
      receivedAtMs: atMs,
      position,
      index,
      service: services.nameNumberOf(window),
      vendor,
      type,
    });
  }
  seen(state, tenant, agent, atMs);
  tenant.watcher?.applied(record);
  return APPLIED;
}

/** What a request comes to that was carried out before; else it is remembered, and undefined. */
function recordOnce(
  state: State,
  { id: tenantId }: Tenant,
  { identity }: Agent,
  { bytes, start, stamp: { atMs } }: LoggedRecord,
): Outcome | undefined {
  const { id: agentId } = identity;
  const idempotency = idempotencyIn(bytes, start);
  if (idempotency === undefined) return undefined;
  // With group commit, one of the same key may have been applied since this was admitted.
  const verdict = state.idempotencyKeys.verdict(agentId, idempotency, atMs);
  if (verdict !== undefined) return verdict.type === 'replayed' ? REPLAY : verdict;
  state.idempotencyKeys.remember({ ...idempotency, tenantId, agentId, atMs });
  return undefined;
}

/** A service is known from the first event that names it; one whose name is no clean UTF-8, by what that reads as. */
function serviceOf(state: State, tenant: Tenant, agent: AgentNumber, { serviceName }: EventCursor): Service {
  const known = tenant.servicesByName.get(serviceName);
  if (known !== undefined) return known;
  const id = serviceIdOf(tenant.id, serviceName);
  return state.addService(tenant, id, serviceName, serviceBehaviour.initial({ agent }));
}

function heartbeat(state: State, tenant: Tenant, { agentId }: Heartbeat, { atMs }: Stamp): void {
  const agent = tenant.agents.get(agentId);
  if (agent !== undefined) seen(state, tenant, agent.number, atMs);
}

function seen({ agents }: State, tenant: Tenant, agent: AgentNumber, atMs: number): void {
  if (agents.isStale(agent)) agentReturns(tenant, agents.at(agent), atMs);
  agents.advance(agent, { type: 'seen', atMs });
}

function registerAgent(state: State, tenant: Tenant, command: RegisterAgent, { atMs }: Stamp): void {
  const { agentId, keyId } = command;
  const known = tenant.agents.get(agentId);
  const registration = registered(known?.registration, command);
  if (known === undefined) {
    const identity = { id: agentId, keyId, registeredAtMs: atMs };
    state.addAgent(tenant, identity, registration, presenceBehaviour.initial({ atMs }));
  } else {
    seen(state, tenant, known.number, atMs);
    known.registration = registration;
  }
  state.changes.changed(tenant.id, 'agents', agentId);
}

function createTenant(state: State, { tenantId, name }: CreateTenant, { atMs }: Stamp): void {
  state.addTenant(tenantId, name, atMs);
}

function createKeys(state: State, tenant: Tenant, { keys }: CreateKeys, { atMs }: Stamp): void {
  for (const { keyId, kind, name, hash } of keys) {
    const agentId = agentIdOf(tenant.id, keyId);
    const agent = tenant.agents.get(agentId);
    state.addKey(tenant, {
      id: keyId,
      tenantId: tenant.id,
      kind,
      agentId,
      idsRow: agent?.idsRow ?? NOT_REGISTERED,
      name,
      hash,
      createdAtMs: atMs,
      revokedAtMs: null,
    });
  }
}

function revokeKey(state: State, tenant: Tenant, { keyId }: RevokeKey, { atMs }: Stamp): void {
  const key = tenant.keys.get(keyId);
  if (key === undefined) return;
  state.addKey(tenant, { ...key, revokedAtMs: key.revokedAtMs ?? atMs });
}

function createIntegration(state: State, tenant: Tenant, command: CreateIntegration, { atMs }: Stamp): void {
  const { integrationId: id, integrationType: type, direction, token } = command;
  const input = { id, tenantId: tenant.id, type, direction, token, createdAtMs: atMs };
  state.addIntegration(tenant, new IntegrationActor(input));
}

function configureIntegration(state: State, tenant: Tenant, command: ConfigureIntegration): void {
  const { integrationId, configJson } = command;
  tenant.integrations.get(integrationId)?.send({ type: 'configured', configJson });
  state.integrationChanged(tenant, integrationId);
}

function deleteIntegration(state: State, tenant: Tenant, { integrationId }: DeleteIntegration): void {
  const integration = tenant.integrations.get(integrationId);
  if (integration === undefined) return;
  integration.send({ type: 'deleted' });
  tenant.integrations.delete(integrationId);
  state.integrationsByToken.delete(integration.context.token);
  tenant.inbox.forget(integrationId);
  tenant.outbox.forget(integrationId);
  state.integrationChanged(tenant, integrationId);
}

function rotateToken(state: State, tenant: Tenant, { integrationId, token }: RotateToken): void {
  const integration = tenant.integrations.get(integrationId);
  if (integration === undefined) return;
  state.integrationsByToken.delete(integration.context.token);
  integration.send({ type: 'token-rotated', token });
  state.integrationsByToken.set(token, integration);
  state.changes.changed(tenant.id, 'integrations', integrationId);
}
