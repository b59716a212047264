/** What bodies must look like (zod), and which sentence says what is wrong with one. */
import { z } from 'zod';
import type { ContextEvent } from '../domain/event.ts';
import { EVENT_TYPES } from '../domain/event.ts';
import { DIRECTIONS, INTEGRATION_TYPES } from '../domain/integration.ts';
import { MAX_LOOKBACK_SECONDS } from '../domain/integration-config.ts';
import { member } from '../domain/json-member.ts';
import { LIMITS } from '../domain/limits.ts';
import { badInput, type Rejection } from '../domain/rejection.ts';
import { component } from './api-schemas/component.ts';

const name = z.string().min(1).max(LIMITS.nameLength);
/** Senders write an absent optional as null as often as they leave it out. */
const optional = (maxLength: number) => z.string().max(maxLength).nullish();

const YEAR_1_MS = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/** ISO 8601 with a time zone, so that it names one moment; of the years that ISO 8601 gives four digits in UTC. */
const timestamp = z.iso.datetime({ offset: true }).transform((text, context) => {
  const milliseconds = Date.parse(text);
  if (!(milliseconds >= YEAR_1_MS && milliseconds < YEAR_10000_MS)) {
    context.addIssue({ code: 'custom', message: 'must be a time in the years 1 to 9999' });
  }
  return milliseconds;
});

/** POST /v1/events. Fields stand in the order in which they are complained about; unknown ones are let be. */
export const eventSchema = component(
  'ContextEvent',
  z.object({
    service_name: name.describe('OpenTelemetry service.name.'),
    vendor: name.describe('The plugin that saw it.'),
    entity: name.describe('What it happened to: an application, a pod, a table.'),
    confidence: z.number().gt(0).lte(1),
    ttl_seconds: z
      .number()
      .gt(0)
      .lte(LIMITS.ttlSeconds)
      .int()
      .describe('How long it stays relevant, from its receipt.'),
    event_type: z.enum(EVENT_TYPES),
    old_value: optional(LIMITS.valueLength),
    new_value: optional(LIMITS.valueLength),
    actor: optional(LIMITS.nameLength).describe('Who or what triggered the change.'),
    sha: optional(LIMITS.shaLength).describe('Source-control revision.'),
    timestamp: timestamp.nullish().describe('When it happened; its receipt where this is not given.'),
    raw_line: optional(LIMITS.rawLineLength).describe('Kept for audit on the box, and sent nowhere.'),
  }),
);

export const registrationSchema = component(
  'Registration',
  z.object({
    hostname: name,
    name: name.nullish().describe('Follows the hostname where none is given.'),
    version: optional(LIMITS.nameLength),
  }),
);

export const newIntegrationSchema = component(
  'NewIntegration',
  z.object({
    type: z.enum(INTEGRATION_TYPES),
    direction: z.enum(DIRECTIONS),
  }),
);

const secret = z.string().min(1).max(LIMITS.valueLength).optional();

/** It goes out in a header, or in a form that PagerDuty compares: a line end that was pasted along would never do. */
const printable = (text: string) => /^[\x21-\x7e]+$/.test(text);
const credential = secret.refine(
  (text) => text === undefined || printable(text),
  'must be printable ASCII without spaces',
);
const routingKey = z
  .string()
  .min(1)
  .refine((text) => text.length === 32 && printable(text), 'must be an integration key, 32 characters long')
  .optional();

const httpUrl = z.string().refine(isPlainHttpUrl, 'must be an http or https URL without user or password');

/** PUT replaces `config`, and nothing else of an integration can be written. Keys we do not know are kept. */
export const integrationUpdateSchema = component(
  'IntegrationUpdate',
  z.strictObject({
    config: z.looseObject({
      pagerduty_token: credential.describe('REST API key that notes are written with.'),
      pagerduty_from: credential.describe('Login address of the user that notes are written as.'),
      pagerduty_routing_key: routingKey.describe('Deploys and flag changes are sent there as change events.'),
      pagerduty_webhook_secret: secret.describe('Deliveries must be signed with it then.'),
      alertmanager_url: httpUrl.optional().describe('Agents that fall silent are raised there.'),
      service_map: z
        .record(z.string(), z.string())
        .refine((map) => !('' in map) && !Object.values(map).includes(''), 'must not hold an empty name')
        .optional()
        .describe('Names of the alerting tool, and the services they stand for.'),
      lookback_seconds: z
        .number()
        .gt(0)
        .lte(MAX_LOOKBACK_SECONDS)
        .optional()
        .describe('How long before an alert its causes are looked for; an hour where it is not given.'),
    }),
  }),
);

/** The event in a body, or what is wrong with it. */
export function readEvent(body: unknown): ContextEvent | Rejection {
  const parsed = eventSchema.safeParse(body);
  if (!parsed.success) return badInput(eventComplaint(body, parsed.error));
  const { data } = parsed;
  return {
    serviceName: data.service_name,
    vendor: data.vendor,
    entity: data.entity,
    eventType: data.event_type,
    oldValue: data.old_value ?? null,
    newValue: data.new_value ?? null,
    actor: data.actor ?? null,
    sha: data.sha ?? null,
    confidence: data.confidence,
    ttlSeconds: data.ttl_seconds,
    timestampMs: data.timestamp ?? null,
    rawLine: data.raw_line ?? null,
  };
}

/** A body read by a schema, or the first thing that is wrong with it. */
export function read<T>(
  schema: z.ZodType<T>,
  body: unknown,
): { readonly type: 'read'; readonly data: T } | Rejection {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { type: 'read', data: parsed.data };
  return badInput(complaint(body, parsed.error));
}

function eventComplaint(body: unknown, error: z.ZodError): string {
  const wrong = new Set(error.issues.map((issue) => issue.path[0]));
  const required = ['service_name', 'vendor', 'entity'];
  if (required.some((field) => wrong.has(field) && isMissing(body, field))) {
    return 'service_name, vendor, and entity are required';
  }
  const field = required.find((name) => wrong.has(name));
  if (field !== undefined) return complaint(body, error);
  if (wrong.has('confidence')) return 'confidence must be between 0 and 1';
  if (wrong.has('ttl_seconds') && !isFractionOrTooLong(body)) return 'ttl_seconds must be positive';
  return complaint(body, error);
}

function isMissing(body: unknown, field: string): boolean {
  return isAbsent(member(body, field));
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => member(value, String(key)), body);
}

function isFractionOrTooLong(body: unknown): boolean {
  const value = member(body, 'ttl_seconds');
  return typeof value === 'number' && value > 0;
}

const A_TIME = 'must be an ISO 8601 time with a time zone, such as 2026-01-31T12:00:00Z';

function complaint(body: unknown, error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the body is not acceptable';
  const field = issue.path.join('.');
  switch (issue.code) {
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.join(', ')}: only config can be updated`;
    case 'invalid_type':
      if (field === '') return 'the body must be a JSON object';
      if (isAbsent(valueAt(body, issue.path))) return `${field} is required`;
      if (field === 'timestamp') return `timestamp ${A_TIME}`;
      return `${field} must be ${issue.expected === 'int' ? 'an integer' : withArticle(issue.expected)}`;
    case 'invalid_value':
      return isMissing(body, field)
        ? `${field} is required`
        : `${field} must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string'
        ? `${field} must not be empty`
        : `${field} must be more than ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `${field} must be at most ${issue.maximum} characters long`;
      return `${field} must be at most ${issue.maximum}`;
    case 'invalid_format':
      return `${field} ${A_TIME}`;
    default:
      return field === '' ? issue.message : `${field} ${issue.message}`;
  }
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
