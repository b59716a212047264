import { z } from 'zod';
import { component } from '../api-schemas/component.ts';
import { descriptionSchema, healthSchema, readinessSchema } from '../api-schemas/health.ts';
import type { Operations, Parameter } from './operation.ts';

const pageSchema = component('Page', z.string().min(1).describe('An HTML page.'));

const metricsSchema = component(
  'Metrics',
  z
    .string()
    .regex(/^# HELP /)
    .describe('Metrics in the Prometheus text format.'),
);

const METRICS = [
  '# HELP foreshock_live_events Events in windows, expired ones not yet reclaimed among them.',
  '# TYPE foreshock_live_events gauge',
  'foreshock_live_events 48211',
  '',
].join('\n');

/** A header whose value has a reason that the page itself has no room for. */
const fixed = (name: string, description: string, example: string): Parameter => ({
  name,
  description,
  schema: z.string(),
  example,
});

const PAGE_HEADERS = {
  'Content-Security-Policy': fixed(
    'Content-Security-Policy',
    'The page runs and loads nothing.',
    "default-src 'none'; style-src 'sha256-…'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ),
  'X-Content-Type-Options': fixed('X-Content-Type-Options', 'The page is a page.', 'nosniff'),
  'Referrer-Policy': fixed('Referrer-Policy', 'Its address is nobody’s business.', 'no-referrer'),
};

export const OPERATOR_OPERATIONS: Operations = {
  'GET /healthz': {
    id: 'showHealth',
    tag: 'Operations',
    summary: 'Ask whether the process answers',
    answers: {
      200: { description: 'It does.', content: { schema: healthSchema, example: { status: 'alive' } } },
    },
  },
  'GET /readyz': {
    id: 'showReadiness',
    tag: 'Operations',
    summary: 'Ask whether requests are served',
    description: '503 with the reason while starting (and how far it is), stopping, or unable to write.',
    answers: {
      200: { description: 'They are.', content: { schema: readinessSchema, example: { status: 'ready' } } },
    },
    refusals: { 503: 'the server is starting: 40 % of the log replayed, 800000 commands so far' },
  },
  'GET /metrics': {
    id: 'showMetrics',
    tag: 'Operations',
    summary: 'Read the metrics',
    description:
      'In the Prometheus text format. Shown to programs of the same machine, or as --metrics says. Nothing in it names a tenant.',
    answers: {
      200: {
        description: 'The metrics of this moment.',
        headers: { 'Cache-Control': fixed('Cache-Control', 'They are of the moment.', 'no-store') },
        content: { mediaType: 'text/plain', schema: metricsSchema, example: METRICS },
      },
    },
    refusals: { 404: 'not found' },
  },
  'GET /v1/stream': {
    id: 'openStream',
    tag: 'Services',
    summary: 'Read what changes, as it happens',
    description:
      'Server-Sent Events of everything that changes in the account. The id of each is where to go on: send it as Last-Event-ID. A reader that is too slow is cut off, and goes on from there. Where more comes than can be told beside it, readers are late, and catch up: nothing is left out. ' +
      'The data of each is JSON. `event`: a StoredEvent with agent_id and service_id. `agent`: an Agent that was registered, or has fallen silent; it is live again with its next heartbeat or event. `heartbeat`: agent_id and last_seen_at. `alert`: an Alert with `change`: fired, resolved or correlated. `delivery`: a Delivery. `integration`: its id, and whether it exists; to be read anew. `reset`: what came before is not kept any more, and what is known has to be read anew. ' +
      'With `service` only its events and alerts are told, with `event_type` only events of that type. Nothing is told when an event expires: its `expires_at` has said when. A comment comes every 15 s where nothing else does.',
    query: [
      { name: 'service', description: 'Only of this service.', schema: z.string(), example: 'checkout-api' },
      { name: 'event_type', description: 'Only events of this type.', schema: z.string(), example: 'deploy' },
    ],
    headers: [
      {
        name: 'Last-Event-ID',
        description: 'The id of the last event that was read.',
        schema: z.string(),
        example: '1204',
      },
    ],
    answers: {
      200: {
        description: 'A stream that does not end by itself.',
        headers: {
          'Cache-Control': fixed('Cache-Control', 'It is of the moment.', 'no-store'),
          'X-Accel-Buffering': fixed('X-Accel-Buffering', 'A proxy is to pass it on at once.', 'no'),
        },
        content: {
          mediaType: 'text/event-stream',
          schema: z.string(),
          example:
            'id: 1204\nevent: heartbeat\ndata: {"agent_id":"0198a2b4-0000-7000-8000-000000000001","last_seen_at":"2026-10-02T14:03:12.480Z"}\n\n',
        },
      },
    },
    refusals: {
      400: 'event_type must be one of the event types',
      429: 'too many streams of this account are open; close some',
      503: 'too many streams are open',
    },
  },
  'GET /openapi.json': {
    id: 'showDescription',
    tag: 'Operations',
    summary: 'Read this description',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        content: { schema: descriptionSchema, example: { openapi: '3.1.1' } },
      },
    },
  },
  'GET /docs': {
    id: 'showReference',
    tag: 'Operations',
    summary: 'Read this description as a page',
    answers: {
      200: {
        description: 'A page without scripts, which loads nothing from anywhere.',
        headers: PAGE_HEADERS,
        content: { mediaType: 'text/html', schema: pageSchema, example: '<!doctype html>…' },
      },
    },
  },
};
