import { LIMITS } from '../domain/limits.ts';
import { badInput } from '../domain/rejection.ts';
import { readStrictJson } from '../lib/json.ts';
import { type Api, carryOut } from './api.ts';
import { carryOutOnce, readIdempotency } from './idempotency.ts';
import { CREATED } from './responses.ts';
import type { BytesCall } from './route.ts';
import { readEvent } from './schemas.ts';

/** POST /v1/events */
export function recordEvent(api: Api, { exchange, head, key, body }: BytesCall): void {
  const { transcoder } = api;
  const { tenantId, agentId } = key;
  transcoder.clear();
  if (!transcoder.takeWhole(body)) {
    // The long way.
    const reading = readStrictJson(body, LIMITS.jsonDepth);
    if (reading.type === 'refused') return exchange.reject(badInput(reading.detail));
    const event = readEvent(reading.value);
    if ('type' in event) return exchange.reject(event);
    transcoder.take(event);
  }
  if (head.idempotencyKey !== undefined) {
    const idempotency = readIdempotency(head.idempotencyKey, 'event', body);
    if ('type' in idempotency) return exchange.reject(idempotency);
    const events = transcoder.encoded;
    const command = { type: 'record-encoded-events', tenantId, agentId, events, idempotency } as const;
    return carryOutOnce(api, exchange, command, () => CREATED);
  }
  const command = { type: 'record-encoded-events', tenantId, agentId, events: transcoder.encoded } as const;
  carryOut(api, exchange, command, () => CREATED);
}
