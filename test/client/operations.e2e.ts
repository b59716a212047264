/** Every operation of the API through the client, against a real server: the description says which there are. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ForeshockClient, type Integration } from '../../src/client/index.ts';
import { description, expectDescribed } from '../support/description.ts';
import { TestServer } from '../support/http.ts';

/** What the client calls otherwise: an operation that does not end is no call. */
const NAMES: Readonly<Record<string, string>> = { openStream: 'stream' };
const EVENT = {
  service_name: 'orders-db',
  vendor: 'postgresql',
  entity: 'work_mem',
  event_type: 'flag_change',
  confidence: 0.95,
  ttl_seconds: 3600,
} as const;

interface Known {
  readonly ingest: ForeshockClient;
  readonly reader: ForeshockClient;
  readonly agentId: string;
  readonly serviceId: string;
  readonly alertId: string;
  /** An integration of its own. */
  readonly integration: () => Promise<Integration>;
}

const CALLS: Readonly<Record<string, (known: Known) => Promise<unknown>>> = {
  registerAgent: ({ ingest }) => ingest.registerAgent({ hostname: 'db-1', version: '2' }),
  heartbeat: ({ ingest, agentId }) => ingest.heartbeat(agentId),
  listAgents: ({ reader }) => reader.listAgents(),
  showAgent: ({ reader, agentId }) => reader.showAgent(agentId, { per_page: 20, event_type: 'deploy' }),
  recordEvent: ({ ingest }) => ingest.recordEvent(EVENT),
  recordEvents: ({ ingest }) => ingest.recordEvents([EVENT, { ...EVENT, ttl_seconds: 0 }]),
  listServices: ({ reader }) => reader.listServices(),
  showServiceContext: ({ reader, serviceId }) => reader.showServiceContext(serviceId),
  showServiceLog: ({ reader, serviceId }) => reader.showServiceLog(serviceId, { per_page: 20 }),
  listIntegrations: ({ reader }) => reader.listIntegrations(),
  createIntegration: ({ reader }) => reader.createIntegration({ type: 'alertmanager', direction: 'inbound' }),
  configureIntegration: async ({ reader, integration }) =>
    reader.configureIntegration((await integration()).id, { lookback_seconds: 60 }),
  deleteIntegration: async ({ reader, integration }) => reader.deleteIntegration((await integration()).id),
  rotateToken: async ({ reader, integration }) => reader.rotateToken((await integration()).id),
  listDeliveries: async ({ reader, integration }) => reader.listDeliveries((await integration()).id),
  listAlerts: ({ reader }) => reader.listAlerts({ status: 'firing' }),
  showAlert: ({ reader, alertId }) => reader.showAlert(alertId),
  openStream: async ({ reader }) => {
    const { value } = await reader.stream({ lastEventId: '1' }).next();
    return value;
  },
  receiveWebhook: async ({ reader, integration }) => {
    const { token } = await integration();
    return reader.receiveWebhook('pagerduty', token, { event: { event_type: 'nothing.new' } });
  },
  showHealth: ({ reader }) => reader.showHealth(),
  showReadiness: ({ reader }) => reader.showReadiness(),
  showMetrics: ({ reader }) => reader.showMetrics(),
  showDescription: ({ reader }) => reader.showDescription(),
  showReference: ({ reader }) => reader.showReference(),
};

const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    id: String(operation['operationId']),
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

describe('the client', () => {
  let server: TestServer;
  let known: Known;
  /** What went over the wire, as `GET /v1/agents`. */
  let seen: string[] = [];

  beforeAll(async () => {
    server = await TestServer.start();
    const recording = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      const { pathname } = new URL(url);
      seen.push(`${init.method} ${pathname}`);
      if (pathname === '/v1/stream') return response;
      const { date: _, uwebsockets: __, ...headers } = Object.fromEntries(response.headers);
      const answer = { status: response.status, headers, text: await response.clone().text() };
      expectDescribed({ method: init.method ?? '', path: pathname, answer });
      return response;
    };
    const { url, ingestKey, readOnlyKey } = server.process;
    const ingest = new ForeshockClient({ baseUrl: url, apiKey: ingestKey, fetch: recording });
    const reader = new ForeshockClient({ baseUrl: url, apiKey: readOnlyKey, fetch: recording });
    const { id: agentId } = await ingest.registerAgent({ hostname: 'db-1' });
    await ingest.recordEvent(EVENT);
    const [service] = await reader.listServices();
    const integration = () => reader.createIntegration({ type: 'pagerduty', direction: 'inbound' });
    const data = { id: 'P1', type: 'incident', title: 'slow', service: { summary: EVENT.service_name } };
    const { token } = await integration();
    await reader.receiveWebhook('pagerduty', token, { event: { event_type: 'incident.triggered', data } });
    const isWorkedOut = async () => (await reader.listAlerts()).total === 1;
    await vi.waitUntil(isWorkedOut, { timeout: 10_000 });
    const { alerts } = await reader.listAlerts();
    known = {
      ingest,
      reader,
      agentId,
      serviceId: service?.id ?? '',
      alertId: alerts[0]?.id ?? '',
      integration,
    };
  });
  afterAll(() => server.stop());

  it('has every operation of the description, under its name', () => {
    expect(Object.keys(CALLS).sort()).toEqual(operations.map(({ id }) => id).sort());
    const { reader } = known;
    for (const { id } of operations)
      expect(reader[(NAMES[id] ?? id) as 'listAgents'], id).toBeTypeOf('function');
  });

  it.each(operations)('$id calls $method $pattern, and takes its answer', async ({ id, method, pattern }) => {
    seen = [];
    const answer = await CALLS[id]?.(known);
    const [called = '', path = ''] = seen.at(-1)?.split(' ') ?? [];
    expect(called).toBe(method);
    expect(path).toMatch(pattern);
    if (
      /^(?:list|show|create|record|rotate|configure|register|receive|open)/.test(id) &&
      id !== 'recordEvent'
    )
      expect(answer).toBeDefined();
  });

  it('gives what the server answered', async () => {
    const { ingest, reader, serviceId, alertId } = known;
    const rejected = [{ index: 1, detail: 'ttl_seconds must be positive' }];
    expect(await ingest.recordEvents([EVENT, { ...EVENT, ttl_seconds: 0 }])).toEqual({
      accepted: 1,
      rejected,
    });
    expect(await ingest.recordEvents([])).toEqual({ accepted: 0, rejected: [] });
    const window = await reader.showServiceContext(serviceId);
    expect(window.flag_change_events[0]).toMatchObject({ entity: 'work_mem', confidence: 0.95 });
    const alert = await reader.showAlert(alertId);
    expect(alert.candidates[0]).toMatchObject({ event: { entity: 'work_mem' } });
    expect(await reader.showHealth()).toEqual({ status: 'alive' });
    expect(await reader.showMetrics()).toMatch(/^# HELP /);
  });

  it('tells how it was refused: status, sentence, and the id under which the server logged it', async () => {
    const { ingest, reader } = known;
    await expect(ingest.listAgents()).rejects.toMatchObject({
      kind: 'refused',
      call: 'GET /v1/agents',
      status: 403,
      title: 'Forbidden',
      requestId: expect.stringMatching(/\S/),
      retryable: false,
      attempts: 1,
    });
    await expect(ingest.recordEvent({ ...EVENT, ttl_seconds: -1 })).rejects.toMatchObject({
      detail: 'ttl_seconds must be positive',
      message: 'POST /v1/events: 400 ttl_seconds must be positive',
    });
    await expect(reader.showAlert('../agents')).rejects.toMatchObject({ status: 404 });
  });

  it('records an event once, however often it is sent with its key', async () => {
    const { ingest, reader, agentId } = known;
    const { total } = await reader.showAgent(agentId);
    for (let time = 0; time < 3; time++) await ingest.recordEvent(EVENT, { idempotencyKey: 'the-same' });
    expect((await reader.showAgent(agentId)).total).toBe(total + 1);
  });

  it('gives a list of many pages as one, each entry once though more come meanwhile', async () => {
    const { ingest, reader, agentId } = known;
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...EVENT, entity: `e${at}` }));
    await ingest.recordEvents(many(250));
    const before = (await reader.showAgent(agentId)).total;
    const entities: string[] = [];
    const ids = new Set<string>();
    for await (const { id, entity } of reader.agentEvents(agentId)) {
      if (entities.length === 50) await ingest.recordEvents(many(30));
      entities.push(entity);
      ids.add(id);
    }
    expect(entities).toHaveLength(before);
    expect(ids.size).toBe(before);
    expect(entities.slice(0, 3)).toEqual(['e249', 'e248', 'e247']);
    const keys: string[] = [];
    for await (const { key } of reader.alerts({ service: EVENT.service_name })) keys.push(key);
    expect(keys).toEqual(['P1']);
  });
});
