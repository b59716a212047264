/** GET /metrics: what is counted is what happened. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent } from '../http/operations.ts';
import { eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { scrape } from '../support/metrics.ts';
import { withConnection } from '../support/raw-socket.ts';

let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  await register(server, tenant.ingest);
});
afterAll(() => server.stop());

/** How much each series grows by while something is done. */
async function growth(doing: () => Promise<unknown>, ...series: readonly string[]): Promise<number[]> {
  const before = await scrape(server.http);
  await doing();
  const after = await scrape(server.http);
  return series.map((each) => after.value(each) - before.value(each));
}

const requests = (method: string, route: string, status: string) =>
  `foreshock_http_requests_total{method="${method}",route="${route}",status="${status}"}`;

describe('the metrics', () => {
  it('count every answer by route template and status', async () => {
    const id = '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11';
    const doing = async () => {
      for (let n = 0; n < 3; n += 1) await sendEvent(server, tenant.ingest);
      await server.http.post('/v1/events', tenant.ingest, eventBody({ confidence: 2 }));
      await server.http.get(`/v1/services/${id}/context`, tenant.readOnly);
      await server.http.get('/nowhere');
    };
    const series = [
      requests('POST', '/v1/events', '2xx'),
      requests('POST', '/v1/events', '4xx'),
      requests('GET', '/v1/services/{id}/context', '4xx'),
      requests('*', '*', '4xx'),
      'foreshock_rejections_total{reason="bad-input"}',
      'foreshock_rejections_total{reason="not-found"}',
      'foreshock_events_total',
      'foreshock_live_events',
      'foreshock_log_commands_total',
    ];
    expect(await growth(doing, ...series)).toEqual([3, 1, 1, 1, 1, 2, 3, 3, 3]);
  });

  it('time every request, and of events every 64th', async () => {
    const duration = (route: string) =>
      `foreshock_http_request_duration_seconds_count{method="${route === '/v1/events' ? 'POST' : 'GET'}",route="${route}"}`;
    const doing = async () => {
      for (let n = 0; n < 64; n += 1) await sendEvent(server, tenant.ingest);
      for (let n = 0; n < 3; n += 1) await server.http.get('/v1/services', tenant.readOnly);
    };
    expect(await growth(doing, duration('/v1/events'), duration('/v1/services'))).toEqual([1, 3]);
  });

  it('keep buckets that add up', async () => {
    const { text } = await scrape(server.http);
    const route = 'method="GET",route="/v1/services"';
    const counts = [
      ...text.matchAll(/^foreshock_http_request_duration_seconds_bucket\{(.*),le="(.*)"\} (\d+)$/gm),
    ]
      .filter(([, labels]) => labels === route)
      .map(([, , bound, count]) => [bound, Number(count)] as const);
    expect(counts.map(([bound]) => bound).slice(-2)).toEqual(['10', '+Inf']);
    for (const [index, [, count]] of counts.entries()) {
      expect(count).toBeGreaterThanOrEqual(counts[index - 1]?.[1] ?? 0);
    }
    expect(counts.at(-1)?.[1]).toBe(
      (await scrape(server.http)).value(`foreshock_http_request_duration_seconds_count{${route}}`),
    );
  });

  it('count bytes, syncs and connections', async () => {
    const doing = async () => {
      await withConnection(server.process.port, async () => {
        await sendEvent(server, tenant.ingest);
        expect((await scrape(server.http)).value('foreshock_http_connections')).toBeGreaterThanOrEqual(2);
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
    };
    const [bytes = 0, size = 0, syncs = 0, accepted = 0] = await growth(
      doing,
      'foreshock_log_appended_bytes_total',
      'foreshock_log_size_bytes',
      'foreshock_log_sync_duration_seconds_count',
      'foreshock_http_connections_total{outcome="accepted"}',
    );
    expect(bytes).toBeGreaterThan(50);
    expect(size).toBe(bytes);
    expect(syncs).toBeGreaterThanOrEqual(1);
    expect(accepted).toBeGreaterThanOrEqual(1);
  });

  it('count alerts and what waits', async () => {
    const integration = await createIntegration(server, tenant.readOnly);
    const doing = () => raiseAlert(server, tenant, integration, 'P-metrics');
    const series = ['foreshock_alerts', 'foreshock_alerts_firing', 'foreshock_inbox_deliveries'];
    expect(await growth(doing, ...series)).toEqual([1, 1, 0]);
  });

  it('name no tenant, key, service or host', async () => {
    const { text } = await scrape(server.http);
    for (const secret of [tenant.ingest, tenant.readOnly, tenant.name, 'checkout-api', 'db-1']) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('who may read them', () => {
  const answerOf = async (...flags: readonly string[]) => {
    const other = await TestServer.start(...flags);
    try {
      return await other.http.get('/metrics');
    } finally {
      await other.stop();
    }
  };

  it('is nobody where the operator says so: then there is no such path', async () => {
    expectRefusal(await answerOf('--metrics', 'nobody'), 404, 'not found');
  });

  it('is everybody where the operator says so', async () => {
    expect((await answerOf('--metrics', 'everybody')).status).toBe(200);
  });
});
