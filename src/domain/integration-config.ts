/** What of an integration's config we know; the rest is the tenant's own. */
import type { Direction, Integration } from './integration.ts';
import { member } from './json-member.ts';

export interface IntegrationConfig {
  readonly pagerdutyToken: string | null;
  readonly pagerdutyFrom: string | null;
  readonly pagerdutyRoutingKey: string | null;
  readonly alertmanagerUrl: string | null;
  /** Names in alerts to names of services, of whatever shape the tenant left it. */
  readonly serviceMap: unknown;
  /** How far back of its start the causes of an alert are looked for. */
  readonly lookbackMs: number;
}

const DEFAULT_LOOKBACK_SECONDS = 3600;
export const MAX_LOOKBACK_SECONDS = 24 * 3600;

export function readConfig(configJson: string): IntegrationConfig {
  const config: unknown = JSON.parse(configJson);
  const lookback = member(config, 'lookback_seconds');
  const isLookback = typeof lookback === 'number' && lookback > 0 && lookback <= MAX_LOOKBACK_SECONDS;
  return {
    pagerdutyToken: textIn(config, 'pagerduty_token'),
    pagerdutyFrom: textIn(config, 'pagerduty_from'),
    pagerdutyRoutingKey: textIn(config, 'pagerduty_routing_key'),
    alertmanagerUrl: textIn(config, 'alertmanager_url'),
    serviceMap: member(config, 'service_map'),
    lookbackMs: 1000 * (isLookback ? lookback : DEFAULT_LOOKBACK_SECONDS),
  };
}

/** What an integration sends of its own accord. */
export interface Sends {
  readonly notes: boolean;
  readonly changeEvents: boolean;
  readonly staleAgents: boolean;
}

const NOTHING: Sends = { notes: false, changeEvents: false, staleAgents: false };
const SENDING: readonly Direction[] = ['outbound', 'bidirectional'];

export function sendsOf(
  { type, direction }: Pick<Integration, 'type' | 'direction'>,
  config: IntegrationConfig,
): Sends {
  if (!SENDING.includes(direction)) return NOTHING;
  switch (type) {
    case 'pagerduty':
      return {
        ...NOTHING,
        notes: config.pagerdutyToken !== null,
        changeEvents: config.pagerdutyRoutingKey !== null,
      };
    case 'alertmanager':
      return { ...NOTHING, staleAgents: config.alertmanagerUrl !== null };
  }
}

function textIn(config: unknown, key: string): string | null {
  const value = member(config, key);
  return typeof value === 'string' && value !== '' ? value : null;
}
