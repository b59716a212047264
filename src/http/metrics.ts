import type { MetricsAccess } from '../domain/metrics-access.ts';
import { NOT_FOUND } from '../domain/rejection.ts';
import type { Api } from './api.ts';
import type { ClientAddresses } from './client-addresses.ts';
import { metricsResponse } from './responses.ts';
import type { Call } from './route.ts';

export interface MetricsAudience {
  readonly access: MetricsAccess;
  readonly clients: ClientAddresses;
}

/** GET /metrics: to whom it is not shown, it is a path that does not exist. */
export function showMetrics(
  api: Pick<Api, 'metrics'>,
  { access, clients }: MetricsAudience,
  { exchange, head }: Call,
): void {
  const isShown =
    access === 'everybody' || (access === 'loopback' && clients.isLocal(exchange.remoteAddress, head));
  if (isShown) exchange.answer(metricsResponse(api.metrics()));
  else exchange.reject(NOT_FOUND);
}
