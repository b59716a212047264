/** What callers and tenants may use at most: refused clearly, before the log, and counted. */
import { afterEach, describe, expect, it } from 'vitest';
import { bodyOf, eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { scrape } from '../support/metrics.ts';
import { RawConnection, rawRequest } from '../support/raw-socket.ts';
import { createIntegration, integrations, register, sendEvent, services, webhookPath } from './operations.ts';

let server: TestServer;
let tenant: Tenant;
afterEach(() => server.stop());

async function start(...flags: readonly string[]): Promise<void> {
  server = await TestServer.start(...flags);
  tenant = server.tenant;
}

const rejections = async (reason: string) =>
  (await scrape(server.http)).value(`foreshock_rejections_total{reason="${reason}"}`);

describe('the rate of a key', () => {
  it('is told with every answer, and refused past a burst with when to come again', async () => {
    await start('--rate-limit-key', '1');
    await register(server, tenant.ingest);
    const first = await server.http.post('/v1/events', tenant.ingest, eventBody());
    expect(first).toMatchObject({ status: 201, headers: { 'ratelimit-policy': '"key";q=10;w=10' } });
    expect(first.headers['ratelimit']).toMatch(/^"key";r=[78];t=[23]$/);

    const answers = [];
    for (let n = 0; n < 12; n += 1) answers.push(await server.http.get('/v1/services', tenant.ingest));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    for (const answer of refused) {
      expectRefusal(answer, 429, 'too many requests with this API key; try again');
      expect(answer.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-policy': '"key";q=10;w=10' });
      expect(answer.headers['ratelimit']).toMatch(/^"key";r=0;t=(?:9|10)$/);
    }
    expect(await rejections('rate-limited')).toBe(refused.length);

    // Of another key, and of none, nothing is known.
    expect((await server.http.get('/v1/services', tenant.readOnly)).status).toBe(200);
    expect((await server.http.get('/healthz')).headers['ratelimit']).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await server.http.get('/v1/services', tenant.ingest)).status).toBe(200);
  });

  it('counts a batch as its events, and lets it be paid off', async () => {
    await start('--rate-limit-key', '1');
    await register(server, tenant.ingest);
    const events = Array.from({ length: 15 }, () => eventBody());
    const batch = await server.http.post('/v1/events/batch', tenant.ingest, events);
    expect(batch).toMatchObject({
      status: 200,
      headers: { ratelimit: expect.stringMatching(/^"key";r=0;t=1[67]$/) },
    });
    const next = await server.http.post('/v1/events', tenant.ingest, eventBody());
    expectRefusal(next, 429, /this API key/);
    expect(Number(next.headers['retry-after'])).toBeGreaterThanOrEqual(5);
  });

  it('is no limit where none is set: nothing is told', async () => {
    await start();
    const answer = await server.http.get('/v1/services', tenant.readOnly);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });
});

describe('the rate of a tenant', () => {
  it('is of all its keys together, and of no other tenant', async () => {
    await start('--rate-limit-tenant', '1', '--rate-limit-key', '1000');
    const other = await server.newTenant('other');
    const statuses = [];
    for (let n = 0; n < 12; n += 1) {
      const { status } = await server.http.get('/v1/services', n % 2 === 0 ? tenant.ingest : tenant.readOnly);
      statuses.push(status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(200));
    const refused = await server.http.get('/v1/services', tenant.readOnly);
    expectRefusal(refused, 429, 'too many requests of this tenant; try again');
    expect(refused.headers['ratelimit-policy']).toBe('"key";q=10000;w=10, "tenant";q=10;w=10');
    expect((await server.http.get('/v1/services', other.readOnly)).status).toBe(200);
  });
});

describe('requests without a good key', () => {
  it('are refused with 429 past a burst, and good ones from the same address are not', async () => {
    await start('--rate-limit-failed-auth', '1');
    for (let n = 0; n < 10; n += 1) {
      const key = n % 2 === 0 ? 'nonsense' : `fsk_ro_${'0'.repeat(49)}`;
      expect((await server.http.get('/v1/services', key)).status).toBe(401);
    }
    const sentence = 'too many requests without a good API key or webhook URL from this address; try again';
    expectRefusal(await server.http.get('/v1/services', 'nonsense'), 429, sentence);
    expectRefusal(await server.http.get('/v1/services'), 429, sentence);
    expect((await server.http.get('/v1/services', tenant.readOnly)).status).toBe(200);
    // The wrong kind of key is a good key.
    expect((await server.http.get('/v1/agents', tenant.ingest)).status).toBe(403);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await server.http.get('/v1/services', 'nonsense')).status).toBe(401);
  });
});

describe('requests to webhook URLs that are none', () => {
  it('are refused with 429 past a burst, and good ones from the same address are not', async () => {
    await start('--rate-limit-failed-auth', '1');
    const good = webhookPath(
      await createIntegration(server, tenant.readOnly, { type: 'alertmanager', direction: 'inbound' }),
    );
    const post = (path: string) => server.http.post(path, undefined, { alerts: [] });
    const wrong = () => post(`/webhooks/alertmanager/${'0'.repeat(43)}`);
    for (let n = 0; n < 10; n += 1) expect((await wrong()).status).toBe(404);
    const refused = await wrong();
    expectRefusal(refused, 429, /^too many requests without a good API key or webhook URL/);
    expect(refused.headers['retry-after']).toBe('1');
    expect((await post(good)).status).toBe(202);
  });
});

describe('a tenant', () => {
  it('has no more services than it may, and goes on with those it has', async () => {
    await start('--max-services', '3');
    await register(server, tenant.ingest);
    for (const service_name of ['a', 'b']) await sendEvent(server, tenant.ingest, { service_name });
    const of = (...names: readonly string[]) => names.map((service_name) => eventBody({ service_name }));
    const batch = (...names: readonly string[]) =>
      server.http.post('/v1/events/batch', tenant.ingest, of(...names));
    // Sent again with its key it must be answered as it was, whatever room there is then: so, whole or not at all.
    const before = await server.everything(tenant);
    const keyed = { 'Idempotency-Key': 'k-1' };
    const whole = await server.http.post('/v1/events/batch', tenant.ingest, of('a', 'c', 'd'), keyed);
    expectRefusal(whole, 400, 'a tenant has at most 3 services');
    expect(await server.everything(tenant)).toEqual(before);

    const detail = 'a tenant has at most 3 services';
    const bad = { index: 1, detail: 'confidence must be between 0 and 1' };
    const mixed = [
      ...of('a'),
      eventBody({ service_name: 'x', confidence: 7 }),
      ...of('c', 'd', 'b', 'd', 'c', 'e'),
    ];
    const rejected = [bad, { index: 3, detail }, { index: 5, detail }, { index: 7, detail }];
    for (const [body, type] of [
      [mixed, 'application/json'],
      [mixed.map((event) => JSON.stringify(event)).join('\n'), 'application/x-ndjson'],
    ] as const) {
      const answer = await server.http.post('/v1/events/batch', tenant.ingest, body, {
        'Content-Type': type,
      });
      expect(bodyOf(answer)).toEqual({ accepted: 4, rejected });
    }
    expect(bodyOf(await batch('f', 'g'))).toMatchObject({
      accepted: 0,
      rejected: [{ index: 0 }, { index: 1 }],
    });
    expect((await batch('a', 'b', 'a', 'b', 'c', 'c')).status).toBe(200);
    expectRefusal(
      await server.http.post('/v1/events', tenant.ingest, eventBody({ service_name: 'd' })),
      400,
      'a tenant has at most 3 services',
    );
    await sendEvent(server, tenant.ingest, { service_name: 'c' });
    expect((await services(server, tenant.readOnly)).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
    expect(await rejections('limit-reached')).toBe(2);

    const other = await server.newTenant('other');
    await register(server, other.ingest);
    await sendEvent(server, other.ingest, { service_name: 'd' });
  });

  it('has no more integrations than it may, until one is deleted', async () => {
    await start('--max-integrations', '2');
    const [first] = [
      await createIntegration(server, tenant.readOnly),
      await createIntegration(server, tenant.readOnly),
    ];
    const body = { type: 'pagerduty', direction: 'inbound' };
    const refused = await server.http.post('/v1/integrations', tenant.readOnly, body);
    expectRefusal(refused, 400, 'a tenant has at most 2 integrations');
    await server.http.delete(`/v1/integrations/${first?.id}`, tenant.readOnly);
    await createIntegration(server, tenant.readOnly);
    expect(await integrations(server, tenant.readOnly)).toHaveLength(2);
  });
});

describe('a connection too many', () => {
  it('is told so and closed, and the others are served', async () => {
    await start('--max-connections', '5');
    const kept = await Promise.all(Array.from({ length: 5 }, () => RawConnection.open(server.process.port)));
    for (const connection of kept) {
      await connection.send(rawRequest({ path: '/healthz' }));
      expect(await connection.answer()).toMatchObject({ status: 200 });
    }
    const refused = await RawConnection.open(server.process.port);
    const answer = await refused.answer();
    expect(answer).toMatchObject({ status: 503, body: 'too many connections; try again' });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]+$/);
    expect(await refused.remainder(200)).toBe('');
    expect(refused.closed).toBe(true);
    refused.destroy();

    for (const connection of kept) {
      await connection.send(rawRequest({ path: '/healthz' }));
      expect(await connection.answer()).toMatchObject({ status: 200 });
    }
    for (const connection of kept) connection.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const scraped = await scrape(server.http);
    expect(scraped.value('foreshock_http_connections_total{outcome="refused"}')).toBe(1);
    expect(scraped.value('foreshock_http_connections')).toBeLessThanOrEqual(2);
  });
});
