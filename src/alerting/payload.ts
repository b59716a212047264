/**
 * How deliveries are read: field by field, each of them optional, so that a field of another shape than
 * documented costs that field and nothing else. Nothing here throws, whatever JSON it is given, and nothing
 * costs more than the limits below allow: one long text of a group is not read again for each of its alerts.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { LIMITS } from '../domain/limits.ts';
import { cut } from '../lib/text.ts';

/** Lengths in UTF-16 units. What is longer is cut, but for keys and URLs, which mean nothing when cut. */
export const PAYLOAD_LIMITS = {
  /** As many as a body of --max-webhook-body-bytes can hold, unless that is made very large. */
  alerts: 10_000,
  entities: 32,
  /** Also of the keys of deliveries. */
  keyLength: LIMITS.toolDeliveryIdLength,
  titleLength: 512,
  severityLength: 64,
  nameLength: LIMITS.nameLength,
  urlLength: 2048,
} as const;

/** RFC 3339 with nanoseconds and an offset has 35 characters. */
const MAX_TIME_LENGTH = 64;
/** No alert is older than the tools that raise it; Go's zero time, year 1, says that there is no time. */
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z');
const LATEST_MS = Date.parse('2100-01-01T00:00:00Z');

const time = z.iso.datetime({ offset: true });

/** A text with something in it, of at most `maxLength`. */
export function textOf(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = cut(value, maxLength).toWellFormed().trim();
  return text === '' ? undefined : text;
}

/** What a tool calls an alert. Where that is too long to keep, its SHA-256: two keys are never cut to one. */
export function keyOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length <= PAYLOAD_LIMITS.keyLength ? value.toWellFormed() : sha256(value);
}

/** Milliseconds since the epoch; null for what is no time, or none at which there were alerts. */
export function timeMsOf(value: unknown): number | null {
  if (typeof value !== 'string' || value.length > MAX_TIME_LENGTH || !time.safeParse(value).success)
    return null;
  const milliseconds = Date.parse(value);
  return milliseconds >= EARLIEST_MS && milliseconds < LATEST_MS ? milliseconds : null;
}

/** The end of an alert, or null where it would have ended before it started. */
export function endOf(startedAtMs: number | null, endedAtMs: number | null): number | null {
  return startedAtMs !== null && endedAtMs !== null && endedAtMs < startedAtMs ? null : endedAtMs;
}

/** A link that a browser opens without doing anything else: http or https. */
export function urlOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > PAYLOAD_LIMITS.urlLength) return null;
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : null;
}

/** Names without repetitions, the first few of them. */
export function entitiesOf(values: Iterable<unknown>): readonly string[] {
  const entities = new Set<string>();
  for (const value of values) {
    const entity = textOf(value, PAYLOAD_LIMITS.nameLength);
    if (entity !== undefined) entities.add(entity);
    if (entities.size === PAYLOAD_LIMITS.entities) break;
  }
  return [...entities];
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
