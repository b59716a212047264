/** The operations of the interface as calls, for tests that need their results more than their answers. */
import { expect } from 'vitest';
import { bodyOf, eventBody, type Tenant, type TestServer } from '../support/http.ts';
import type { AgentBody, EventLogBody, IntegrationBody, ServiceBody, WindowBody } from './bodies.ts';

export async function register(
  { http }: TestServer,
  ingest: string,
  body: object = { hostname: 'db-1' },
): Promise<AgentBody> {
  return bodyOf(await http.post('/v1/agents/register', ingest, body), 201);
}

export async function sendEvent(
  { http }: TestServer,
  ingest: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  expect(await http.post('/v1/events', ingest, eventBody(fields))).toMatchObject({ status: 201, text: '' });
}

export async function eventLog(
  { http }: TestServer,
  readOnly: string,
  agentId: string,
  query = '',
): Promise<EventLogBody> {
  return bodyOf(await http.get(`/v1/agents/${agentId}${query}`, readOnly));
}

export async function services({ http }: TestServer, key: string): Promise<readonly ServiceBody[]> {
  return bodyOf(await http.get('/v1/services', key));
}

/** The service of a name; fails where there is none. */
export async function serviceNamed(server: TestServer, key: string, name: string): Promise<ServiceBody> {
  const found = (await services(server, key)).filter((service) => service.name === name);
  expect(found).toHaveLength(1);
  const [service] = found;
  if (service === undefined) throw new Error(`no service ${name}`);
  return service;
}

export async function windowOf(server: TestServer, key: string, name: string): Promise<WindowBody> {
  const { id } = await serviceNamed(server, key, name);
  return bodyOf(await server.http.get(`/v1/services/${id}/context`, key));
}

export async function createIntegration(
  { http }: TestServer,
  readOnly: string,
  body: object = { type: 'pagerduty', direction: 'inbound' },
): Promise<IntegrationBody> {
  return bodyOf(await http.post('/v1/integrations', readOnly, body), 201);
}

export async function integrations(
  { http }: TestServer,
  readOnly: string,
): Promise<readonly IntegrationBody[]> {
  return bodyOf(await http.get('/v1/integrations', readOnly));
}

/** The path of an integration's webhook, whatever host its URL names. */
export function webhookPath({ type, token }: IntegrationBody): string {
  return `/webhooks/${type}/${token}`;
}

/** An incident of PagerDuty's that is told of by webhook; answers the id of its alert. */
export async function raiseAlert(
  server: TestServer,
  tenant: Tenant,
  integration: IntegrationBody,
  incident: string,
  more: object = {},
): Promise<string> {
  const data = { id: incident, type: 'incident', title: `incident ${incident}`, ...more };
  const body = { event: { id: `event-of-${incident}`, event_type: 'incident.triggered', data } };
  expect((await server.http.post(webhookPath(integration), undefined, body)).status).toBe(202);
  for (;;) {
    const { alerts } = bodyOf(await server.http.get('/v1/alerts?per_page=100', tenant.readOnly)) as {
      alerts: { id: string; key: string }[];
    };
    const alert = alerts.find(({ key }) => key === incident);
    if (alert !== undefined) return alert.id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
