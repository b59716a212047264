/** Every route there is. The listener serves this table, and the tests of access are made from it. */

import type { MetricsAccess } from '../domain/metrics-access.ts';
import { NOT_JSON } from '../domain/rejection.ts';
import type { TrustedProxy } from '../lib/trusted-proxy.ts';
import * as agents from './agents.ts';
import * as alerts from './alerts.ts';
import type { Api } from './api.ts';
import * as batch from './batch.ts';
import { ClientAddresses } from './client-addresses.ts';
import { Documentation } from './documentation.ts';
import * as events from './events.ts';
import { type Readiness, showHealth, showReadiness } from './health.ts';
import * as integrations from './integrations.ts';
import { showMetrics } from './metrics.ts';
import { isJsonType } from './request.ts';
import type { Call, KeyCall, KeyRoute, RawCall, Route } from './route.ts';
import * as services from './services.ts';
import * as stream from './stream.ts';
import * as webhooks from './webhooks.ts';

type Handler = (api: Api, call: KeyCall) => void;
type Line = readonly [KeyRoute['method'], string, KeyRoute['access'], KeyRoute['body'], Handler];

const KEY_ROUTES: readonly Line[] = [
  ['POST', '/v1/agents/register', 'ingest', 'json', agents.registerAgent],
  ['POST', '/v1/agents/:id/heartbeat', 'ingest', 'none', agents.heartbeat],
  ['GET', '/v1/agents', 'read-only', 'none', agents.listAgents],
  ['GET', '/v1/agents/:id', 'read-only', 'none', agents.showAgent],
  ['GET', '/v1/services', 'any-key', 'none', services.listServices],
  ['GET', '/v1/services/:id/context', 'any-key', 'none', services.showServiceContext],
  ['GET', '/v1/services/:id/events', 'read-only', 'none', services.showServiceLog],
  ['GET', '/v1/integrations', 'read-only', 'none', integrations.listIntegrations],
  ['POST', '/v1/integrations', 'read-only', 'json', integrations.createIntegration],
  ['PUT', '/v1/integrations/:id', 'read-only', 'json', integrations.updateIntegration],
  ['DELETE', '/v1/integrations/:id', 'read-only', 'none', integrations.deleteIntegration],
  ['POST', '/v1/integrations/:id/rotate-token', 'read-only', 'none', integrations.rotateToken],
  ['GET', '/v1/integrations/:id/deliveries', 'read-only', 'none', alerts.listDeliveries],
  ['GET', '/v1/alerts', 'read-only', 'none', alerts.listAlerts],
  ['GET', '/v1/alerts/:id', 'read-only', 'none', alerts.showAlert],
  ['GET', '/v1/stream', 'read-only', 'none', stream.openStream],
];

export interface RouteSettings {
  readonly metrics: MetricsAccess;
  readonly trustProxy: readonly TrustedProxy[];
  readonly maxBodyBytes: number;
  readonly maxBatchBytes: number;
}

export function routes(api: Api, settings: RouteSettings, readiness: () => Readiness): Route[] {
  const audience = { access: settings.metrics, clients: new ClientAddresses(settings.trustProxy) };
  const documentation = new Documentation(api, () => table);
  const table: Route[] = [
    { method: 'GET', path: '/healthz', access: 'public', body: 'none', handle: showHealth },
    {
      method: 'GET',
      path: '/readyz',
      access: 'public',
      body: 'none',
      handle: (call) => showReadiness(readiness(), call),
    },
    {
      method: 'GET',
      path: '/metrics',
      access: 'public',
      body: 'none',
      handle: (call) => showMetrics(api, audience, call),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      access: 'public',
      body: 'none',
      handle: (call) => documentation.showDescription(call),
    },
    {
      method: 'GET',
      path: '/docs',
      access: 'public',
      body: 'none',
      handle: (call) => documentation.showReference(call),
    },
    ...KEY_ROUTES.map(
      ([method, path, access, body, handle]): Route => ({
        method,
        path,
        access,
        body,
        handle: (call: KeyCall) => handle(api, call),
      }),
    ),
    {
      method: 'POST',
      path: '/v1/events',
      access: 'ingest',
      body: 'bytes',
      maxBytes: settings.maxBodyBytes,
      refuseType: (contentType) => (isJsonType(contentType) ? undefined : NOT_JSON),
      handle: (call) => events.recordEvent(api, call),
    },
    {
      method: 'POST',
      path: '/v1/events/batch',
      access: 'ingest',
      body: 'bytes',
      maxBytes: settings.maxBatchBytes,
      refuseType: batch.refuseBatchType,
      handle: (call) => batch.recordBatch(api, call),
    },
    {
      method: 'POST',
      path: '/webhooks/:type/:token',
      access: 'webhook-token',
      body: 'raw',
      admit: (call: Call) => webhooks.admitWebhook(api, call),
      handle: (call: RawCall) => webhooks.receiveWebhook(api, call),
    },
  ];
  return table;
}
