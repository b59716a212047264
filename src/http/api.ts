/** What the handlers of routes work with. */

import type { Pipeline } from '../commands/pipeline.ts';
import type { Submission } from '../domain/encoded-events.ts';
import type { Integration } from '../domain/integration.ts';
import type { Rejection } from '../domain/rejection.ts';
import type { EventTranscoder } from '../events/transcoder.ts';
import type { Entropy } from '../lib/entropy.ts';
import type { Found, Queries } from '../queries/queries.ts';
import type { StreamHub } from '../stream/hub.ts';
import type { Exchange } from './exchange.ts';
import { json, type Response, type Status } from './responses.ts';

export interface Api {
  readonly pipeline: Pipeline;
  readonly queries: Queries;
  readonly streams: StreamHub;
  /** The active integration that has a webhook token. */
  integrationByToken(token: string): Integration | undefined;
  readonly entropy: Entropy;
  readonly transcoder: EventTranscoder;
}

/** Submits a command and answers what became of it. */
export function carryOut(
  api: Api,
  exchange: Exchange,
  command: Submission,
  answer: () => Response | Rejection,
): void {
  api.pipeline.submit(command, (outcome) => {
    exchange.guard(() => {
      if (outcome.type === 'rejection') exchange.reject(outcome);
      else reply(exchange, answer());
    });
  });
}

export function reply(exchange: Exchange, answer: Response | Rejection): void {
  if ('status' in answer) exchange.answer(answer);
  else exchange.reject(answer);
}

/** What a query found, as an answer. */
export function show(found: Found | Rejection, status: Status = 200): Response | Rejection {
  return found.type === 'found' ? json(status, found.json) : found;
}
