/**
 * Why a command cannot be carried out in a state, or undefined where it can. Asked twice: before the log, so
 * that a refused command costs no record; and when it is applied, because with group commit others may have
 * been applied in between, and a replay must come to the same answer.
 */
import type { RecordEncodedEvents, Submission } from '../domain/encoded-events.ts';
import { hasRegistered } from '../domain/key.ts';
import {
  AGENT_NOT_REGISTERED,
  badInput,
  limitReached,
  NOT_FOUND,
  type Rejection,
  unavailable,
} from '../domain/rejection.ts';
import { eachServiceName } from '../events/cursor.ts';
import type { State } from './state.ts';

const INBOX_FULL = unavailable('too many deliveries wait to be worked out; try again');

/** What a tenant may have at most. */
export interface TenantCaps {
  readonly maxServices: number;
  readonly maxIntegrations: number;
}

/**
 * Why a command that could be carried out is not taken: its tenant has as many of something as it may. Asked before
 * the log alone, and never when a command is applied: the operator may choose otherwise tomorrow, and what is in the
 * log has happened.
 */
export function overCap(state: State, command: Submission, caps: TenantCaps): Rejection | undefined {
  if (command.type === 'record-encoded-events') {
    return eventsOverCap(state, command, caps).size === 0 ? undefined : tooManyServices(caps);
  }
  if (command.type === 'create-integration') {
    const tenant = state.tenants.get(command.tenantId);
    if (tenant === undefined || tenant.integrations.size < caps.maxIntegrations) return undefined;
    return limitReached(`a tenant has at most ${caps.maxIntegrations} integrations`);
  }
  return undefined;
}

export function tooManyServices({ maxServices }: TenantCaps): Rejection {
  return limitReached(`a tenant has at most ${maxServices} services`);
}

const NONE: ReadonlySet<number> = new Set();

/** Places of events of services that would be too many: those that come first in the batch have what room there is. */
export function eventsOverCap(
  state: State,
  command: RecordEncodedEvents,
  { maxServices }: TenantCaps,
): ReadonlySet<number> {
  const tenant = state.tenants.get(command.key.tenantId);
  // While there is room for all being new, none needs to be looked at.
  if (tenant === undefined || tenant.services.size + command.events.count <= maxServices) return NONE;
  const { bytes, view } = command.events;
  const room = maxServices - tenant.services.size;
  const added = new Set<string>();
  let over: Set<number> | undefined;
  eachServiceName(command.events, (index, start, end) => {
    if (state.services.find(tenant, view, start, end) !== undefined) return;
    const name = bytes.toString('utf8', start, end);
    if (added.has(name)) return;
    if (added.size < room) {
      added.add(name);
      return;
    }
    over ??= new Set();
    over.add(index);
  });
  return over ?? NONE;
}

export function refusal(state: State, command: Submission): Rejection | undefined {
  if (command.type === 'pass-time') return undefined;
  if (command.type === 'create-tenant') {
    if (!state.tenantsByName.has(command.name) && !state.tenants.has(command.tenantId)) return undefined;
    return badInput(`a tenant named ${JSON.stringify(command.name)} exists already`);
  }
  if (command.type === 'record-encoded-events') {
    return hasRegistered(command.key) ? undefined : AGENT_NOT_REGISTERED;
  }
  const tenant = state.tenants.get(command.tenantId);
  if (tenant === undefined) return NOT_FOUND;
  switch (command.type) {
    case 'record-events':
    case 'heartbeat':
      return tenant.agents.has(command.agentId) ? undefined : AGENT_NOT_REGISTERED;
    case 'revoke-key':
      return tenant.keys.has(command.keyId) ? undefined : NOT_FOUND;
    case 'configure-integration':
    case 'delete-integration':
    case 'rotate-token':
      return tenant.integrations.has(command.integrationId) ? undefined : NOT_FOUND;
    case 'receive-delivery':
      if (!tenant.integrations.has(command.integrationId)) return NOT_FOUND;
      return tenant.inbox.isFull ? INBOX_FULL : undefined;
    case 'process-delivery':
      return tenant.inbox.pending.has(command.deliveryId) ? undefined : NOT_FOUND;
    case 'correlate-alert':
      return tenant.alerts.alerts.has(command.alertId) ? undefined : NOT_FOUND;
    case 'mark-agent-stale': {
      const agent = tenant.agents.get(command.agentId)?.context;
      const isStale = agent?.stale === null && agent.lastSeenAtMs === command.lastSeenAtMs;
      return isStale ? undefined : NOT_FOUND;
    }
    case 'start-attempt': {
      const state = tenant.outbox.deliveries.get(command.outboundId)?.state;
      return state === 'queued' || state === 'waiting' ? undefined : NOT_FOUND;
    }
    case 'finish-attempt':
      return tenant.outbox.deliveries.get(command.outboundId)?.state === 'sending' ? undefined : NOT_FOUND;
    case 'create-keys':
    case 'register-agent':
    case 'create-integration':
      return undefined;
  }
}
