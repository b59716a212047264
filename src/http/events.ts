import { LIMITS } from '../domain/limits.ts';
import { badInput } from '../domain/rejection.ts';
import { DECLINED } from '../events/json-event.ts';
import { readStrictJson } from '../lib/json.ts';
import { type Api, carryOut } from './api.ts';
import { CREATED } from './responses.ts';
import type { BytesCall } from './route.ts';
import { readEvent } from './schemas.ts';

/** POST /v1/events */
export function recordEvent(api: Api, { exchange, key, body }: BytesCall): void {
  const { transcoder } = api;
  const { tenantId, agentId } = key;
  transcoder.clear();
  const end = transcoder.takeJson(body, 0);
  if (end === DECLINED || !isBlank(body, end)) {
    // The long way.
    const reading = readStrictJson(body, LIMITS.jsonDepth);
    if (reading.type === 'refused') return exchange.reject(badInput(reading.detail));
    const event = readEvent(reading.value);
    if ('type' in event) return exchange.reject(event);
    transcoder.clear();
    transcoder.take(event);
  }
  const command = { type: 'record-encoded-events', tenantId, agentId, events: transcoder.encoded } as const;
  carryOut(api, exchange, command, () => CREATED);
}

/** Whether nothing but JSON's white space is left. */
function isBlank(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
