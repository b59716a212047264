import { type EventId, parseUuid } from '../domain/ids.ts';
import { badInput, NOT_FOUND, type Rejection } from '../domain/rejection.ts';
import type { ServiceLogRequest } from '../queries/service-log.ts';
import { WindowJson } from '../queries/window-json.ts';
import { type Api, reply, replyWhenMade, show } from './api.ts';
import { eventTypeIn, filterIn, perPageIn } from './paging.ts';
import type { KeyCall } from './route.ts';

/** GET /v1/services */
export function listServices(api: Api, { exchange, key }: KeyCall): void {
  replyWhenMade(api, exchange, api.queries.services(key.tenantId));
}

/** GET /v1/services/{id}/context */
export function showServiceContext(api: Api, { exchange, key, params }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const context = api.queries.serviceContext(key.tenantId, id);
  if (context instanceof WindowJson) replyWhenMade(api, exchange, context);
  else reply(exchange, show(context));
}

/** GET /v1/services/{id}/events */
export function showServiceLog(api: Api, { exchange, key, params, query }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const request = readServiceLogRequest(new URLSearchParams(query));
  if ('type' in request) return exchange.reject(request);
  reply(exchange, show(api.queries.serviceLog(key.tenantId, id, request)));
}

function readServiceLogRequest(query: URLSearchParams): ServiceLogRequest | Rejection {
  const perPage = perPageIn(query);
  if (typeof perPage !== 'number') return perPage;
  const eventType = eventTypeIn(query);
  if (eventType !== null && typeof eventType !== 'string') return eventType;
  const before = filterIn(query, 'before');
  const id = before === null ? null : parseUuid(before);
  if (id === undefined) return badInput('before must be the id of an event');
  return { perPage, eventType, before: id as EventId | null };
}
