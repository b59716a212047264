/**
 * A stale agent as an alert of Prometheus Alertmanager (API v2).
 *
 * Alertmanager tells alerts apart by their labels, so what resolves one must carry the very labels that raised it:
 * keep the `StaleAgent` of the raising, since an agent may come back under another name. And it forgets an alert at
 * its `endsAt`, so one that stays has to be raised again before that.
 */
import type { AgentId } from '../domain/ids.ts';
import { onOneLine } from '../lib/text.ts';
import { type OutboundRequest, type Refused, refused } from './call-result.ts';
import { below } from './url.ts';

export interface StaleAgent {
  readonly id: AgentId;
  readonly name: string;
  readonly hostname: string;
  /** Always said, also where there is but one: a label that came with the second would part an alarm from its end. */
  readonly tenant: string;
  readonly lastSeenAtMs: number;
  /** When it became stale. */
  readonly staleSinceMs: number;
}

export type Staleness =
  /** Firing until then, unless it is raised again or resolved before. */
  | { readonly type: 'raised'; readonly untilMs: number }
  | { readonly type: 'resolved'; readonly atMs: number };

/**
 * @param baseUrl `config.alertmanager_url`
 * @param link where a human reads on, or null
 */
export function sendStaleAgent(
  baseUrl: string,
  agent: StaleAgent,
  staleness: Staleness,
  link: string | null,
): OutboundRequest | Refused {
  const url = below(baseUrl, ['api', 'v2', 'alerts']);
  if (url === undefined) return refused('alertmanager_url is no URL');
  const endsAtMs = staleness.type === 'raised' ? staleness.untilMs : staleness.atMs;
  const alert = {
    labels: {
      alertname: 'ForeshockAgentStale',
      agent_id: agent.id,
      agent: onOneLine(agent.name),
      hostname: onOneLine(agent.hostname),
      tenant: onOneLine(agent.tenant),
    },
    annotations: {
      summary: `No word from agent ${onOneLine(agent.name)} on ${onOneLine(agent.hostname)}`,
      description: `Last seen at ${isoTime(agent.lastSeenAtMs)}. What changes there is not reported until it is back.`,
    },
    startsAt: isoTime(agent.staleSinceMs),
    // One that ends before it starts is refused whole; clocks that were set can make it so.
    endsAt: isoTime(Math.max(endsAtMs, agent.staleSinceMs)),
    ...(link === null ? {} : { generatorURL: link }),
  };
  return {
    type: 'request',
    kind: 'alerts',
    method: 'POST',
    url,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify([alert]),
    secrets: [],
  };
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
