/** `Idempotency-Key`: a request that is sent again is not carried out again (draft-ietf-httpapi-idempotency-key-header). */
import type { Idempotency } from '../domain/command.ts';
import { badInput, type Rejection } from '../domain/rejection.ts';
import { fingerprintOf } from '../lib/secrets.ts';
import { type Api, carryOut } from './api.ts';
import type { Response } from './responses.ts';
import type { BytesCall } from './route.ts';

/** Given twice, the values are joined by a comma and a space, and the space is what refuses them. */
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const BAD_KEY = badInput('Idempotency-Key must be given once, as 1 to 255 visible ASCII characters');

/** @param kind what the body is read as: the same bytes on another path are another request */
function readIdempotency(key: string, kind: 'event' | 'batch', body: Buffer): Idempotency | Rejection {
  if (!VISIBLE_ASCII.test(key)) return BAD_KEY;
  return { key, payloadHash: fingerprintOf(kind, body) };
}

/**
 * Submits the events that the transcoder has taken, and with an Idempotency-Key no more than once. The same payload
 * is judged alike, so the first answer is made anew and need not be kept.
 */
export function carryOutEvents(
  api: Api,
  { exchange, head, key, body }: BytesCall,
  kind: 'event' | 'batch',
  answer: () => Response,
): void {
  const command = { type: 'record-encoded-events', key, events: api.transcoder.encoded } as const;
  if (head.idempotencyKey === undefined) return carryOut(api, exchange, command, answer);
  const idempotency = readIdempotency(head.idempotencyKey, kind, body);
  if ('type' in idempotency) return exchange.reject(idempotency);
  carryOut(api, exchange, { ...command, idempotency }, answer);
}
