import { isEventType } from '../domain/event.ts';
import { badInput, type Rejection } from '../domain/rejection.ts';
import type { StreamFilter } from '../stream/filter.ts';
import { parsePoint } from '../stream/resume-point.ts';
import type { Api } from './api.ts';
import { filterIn } from './paging.ts';
import type { Headers } from './responses.ts';
import type { KeyCall } from './route.ts';

const NOT_AN_ID = badInput('Last-Event-ID must be the id of a message of this stream');

/** Seconds: a stream may end at any time. */
const RETRY_AFTER: Headers = [['Retry-After', '10']];

/** GET /v1/stream */
export function openStream({ streams }: Api, { exchange, key, head, query }: KeyCall): void {
  const filter = readFilter(new URLSearchParams(query));
  if ('type' in filter) return exchange.reject(filter);
  const from = head.lastEventId === '' ? null : parsePoint(head.lastEventId);
  if (from === undefined) return exchange.reject(NOT_AN_ID);
  const refused = streams.refusal(key);
  if (refused !== undefined) {
    return exchange.reject(refused, refused.kind === 'rate-limited' ? RETRY_AFTER : []);
  }
  const socket = exchange.stream();
  if (socket !== undefined) socket.listener = streams.open({ key, filter, from }, socket);
}

function readFilter(query: URLSearchParams): StreamFilter | Rejection {
  const eventType = filterIn(query, 'event_type');
  if (eventType !== null && !isEventType(eventType))
    return badInput('event_type must be one of the event types');
  return { service: filterIn(query, 'service'), eventType };
}
