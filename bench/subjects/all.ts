/** What can be measured, by the name it is asked for. */
import type { Subject } from '../subject.ts';
import { batch } from './batch.ts';
import { context } from './context.ts';
import { expiry } from './expiry.ts';
import { full } from './full.ts';
import { fsync, ingest } from './ingest.ts';
import { lists } from './lists.ts';
import { alertmanager, fastify, redis } from './peers.ts';
import { scale } from './scale.ts';
import { stream } from './stream.ts';

export const SUBJECTS: ReadonlyMap<string, { readonly about: string; readonly run: Subject }> = new Map([
  ['ingest', { about: 'POST /v1/events in write mode, against a bare handler', run: ingest }],
  ['fsync', { about: 'the same in fsync mode', run: fsync }],
  ['fastify', { about: 'against Fastify, which validates and stores nothing', run: fastify }],
  ['alertmanager', { about: 'against Prometheus Alertmanager', run: alertmanager }],
  ['redis', { about: 'against XADD to Redis with an append-only file', run: redis }],
  ['batch', { about: 'POST /v1/events/batch, events a second on one core', run: batch }],
  ['context', { about: "a service's window, against a bare handler that answers a constant", run: context }],
  ['full', { about: 'two million live events: memory, and latency at a constant rate', run: full }],
  ['expiry', { about: 'the longest stall as a million events expire', run: expiry }],
  ['lists', { about: 'the longest stall as 10 000 agents or services are listed', run: lists }],
  ['scale', { about: 'what an ingest costs with many services and many agents', run: scale }],
  [
    'stream',
    { about: 'what 100 readers of the stream cost ingest, and thousands of idle ones', run: stream },
  ],
]);
