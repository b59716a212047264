import { LIMITS } from '../domain/limits.ts';
import { badInput } from '../domain/rejection.ts';
import { readStrictJson } from '../lib/json.ts';
import type { Api } from './api.ts';
import { carryOutEvents } from './idempotency.ts';
import { CREATED } from './responses.ts';
import type { BytesCall } from './route.ts';
import { readEvent } from './schemas.ts';

/** POST /v1/events */
export function recordEvent(api: Api, call: BytesCall): void {
  const { transcoder } = api;
  const { exchange, body } = call;
  transcoder.clear();
  if (!transcoder.takeWhole(body)) {
    // The long way.
    const reading = readStrictJson(body, LIMITS.jsonDepth);
    if (reading.type === 'refused') return exchange.reject(badInput(reading.detail));
    const event = readEvent(reading.value);
    if ('type' in event) return exchange.reject(event);
    transcoder.take(event);
  }
  carryOutEvents(api, call, 'event', created);
}

function created(): typeof CREATED {
  return CREATED;
}
