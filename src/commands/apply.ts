/**
 * Apply: the one way state changes, live and on replay alike. Total (every command in every state has an
 * outcome) and deterministic (it reads no clock, draws nothing, and does nothing in the world).
 */
import { type AgentEvent, agentBehaviour } from '../actors/agent.ts';
import { IntegrationActor } from '../actors/integration.ts';
import { serviceBehaviour } from '../actors/service.ts';
import type {
  Command,
  ConfigureIntegration,
  CreateIntegration,
  CreateKey,
  CreateTenant,
  DeleteIntegration,
  Heartbeat,
  ReceiveDelivery,
  RecordEvents,
  RegisterAgent,
  RevokeKey,
  RotateToken,
  Stamp,
} from '../domain/command.ts';
import { type ContextEvent, expiresAtMs, timestampOf } from '../domain/event.ts';
import { agentIdOf, serviceIdOf } from '../domain/ids.ts';
import type { Rejection } from '../domain/rejection.ts';
import type { WindowEvent } from '../domain/window.ts';
import type { LogPosition } from '../log/position.ts';
import { refusal } from './refusal.ts';
import type { Service, State, Tenant } from './state.ts';

export interface Applied {
  readonly type: 'applied';
}

export type Outcome = Applied | Rejection;

const APPLIED: Applied = { type: 'applied' };

/** Applies a command that stands in the log at `position`. */
export function apply(state: State, command: Command, stamp: Stamp, position: LogPosition): Outcome {
  const refused = refusal(state, command);
  if (refused !== undefined) return refused;
  if (command.type === 'create-tenant') {
    createTenant(state, command, stamp);
    return APPLIED;
  }
  const tenant = state.tenants.get(command.tenantId);
  if (tenant === undefined) throw new Error(`no tenant ${command.tenantId}, though nothing was refused`);
  switch (command.type) {
    case 'record-events':
      recordEvents(state, tenant, command, stamp, position);
      break;
    case 'heartbeat':
      heartbeat(tenant, command, stamp);
      break;
    case 'register-agent':
      registerAgent(state, tenant, command, stamp);
      break;
    case 'create-key':
      createKey(state, tenant, command, stamp);
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
      receiveDelivery(tenant, command);
      break;
  }
  return APPLIED;
}

function recordEvents(
  state: State,
  tenant: Tenant,
  command: RecordEvents,
  { atMs }: Stamp,
  position: LogPosition,
): void {
  const agent = tenant.agents.get(command.agentId);
  if (agent === undefined) return;
  for (const [index, event] of command.events.entries()) {
    tenant.eventCount += 1;
    const eventNumber = tenant.eventCount;
    const service = serviceNamed(state, tenant, event.serviceName, command);
    const windowEvent = windowEventOf(event, atMs);
    service.actor.send({
      type: 'event-recorded',
      agentId: command.agentId,
      timestampMs: windowEvent.timestampMs,
      receivedAtMs: atMs,
    });
    service.window.insert(windowEvent, atMs);
    agent.history.append({
      eventNumber,
      receivedAtMs: atMs,
      position,
      index,
      service: event.serviceName,
      vendor: event.vendor,
      eventType: event.eventType,
    });
  }
  agent.actor.send({ type: 'seen', atMs });
}

/** The service of a name, known from now on if it was not before. */
function serviceNamed(state: State, tenant: Tenant, name: string, { agentId }: RecordEvents): Service {
  const known = tenant.servicesByName.get(name);
  if (known !== undefined) return known;
  const id = serviceIdOf(tenant.id, name);
  return state.addService(tenant, name, serviceBehaviour.spawn({ id, name, agentId }));
}

function windowEventOf(event: ContextEvent, receivedAtMs: number): WindowEvent {
  return {
    eventType: event.eventType,
    vendor: event.vendor,
    entity: event.entity,
    oldValue: event.oldValue,
    newValue: event.newValue,
    timestampMs: timestampOf(event, receivedAtMs),
    actor: event.actor,
    sha: event.sha,
    confidence: event.confidence,
    expiresAtMs: expiresAtMs(event, receivedAtMs),
  };
}

function heartbeat(tenant: Tenant, { agentId }: Heartbeat, { atMs }: Stamp): void {
  tenant.agents.get(agentId)?.actor.send({ type: 'seen', atMs });
}

function registerAgent(state: State, tenant: Tenant, command: RegisterAgent, { atMs }: Stamp): void {
  const { agentId, keyId, hostname, name, version } = command;
  const known = tenant.agents.get(agentId);
  const agent = known ?? state.addAgent(tenant, agentId, agentBehaviour.spawn({ id: agentId, keyId, atMs }));
  const registered: AgentEvent = { type: 'registered', hostname, name, version, atMs };
  agent.actor.send(registered);
  state.changes.changed(tenant.id, 'agents', agentId);
}

function createTenant(state: State, { tenantId, name }: CreateTenant, { atMs }: Stamp): void {
  state.addTenant(tenantId, name, atMs);
}

function createKey(state: State, tenant: Tenant, command: CreateKey, { atMs }: Stamp): void {
  const { keyId, kind, name, hash } = command;
  const agentId = agentIdOf(tenant.id, keyId);
  const created = { createdAtMs: atMs, revokedAtMs: null };
  state.addKey(tenant, { id: keyId, tenantId: tenant.id, kind, agentId, name, hash, ...created });
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
  state.changes.changed(tenant.id, 'integrations', integrationId);
}

function deleteIntegration(state: State, tenant: Tenant, { integrationId }: DeleteIntegration): void {
  const integration = tenant.integrations.get(integrationId);
  if (integration === undefined) return;
  integration.send({ type: 'deleted' });
  tenant.integrations.delete(integrationId);
  state.integrationsByToken.delete(integration.context.token);
  state.changes.changed(tenant.id, 'integrations', integrationId);
}

function rotateToken(state: State, tenant: Tenant, { integrationId, token }: RotateToken): void {
  const integration = tenant.integrations.get(integrationId);
  if (integration === undefined) return;
  state.integrationsByToken.delete(integration.context.token);
  integration.send({ type: 'token-rotated', token });
  state.integrationsByToken.set(token, integration);
  state.changes.changed(tenant.id, 'integrations', integrationId);
}

function receiveDelivery(tenant: Tenant, { integrationId }: ReceiveDelivery): void {
  tenant.integrations.get(integrationId)?.send({ type: 'delivery-received' });
}
