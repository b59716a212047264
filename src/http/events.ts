import { type Api, carryOut } from './api.ts';
import { CREATED } from './responses.ts';
import type { KeyCall } from './route.ts';
import { readEvent } from './schemas.ts';

/** POST /v1/events */
export function recordEvent(api: Api, { exchange, key, json }: KeyCall): void {
  const event = readEvent(json);
  if ('type' in event) return exchange.reject(event);
  const { tenantId, agentId } = key;
  carryOut(api, exchange, { type: 'record-events', tenantId, agentId, events: [event] }, () => CREATED);
}
