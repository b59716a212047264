/** Which requests our own load client sends: events of many services, from many agents. */
import { EVENT_FIELDS } from '../event.ts';

export interface Traffic {
  /** Ingest keys, taken in turns: an agent each. */
  readonly keys: readonly string[];
  /** Services that events name, taken in turns. */
  readonly services: number;
  readonly life: Life;
  /** Events in a request; 1 is POST /v1/events, more is POST /v1/events/batch. */
  readonly batch: number;
}

/** How long events live, or when all of them are over, within the second before. */
export type Life =
  | { readonly type: 'ttl'; readonly seconds: number }
  | { readonly type: 'until'; readonly atMs: number };

/**
 * Makes the request that comes after the one before. Services and agents are visited in an order that no cache
 * foresees: the step between them is about the golden section of their number.
 */
export function requestsOf(traffic: Traffic): () => string {
  const { keys, services, life, batch } = traffic;
  const serviceStep = stepThrough(services);
  const keyStep = stepThrough(keys.length);
  const [head, tail] = JSON.stringify({
    ...EVENT_FIELDS,
    service_name: '\u0001',
    ttl_seconds: 0,
    raw_line: EVENT_FIELDS.raw_line,
  }).split('"\\u0001"') as [string, string];
  const [beforeTtl, afterTtl] = tail.split('"ttl_seconds":0') as [string, string];
  const path = batch === 1 ? '/v1/events' : '/v1/events/batch';
  const contentType = batch === 1 ? 'application/json' : 'application/x-ndjson';
  let service = 0;
  let key = 0;
  const event = (ttlSeconds: number) => {
    service = (service + serviceStep) % services;
    return `${head}"service-${service}"${beforeTtl}"ttl_seconds":${ttlSeconds}${afterTtl}`;
  };
  return () => {
    key = (key + keyStep) % keys.length;
    const ttlSeconds = life.type === 'ttl' ? life.seconds : secondsUntil(life.atMs);
    const body =
      batch === 1 ? event(ttlSeconds) : Array.from({ length: batch }, () => event(ttlSeconds)).join('\n');
    return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${keys[key]}\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
}

/** Registrations, one for each key. */
export function registrationsOf(keys: readonly string[]): () => string {
  let next = 0;
  return () => {
    const body = JSON.stringify({ hostname: `host-${next}` });
    const key = keys[next++];
    return `POST /v1/agents/register HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
}

function secondsUntil(atMs: number): number {
  return Math.max(1, Math.floor((atMs - Date.now()) / 1000));
}

/** A step that has no divisor in common with `count`, so that every place is visited before any is again. */
function stepThrough(count: number): number {
  let step = Math.max(1, Math.round(count * 0.618));
  while (divisor(step, count) !== 1) step += 1;
  return step;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
