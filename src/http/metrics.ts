import type { MetricsAccess } from '../domain/metrics-access.ts';
import { NOT_FOUND } from '../domain/rejection.ts';
import { isLoopback } from '../lib/address.ts';
import type { Api } from './api.ts';
import { metricsResponse } from './responses.ts';
import type { Call } from './route.ts';

/** GET /metrics: to whom it is not shown, it is a path that does not exist. */
export function showMetrics(api: Pick<Api, 'metrics'>, access: MetricsAccess, { exchange }: Call): void {
  const isShown = access === 'everybody' || (access === 'loopback' && isLoopback(exchange.remoteAddress));
  if (isShown) exchange.answer(metricsResponse(api.metrics()));
  else exchange.reject(NOT_FOUND);
}
