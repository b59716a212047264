/**
 * POST /v1/events/batch: many events in one request and one record. Each event is judged by itself; those that are
 * good are taken together or, where the log takes nothing, not at all.
 */

import { hasRegistered } from '../domain/key.ts';
import { LIMITS } from '../domain/limits.ts';
import {
  AGENT_NOT_REGISTERED,
  badInput,
  NOT_JSON_OR_NDJSON,
  type Rejection,
  tooLarge,
} from '../domain/rejection.ts';
import { afterSpace, DECLINED } from '../events/json-bytes.ts';
import type { EventTranscoder } from '../events/transcoder.ts';
import { readStrictJson } from '../lib/json.ts';
import type { Api } from './api.ts';
import { carryOutEvents } from './idempotency.ts';
import { isJsonType } from './request.ts';
import { json } from './responses.ts';
import type { BytesCall } from './route.ts';
import { readEvent } from './schemas.ts';

interface RejectedEvent {
  /** Its place in the batch, from 0. */
  readonly index: number;
  readonly detail: string;
}

/** Events that are not to be taken, by their places in the batch, and why. */
type Refused = ReadonlyMap<number, string>;

const NONE: Refused = new Map();

const NDJSON_TYPE = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines)\s*(?:;|$)/i;
const ARRAY = 0x5b;
const END_ARRAY = 0x5d;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

const NO_ARRAY = badInput(
  'the body must be a JSON array of events, or an event a line (application/x-ndjson)',
);
const TOO_MANY = tooLarge(`a batch holds at most ${LIMITS.batchEvents} events`);

export function refuseBatchType(contentType: string): Rejection | undefined {
  return isJsonType(contentType) || NDJSON_TYPE.test(contentType) ? undefined : NOT_JSON_OR_NDJSON;
}

export function recordBatch(api: Api, call: BytesCall): void {
  const { exchange, key, head, body } = call;
  const { transcoder, pipeline } = api;
  transcoder.clear();
  const start = afterSpace(body, 0);
  // A body whose type is not said may be either, and tells by how it begins.
  const isLines = NDJSON_TYPE.test(head.contentType) || (head.contentType === '' && body[start] !== ARRAY);
  const take = (refused: Refused) =>
    isLines ? takeLines(transcoder, body, refused) : takeArray(transcoder, body, start, refused);
  let rejected = take(NONE);
  if ('type' in rejected) return exchange.reject(rejected);

  // What has a key is taken whole or not at all: sent again, it must be judged as it was, whatever room there is then.
  if (transcoder.encoded.count > 0 && head.idempotencyKey === undefined) {
    const command = { type: 'record-encoded-events', key, events: transcoder.encoded } as const;
    const over = pipeline.overCap(command);
    if (over.events.size > 0) {
      const refused = refusedBy(rejected, over.events, over.detail);
      transcoder.clear();
      rejected = take(refused);
      if ('type' in rejected) return exchange.reject(rejected);
    }
  }
  const accepted = transcoder.encoded.count;
  api.rateLimiter.charge(exchange, key, accepted);
  const answer = () => json(200, JSON.stringify({ accepted, rejected }));
  if (accepted > 0) carryOutEvents(api, call, 'batch', answer);
  else if (hasRegistered(key)) exchange.answer(answer());
  else exchange.reject(AGENT_NOT_REGISTERED);
}

/** @param over places among the events that were taken, which stand where the rejected ones leave off */
function refusedBy(rejected: readonly RejectedEvent[], over: ReadonlySet<number>, detail: string): Refused {
  const refused = new Map(rejected.map((event) => [event.index, event.detail]));
  const last = Math.max(...over);
  for (let index = 0, taken = 0; taken <= last; index += 1) {
    if (refused.has(index)) continue;
    if (over.has(taken)) refused.set(index, detail);
    taken += 1;
  }
  return refused;
}

function takeLines(
  transcoder: EventTranscoder,
  body: Buffer,
  refused: Refused,
): readonly RejectedEvent[] | Rejection {
  const rejected: RejectedEvent[] = [];
  let index = 0;
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    if (afterSpace(body, start) < end) {
      if (index === LIMITS.batchEvents) return TOO_MANY;
      const line = body.subarray(start, end);
      const detail = refused.get(index) ?? takeOne(transcoder, line);
      if (detail !== undefined) rejected.push({ index, detail });
      index += 1;
    }
    start = end + 1;
  }
  return rejected;
}

/** Answers why it was not taken. */
function takeOne(transcoder: EventTranscoder, json: Buffer): string | undefined {
  if (transcoder.takeWhole(json)) return undefined;
  const reading = readStrictJson(json, LIMITS.jsonDepth);
  return reading.type === 'refused' ? reading.detail : takeValue(transcoder, reading.value);
}

function takeValue(transcoder: EventTranscoder, value: unknown): string | undefined {
  const event = readEvent(value);
  if ('type' in event) return event.detail;
  transcoder.take(event);
  return undefined;
}

function takeArray(
  transcoder: EventTranscoder,
  body: Buffer,
  start: number,
  refused: Refused,
): readonly RejectedEvent[] | Rejection {
  if (refused.size === 0 && takePlainArray(transcoder, body, start))
    return transcoder.encoded.count > LIMITS.batchEvents ? TOO_MANY : [];
  transcoder.clear();
  const reading = readStrictJson(body, LIMITS.jsonDepth);
  if (reading.type === 'refused') return badInput(reading.detail);
  if (!Array.isArray(reading.value)) return NO_ARRAY;
  if (reading.value.length > LIMITS.batchEvents) return TOO_MANY;
  const rejected: RejectedEvent[] = [];
  for (const [index, value] of reading.value.entries()) {
    const detail = refused.get(index) ?? takeValue(transcoder, value);
    if (detail !== undefined) rejected.push({ index, detail });
  }
  return rejected;
}

/** Whether the body is an array of events that all are plain, which then are taken. */
function takePlainArray(transcoder: EventTranscoder, body: Buffer, start: number): boolean {
  if (body[start] !== ARRAY) return false;
  transcoder.load(body);
  for (let at = start + 1; transcoder.encoded.count <= LIMITS.batchEvents; at += 1) {
    at = transcoder.takeNext(afterSpace(body, at));
    if (at === DECLINED) return false;
    at = afterSpace(body, at);
    if (body[at] === END_ARRAY) return afterSpace(body, at + 1) === body.length;
    if (body[at] !== COMMA) return false;
  }
  return true;
}
