import { ALERT_STATUSES, type AlertStatus } from '../domain/alert.ts';
import { parseUuid } from '../domain/ids.ts';
import { badInput, NOT_FOUND, type Rejection } from '../domain/rejection.ts';
import type { AlertsRequest } from '../queries/alerts.ts';
import { type Api, reply, show } from './api.ts';
import { filterIn, pageIn } from './paging.ts';
import type { KeyCall } from './route.ts';

/** GET /v1/alerts */
export function listAlerts(api: Api, { exchange, key, head }: KeyCall): void {
  const request = readAlertsRequest(new URLSearchParams(head.query));
  if ('type' in request) return exchange.reject(request);
  reply(exchange, show(api.queries.alerts(key.tenantId, request)));
}

/** GET /v1/alerts/{id} */
export function showAlert(api: Api, { exchange, key, params }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  reply(exchange, show(api.queries.alert(key.tenantId, id)));
}

/** GET /v1/integrations/{id}/deliveries */
export function listDeliveries(api: Api, { exchange, key, params }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  reply(exchange, show(api.queries.deliveries(key.tenantId, id)));
}

function readAlertsRequest(query: URLSearchParams): AlertsRequest | Rejection {
  const page = pageIn(query);
  if ('type' in page) return page;
  const status = filterIn(query, 'status');
  if (status !== null && !isStatus(status))
    return badInput(`status must be one of ${ALERT_STATUSES.join(', ')}`);
  return { ...page, service: filterIn(query, 'service'), status };
}

function isStatus(text: string): text is AlertStatus {
  return ALERT_STATUSES.some((status) => status === text);
}
