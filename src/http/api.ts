/** What the handlers of routes work with. */

import type { Pipeline } from '../commands/pipeline.ts';
import type { Submission } from '../domain/encoded-events.ts';
import type { Integration } from '../domain/integration.ts';
import type { Rejection } from '../domain/rejection.ts';
import type { EventTranscoder } from '../events/transcoder.ts';
import type { Entropy } from '../lib/entropy.ts';
import type { Lister, Making } from '../queries/lister.ts';
import type { Found, Queries } from '../queries/queries.ts';
import type { StreamHub } from '../stream/hub.ts';
import type { Exchange } from './exchange.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { json, type Response, type Status } from './responses.ts';

export interface Api {
  /** Of Foreshock. */
  readonly version: string;
  readonly pipeline: Pipeline;
  readonly queries: Queries;
  readonly lister: Lister;
  readonly streams: StreamHub;
  /** The active integration that has a webhook token. */
  integrationByToken(token: string): Integration | undefined;
  readonly entropy: Entropy;
  readonly transcoder: EventTranscoder;
  readonly rateLimiter: RateLimiter;
  /** The metrics of this moment, in the Prometheus text format. */
  metrics(): string;
}

/** Submits a command and answers what became of it. */
export function carryOut(
  api: Api,
  exchange: Exchange,
  command: Submission,
  answer: () => Response | Rejection,
): void {
  api.pipeline.submit(command, (outcome) => {
    try {
      if (outcome.type === 'rejection') return exchange.reject(outcome);
      const told = answer();
      reply(exchange, outcome.isReplay === true ? asReplayed(told) : told);
    } catch (error) {
      exchange.threw(error);
    }
  });
}

/** Said of the answer to a request that was carried out before, and has changed nothing now. */
function asReplayed(answer: Response | Rejection): Response | Rejection {
  if (!('status' in answer)) return answer;
  return { ...answer, headers: [...answer.headers, ['Idempotent-Replayed', 'true']] };
}

export function reply(exchange: Exchange, answer: Response | Rejection): void {
  if ('status' in answer) exchange.answer(answer);
  else exchange.reject(answer);
}

/** What a query found, as an answer. */
export function show(found: Found<string | Buffer> | Rejection, status: Status = 200): Response | Rejection {
  return found.type === 'found' ? json(status, found.json) : found;
}

/** Answers with a list, or what a window shows: a short one at once, a long one when it is made. */
export function replyWhenMade({ lister }: Api, exchange: Exchange, making: Making): void {
  lister.ask(making, (body) => exchange.guard(() => exchange.answer(json(200, body))));
}
