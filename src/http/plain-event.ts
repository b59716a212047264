/**
 * The short way to read an event as agents write them: strings where strings belong, numbers in range, a
 * time in UTC. Whatever is not that plain goes the long way, through the schema, which decides and says what
 * is wrong. A property test holds the two to the same answer.
 *
 * The schema alone takes 1.2 µs of an ingest's 8; this takes 0.2.
 */
import { type ContextEvent, isEventType } from '../domain/event.ts';
import { LIMITS } from '../domain/limits.ts';

/** UTC, and of the days that every month has. */
const PLAIN_TIME =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

/** The event in a body, or undefined where it takes the schema to tell. */
export function readPlainEvent(body: unknown): ContextEvent | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = body as Readonly<Record<string, unknown>>;
  const { service_name, vendor, entity, event_type, confidence, ttl_seconds, timestamp = null } = fields;
  const { old_value = null, new_value = null, actor = null, sha = null, raw_line = null } = fields;
  const { nameLength, shaLength, valueLength, rawLineLength } = LIMITS;
  if (
    !isName(service_name) ||
    !isName(vendor) ||
    !isName(entity) ||
    typeof event_type !== 'string' ||
    !isEventType(event_type) ||
    typeof confidence !== 'number' ||
    !(confidence > 0 && confidence <= 1) ||
    typeof ttl_seconds !== 'number' ||
    !Number.isInteger(ttl_seconds) ||
    !(ttl_seconds > 0 && ttl_seconds <= LIMITS.ttlSeconds) ||
    !isTextOrNull(old_value, valueLength) ||
    !isTextOrNull(new_value, valueLength) ||
    !isTextOrNull(actor, nameLength) ||
    !isTextOrNull(sha, shaLength) ||
    !isTextOrNull(raw_line, rawLineLength)
  ) {
    return undefined;
  }
  let timestampMs: number | null = null;
  if (timestamp !== null) {
    if (typeof timestamp !== 'string' || !PLAIN_TIME.test(timestamp)) return undefined;
    timestampMs = Date.parse(timestamp);
  }
  return {
    serviceName: service_name,
    vendor,
    entity,
    eventType: event_type,
    oldValue: old_value,
    newValue: new_value,
    actor,
    sha,
    confidence,
    ttlSeconds: ttl_seconds,
    timestampMs,
    rawLine: raw_line,
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= LIMITS.nameLength;
}

function isTextOrNull(value: unknown, maxLength: number): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= maxLength);
}
