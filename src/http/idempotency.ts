/** `Idempotency-Key`: a request that is sent again is not carried out again (draft-ietf-httpapi-idempotency-key-header). */
import type { Idempotency } from '../domain/command.ts';
import type { RecordEncodedEvents } from '../domain/encoded-events.ts';
import { badInput, type Rejection } from '../domain/rejection.ts';
import { fingerprintOf } from '../lib/secrets.ts';
import type { Api } from './api.ts';
import type { Exchange } from './exchange.ts';
import type { Response } from './responses.ts';

/** Given twice, the values are joined by a comma and a space, and the space is what refuses them. */
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;
const BAD_KEY = badInput('Idempotency-Key must be given once, as 1 to 255 visible ASCII characters');

/** @param kind what the body is read as: the same bytes on another path are another request */
export function readIdempotency(key: string, kind: 'event' | 'batch', body: Buffer): Idempotency | Rejection {
  if (!VISIBLE_ASCII.test(key)) return BAD_KEY;
  return { key, payloadHash: fingerprintOf(kind, body) };
}

/**
 * Submits events that may have been submitted before. The same payload is judged alike, so the first answer is made
 * anew and need not be kept.
 */
export function carryOutOnce(
  api: Api,
  exchange: Exchange,
  command: RecordEncodedEvents,
  answer: () => Response,
): void {
  api.pipeline.submit(command, (outcome) => {
    try {
      if (outcome.type === 'rejection') return exchange.reject(outcome);
      const response = answer();
      if (outcome.isReplay !== true) return exchange.answer(response);
      exchange.answer({ ...response, headers: [...response.headers, ['Idempotent-Replayed', 'true']] });
    } catch (error) {
      exchange.threw(error);
    }
  });
}
