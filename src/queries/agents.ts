/** Agents as JSON. */
import { nameOf, type Presence } from '../actors/agent.ts';
import type { Agent } from '../commands/agents.ts';
import type { TenantId } from '../domain/ids.ts';
import { closeObject, isoTime, openObject } from './json.ts';

export interface AgentViewOptions {
  /** An agent not seen for this long is stale. */
  readonly agentStaleAfterMs: number;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The part of a list entry that only a registration changes. */
export function agentRow({ identity, registration }: Agent): string {
  const { id, registeredAtMs } = identity;
  const { hostname, version } = registration;
  return openObject({
    id,
    hostname,
    name: nameOf(registration),
    agent_version: version,
    registered_at: isoTime(registeredAtMs),
  });
}

export function agentEntry(row: string, agent: Agent, nowMs: number, options: AgentViewOptions): string {
  const { context } = agent;
  return closeObject(row, {
    last_seen_at: isoTime(context.lastSeenAtMs),
    events_last_hour: agent.history.countWithin(HOUR_MS, nowMs),
    status: statusOf(context, nowMs, options),
  });
}

export function agentDetail(
  tenantId: TenantId,
  { context }: Agent,
  nowMs: number,
  options: AgentViewOptions,
): object {
  const { id, keyId, hostname, version, registeredAtMs, lastSeenAtMs } = context;
  return {
    id,
    tenant_id: tenantId,
    api_key_id: keyId,
    hostname,
    name: nameOf(context),
    agent_version: version,
    registered_at: isoTime(registeredAtMs),
    last_seen_at: isoTime(lastSeenAtMs),
    status: statusOf(context, nowMs, options),
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

function statusOf(agent: Presence, nowMs: number, options: AgentViewOptions): 'live' | 'stale' {
  return nowMs < agent.lastSeenAtMs + options.agentStaleAfterMs ? 'live' : 'stale';
}
