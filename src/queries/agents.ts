/** Agents as JSON. */
import type { AgentContext } from '../actors/agent.ts';
import type { Agent } from '../commands/state.ts';
import type { TenantId } from '../domain/ids.ts';
import { closeObject, isoTime, openObject } from './json.ts';

export interface AgentViewOptions {
  /** An agent not seen for this long is stale. */
  readonly agentStaleAfterMs: number;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The part of a list entry that only a registration changes. */
export function agentRow({ actor }: Agent): string {
  const { id, hostname, version, registeredAtMs } = actor.context;
  return openObject({
    id,
    hostname,
    name: nameOf(actor.context),
    agent_version: version,
    registered_at: isoTime(registeredAtMs),
  });
}

export function agentEntry(row: string, agent: Agent, nowMs: number, options: AgentViewOptions): string {
  return closeObject(row, {
    last_seen_at: isoTime(agent.actor.context.lastSeenAtMs),
    events_last_hour: agent.history.countWithin(HOUR_MS, nowMs),
    status: statusOf(agent.actor.context, nowMs, options),
  });
}

export function agentDetail(
  tenantId: TenantId,
  { actor }: Agent,
  nowMs: number,
  options: AgentViewOptions,
): object {
  const { id, keyId, hostname, version, registeredAtMs, lastSeenAtMs } = actor.context;
  return {
    id,
    tenant_id: tenantId,
    api_key_id: keyId,
    hostname,
    name: nameOf(actor.context),
    agent_version: version,
    registered_at: isoTime(registeredAtMs),
    last_seen_at: isoTime(lastSeenAtMs),
    status: statusOf(actor.context, nowMs, options),
  };
}

/** How many events an agent had in each minute of the last hour, the oldest minute first. */
export function eventsByMinute({ history }: Agent, nowMs: number): readonly number[] {
  const within = (minutes: number) => history.countWithin(minutes * MINUTE_MS, nowMs);
  return Array.from({ length: HOUR_MS / MINUTE_MS }, (_, index) => HOUR_MS / MINUTE_MS - index).map(
    (ago) => within(ago) - within(ago - 1),
  );
}

export function registeredAgent(
  tenantId: TenantId,
  agent: Agent,
  nowMs: number,
  options: AgentViewOptions,
): string {
  return JSON.stringify(agentDetail(tenantId, agent, nowMs, options));
}

function nameOf(agent: AgentContext): string {
  return agent.givenName ?? agent.hostname;
}

function statusOf(agent: AgentContext, nowMs: number, options: AgentViewOptions): 'live' | 'stale' {
  return nowMs < agent.lastSeenAtMs + options.agentStaleAfterMs ? 'live' : 'stale';
}
