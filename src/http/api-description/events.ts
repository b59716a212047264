import { z } from 'zod';
import { LIMITS } from '../../domain/limits.ts';
import { KEY_REUSED } from '../../domain/rejection.ts';
import { component } from '../api-schemas/component.ts';
import { batchResultSchema } from '../api-schemas/events.ts';
import { eventSchema } from '../schemas.ts';
import { FACTS } from './examples.ts';
import type { Operations, Parameter } from './operation.ts';

const EVENT = { ...FACTS, ttl_seconds: 3600, timestamp: '2026-10-02T14:03:11Z' };

const batchSchema = component('EventBatch', z.array(eventSchema).max(LIMITS.batchEvents));
const linesSchema = component('EventLines', z.string().describe('An event a line, each a JSON object.'));

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  description:
    'What the agent calls the request, the same when it is sent again: within 24 h that changes nothing, and is answered as the first was. The oldest of very many keys are forgotten earlier.',
  schema: z.string().min(1).max(255),
  example: '5f1c7a52-0a3e-4a6e-8f64-9f0c2a7d1b90',
};

const REPLAYED: Readonly<Record<string, Parameter>> = {
  'Idempotent-Replayed': {
    name: 'Idempotent-Replayed',
    description: 'The request was carried out before, and not again.',
    schema: z.literal('true'),
    example: 'true',
    isOptional: true,
  },
};

const REUSED = KEY_REUSED.detail;
const NOT_REGISTERED = 'agent not registered';

export const EVENT_OPERATIONS: Operations = {
  'POST /v1/events': {
    id: 'recordEvent',
    tag: 'Events',
    summary: 'Report an event',
    description:
      'The service it names is there from then on; the event is in its state window for ttl_seconds from its receipt. It counts as a heartbeat of the agent. raw_line is kept for audit on the box and never sent anywhere.',
    body: [{ schema: eventSchema, example: EVENT }],
    headers: [IDEMPOTENCY_KEY],
    answers: { 201: { description: 'It is recorded.', headers: REPLAYED } },
    refusals: { 400: 'service_name, vendor, and entity are required', 403: NOT_REGISTERED, 422: REUSED },
  },
  'POST /v1/events/batch': {
    id: 'recordEvents',
    tag: 'Events',
    summary: 'Report many events',
    description:
      'Each event is judged by itself. Those that are good are recorded together or, where the answer is an error, not at all.',
    body: [
      { schema: batchSchema, example: [EVENT] },
      {
        mediaType: 'application/x-ndjson',
        schema: linesSchema,
        example: `${JSON.stringify(EVENT)}\n${JSON.stringify({ ...EVENT, ttl_seconds: 0 })}\n`,
      },
    ],
    headers: [IDEMPOTENCY_KEY],
    answers: {
      200: {
        headers: REPLAYED,
        description: 'What was taken, and why the others were not.',
        content: {
          schema: batchResultSchema,
          example: { accepted: 1, rejected: [{ index: 1, detail: 'ttl_seconds must be positive' }] },
        },
      },
    },
    refusals: {
      400: 'the body must be a JSON array of events, or an event a line (application/x-ndjson)',
      403: NOT_REGISTERED,
      422: REUSED,
      413: `a batch holds at most ${LIMITS.batchEvents} events`,
      415: 'the body must be JSON (application/json), or an event a line (application/x-ndjson)',
    },
  },
};
