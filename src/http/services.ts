import { parseUuid } from '../domain/ids.ts';
import { NOT_FOUND } from '../domain/rejection.ts';
import { type Api, reply, replyWithList, show } from './api.ts';
import type { KeyCall } from './route.ts';

/** GET /v1/services */
export function listServices(api: Api, { exchange, key }: KeyCall): void {
  replyWithList(api, exchange, api.queries.services(key.tenantId));
}

/** GET /v1/services/{id}/context */
export function showServiceContext(api: Api, { exchange, key, params }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  reply(exchange, show(api.queries.serviceContext(key.tenantId, id)));
}
