/** GET /v1/stream over real connections. */
import { connect as connectSocket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createIntegration,
  eventLog,
  raiseAlert,
  register,
  sendEvent,
  webhookPath,
} from '../http/operations.ts';
import { bodyOf, eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { scrape } from '../support/metrics.ts';
import { foreshock, type ServerProcess, startServer } from '../support/server.ts';
import { SseClient } from './sse-client.ts';

const clients: SseClient[] = [];

async function connect(port: number, key: string, query = '', lastEventId = ''): Promise<SseClient> {
  const client = await SseClient.open(port, key, query, lastEventId);
  clients.push(client);
  return client;
}

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Nothing is called there: it is no public address. */
const NO_PAGERDUTY = ['--pagerduty-api-url', 'http://127.0.0.1:9'];
const FEW = ['--max-streams', '9', '--max-streams-tenant', '8'];

describe.each(['write', 'fsync'])('in %s mode', (durability) => {
  let server: TestServer;
  let tenant: Tenant;

  beforeAll(async () => {
    server = await TestServer.start('--durability', durability, ...FEW, ...NO_PAGERDUTY);
    tenant = server.tenant;
  });
  afterAll(() => server.stop());

  const read = (query = '', lastEventId = '') =>
    connect(server.process.port, tenant.readOnly, query, lastEventId);

  it('tells of agents, of heartbeats, and of events as the event log shows them', async () => {
    const client = await read();
    expect(client.status).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    });
    const { id } = await register(server, tenant.ingest);
    await sendEvent(server, tenant.ingest, {
      entity: 'told',
      raw_line: 'never told',
      new_value: 'a\n"b"\u2028é',
    });
    await server.http.post(`/v1/agents/${id}/heartbeat`, tenant.ingest);
    await client.until(({ parser }) => parser.messages.length >= 3);
    const [agent, event, heartbeat] = client.parser.messages;
    expect(agent).toMatchObject({ name: 'agent', data: { id, hostname: 'db-1', status: 'live' } });
    const [logged] = (await eventLog(server, tenant.readOnly, id)).events;
    expect(event).toMatchObject({ name: 'event', data: { ...logged, agent_id: id } });
    expect(heartbeat).toMatchObject({ name: 'heartbeat', data: { agent_id: id } });
    expect(client.text).not.toContain('never told');
    const ids = client.parser.messages.map((message) => Number(message.id));
    expect(ids).toEqual([ids[0], (ids[0] ?? 0) + 1, (ids[0] ?? 0) + 2]);
  });

  it('tells of an alert when it fires and when it is resolved, and of integrations without their secrets', async () => {
    await register(server, tenant.ingest);
    await sendEvent(server, tenant.ingest, { service_name: 'alerting-api', entity: 'blamed' });
    const client = await read();
    const integration = await createIntegration(server, tenant.readOnly);
    const service = { service: { summary: 'alerting-api' } };
    const id = await raiseAlert(server, tenant, integration, `P-${durability}`, service);
    await client.until(({ parser }) => parser.messages.some(({ name }) => name === 'alert'));
    const alert = client.parser.messages.find(({ name }) => name === 'alert');
    expect(alert?.data).toMatchObject({ id, change: 'fired', status: 'firing', service: 'alerting-api' });
    expect(JSON.stringify(alert?.data['candidates'])).toContain('blamed');
    const body = {
      event: {
        id: 'r',
        event_type: 'incident.resolved',
        data: { id: `P-${durability}`, type: 'incident', title: 't' },
      },
    };
    await server.http.post(`/webhooks/pagerduty/${integration.token}`, undefined, body);
    await client.until(({ parser }) => parser.messages.some(({ data }) => data['change'] === 'resolved'));
    expect(client.parser.messages.at(-1)?.data).toMatchObject({ id, status: 'resolved' });
    await server.http.delete(`/v1/integrations/${integration.id}`, tenant.readOnly);
    await client.until(({ parser }) => parser.messages.at(-1)?.name === 'integration');
    expect(client.parser.messages.at(-1)?.data).toEqual({ id: integration.id, exists: false });
    expect(client.text).not.toContain(integration.token);
  });

  it('of alerts that come and go tells whoever comes later nothing that was not so', async () => {
    const integration = await createIntegration(server, tenant.readOnly, {
      type: 'alertmanager',
      direction: 'inbound',
    });
    const client = await read();
    const fingerprint = `again-${durability}`;
    const startsAt = new Date(Date.now() - 60_000).toISOString();
    const deliver = async (status: 'firing' | 'resolved', endsAt: string) => {
      const alert = {
        status,
        fingerprint,
        labels: { alertname: fingerprint },
        annotations: {},
        startsAt,
        endsAt,
      };
      const body = { version: '4', groupKey: `${status} ${endsAt}`, status, alerts: [alert] };
      expect((await server.http.post(webhookPath(integration), undefined, body)).status).toBe(202);
    };
    const told = ({ parser }: SseClient, change: string) =>
      parser.messages.filter(({ data }) => data['change'] === change).length;
    // What does not fire ends nothing.
    await deliver('resolved', new Date(Date.now() - 50_000).toISOString());
    await deliver('firing', '0001-01-01T00:00:00Z');
    await client.until((each) => told(each, 'fired') === 1);
    await deliver('resolved', new Date(Date.now() - 40_000).toISOString());
    await client.until((each) => told(each, 'resolved') === 1);
    await deliver('firing', '0001-01-01T00:00:00.001Z');
    await client.until((each) => told(each, 'fired') === 2);
    const first = client.parser.messages.find(({ name }) => name === 'alert')?.id ?? '';
    const later = await read('', '1');
    await later.until(({ parser }) => parser.messages.some(({ id }) => Number(id) >= Number(first)));
    await later.until((each) => told(each, 'fired') >= 2);
    const live = new Map(client.parser.messages.map((message) => [message.id, message.data]));
    const alerts = later.parser.messages.filter(
      ({ data }) => data['type'] === 'alertmanager' && data['integration_id'] === integration.id,
    );
    for (const { id, data } of alerts) {
      expect([data['change'], data['id']]).toEqual([live.get(id)?.['change'], live.get(id)?.['id']]);
      expect(data['change'] === 'resolved' && data['status'] === 'firing').toBe(false);
    }
  });

  it('ends what it has told at once, for clients that wait for the end of a chunk', async () => {
    await register(server, tenant.ingest);
    const socket = connectSocket(server.process.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (more) => {
      text += more;
    });
    socket.write(`GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.readOnly}\r\n\r\n`);
    await expect.poll(() => text).toContain('retry:');
    await sendEvent(server, tenant.ingest, { service_name: 'told-to-its-end' });
    // Its end stands before the next chunk; a heartbeat would come many seconds later.
    await expect.poll(() => text, { timeout: 3000 }).toMatch(/told-to-its-end[^\n]*\n\n\r\n/);
    socket.destroy();
  });

  it('tells of a note when it is wanted, before any attempt to post it', async () => {
    const integration = await createIntegration(server, tenant.readOnly, {
      type: 'pagerduty',
      direction: 'bidirectional',
    });
    const config = { pagerduty_token: 'u+t', pagerduty_from: 'we@example.com' };
    const path = `/v1/integrations/${integration.id}`;
    expect((await server.http.put(path, tenant.readOnly, { config })).status).toBe(200);
    const client = await read();
    const id = await raiseAlert(server, tenant, integration, `PNOTE-${durability}`);
    await client.until(({ parser }) => parser.messages.some(({ data }) => data['change'] === 'fired'));
    const fired = client.parser.messages.find(({ data }) => data['change'] === 'fired');
    expect(fired?.data['deliveries']).toMatchObject([
      { kind: 'note', alert_id: id, integration_id: integration.id },
    ]);
    expect(client.text).not.toContain('u+t');
    await server.http.delete(path, tenant.readOnly);
  });

  it('lets through what a filter asks for, and nothing else', async () => {
    await register(server, tenant.ingest);
    const all = await read();
    const byService = await read('?service=payments');
    const byType = await read('?event_type=restart');
    const byBoth = await read('?service=payments&event_type=restart');
    let sent = 0;
    for (const service_name of ['payments', 'search']) {
      for (const event_type of ['deploy', 'restart']) {
        sent += 1;
        await sendEvent(server, tenant.ingest, { service_name, event_type, entity: `f-${sent}` });
      }
    }
    expect(await all.entities(4)).toEqual(['f-1', 'f-2', 'f-3', 'f-4']);
    expect(await byService.entities(2)).toEqual(['f-1', 'f-2']);
    expect(await byType.entities(2)).toEqual(['f-2', 'f-4']);
    expect(await byBoth.entities(1)).toEqual(['f-2']);
    const after = all.parser.messages.at(-5)?.id ?? '0';
    const again = await read('?service=search', after);
    expect(await again.entities(2)).toEqual(['f-3', 'f-4']);
    const { http } = server;
    expectRefusal(
      await http.get('/v1/stream?event_type=typo', tenant.readOnly),
      400,
      'event_type must be one of the event types',
    );
  });

  it('goes on after every message, also in the middle of a batch', async () => {
    await register(server, tenant.ingest);
    const client = await read();
    await sendEvent(server, tenant.ingest, { entity: 'b-0' });
    const batch = [1, 2, 3].map((number) => eventBody({ entity: `b-${number}` }));
    expect((await server.http.post('/v1/events/batch', tenant.ingest, batch)).status).toBe(200);
    await sendEvent(server, tenant.ingest, { entity: 'b-4' });
    expect(await client.entities(5)).toEqual(['b-0', 'b-1', 'b-2', 'b-3', 'b-4']);
    for (const [index, { id }] of client.parser.messages.entries()) {
      const again = await read('', id);
      const left = 4 - index;
      if (left > 0) {
        expect(await again.entities(left)).toEqual(
          Array.from({ length: left }, (_, more) => `b-${index + 1 + more}`),
        );
      }
      again.close();
    }
  });

  it('a position that the server does not know is answered with a reset, and what is none with 400', async () => {
    await register(server, tenant.ingest);
    const client = await read('', '99999999');
    await client.until(({ parser }) => parser.messages.length > 0);
    expect(client.parser.messages[0]).toMatchObject({ name: 'reset', data: { reason: expect.any(String) } });
    await sendEvent(server, tenant.ingest, { entity: 'after the reset' });
    expect(await client.entities(1)).toEqual(['after the reset']);
    expect(Number(client.parser.messages[0]?.id)).toBeLessThan(Number(client.parser.lastEventId));
    const { http } = server;
    for (const id of ['x', '-1', '1.0', '1.2.3']) {
      expectRefusal(
        await http.get('/v1/stream', tenant.readOnly, { 'Last-Event-ID': id }),
        400,
        'Last-Event-ID must be the id of a message of this stream',
      );
    }
  });

  it('shows a tenant nothing of another', async () => {
    const other = await server.newTenant(`other-${durability}`);
    await register(server, tenant.ingest);
    await register(server, other.ingest);
    const ours = await read();
    const theirs = await connect(server.process.port, other.readOnly, '', '1');
    await sendEvent(server, tenant.ingest, { entity: 'ours' });
    await sendEvent(server, other.ingest, { entity: 'theirs' });
    await sendEvent(server, tenant.ingest, { entity: 'ours too' });
    expect(await ours.entities(2)).toEqual(['ours', 'ours too']);
    expect(await theirs.entities(1)).toEqual(['theirs']);
    expect(ours.text).not.toContain('theirs');
    expect(theirs.text).not.toContain('ours');
    expect(theirs.text).not.toContain('db-1"}');
  });

  it('ends for a reader whose key is revoked, and for no other', async () => {
    const [row] = await server.newKeys(tenant.name, 'read-only');
    if (row === undefined) throw new Error('no key');
    const client = await connect(server.process.port, row.key);
    const other = await read();
    await client.until(({ parser }) => parser.lastEventId !== '');
    await server.revoke(row);
    await client.until(({ ended }) => ended);
    expect(other.ended).toBe(false);
    expect((await connect(server.process.port, row.key)).status).toBe(401);
  });

  it('refuses more readers than it may have, and takes others when some have gone', async () => {
    const open = await Promise.all(Array.from({ length: 8 }, () => read()));
    for (const client of open) expect(client.status).toBe(200);
    const refused = await read();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '10']);
    // What one tenant may not have is left to the others.
    const other = await server.newTenant(`another-${durability}`);
    expect((await connect(server.process.port, other.readOnly)).status).toBe(200);
    const none = await connect(server.process.port, other.readOnly);
    expect([none.status, none.headers['retry-after']]).toEqual([503, '1']);
    expect((await scrape(server.http)).value('foreshock_streams')).toBe(9);
    for (const client of open) client.close();
    let status = 429;
    for (let tries = 0; status === 429 && tries < 100; tries += 1) status = (await read()).status;
    expect(status).toBe(200);
  });

  it('a reader that stops reading is cut off, is not buffered for, and comes back to where it was', async () => {
    await register(server, tenant.ingest);
    const { port, pid } = server.process;
    const slow = await connect(port, tenant.readOnly);
    const fast = await connect(port, tenant.readOnly);
    await slow.until(({ parser }) => parser.lastEventId !== '');
    slow.pause();
    const before = await residentMegabytes(pid);
    const line = 'x'.repeat(4000);
    let sent = 0;
    // 64 MB of events: far more than sockets hold.
    for (let batch = 0; batch < 32; batch += 1) {
      const events = Array.from({ length: 500 }, () => {
        sent += 1;
        return eventBody({ entity: `s-${sent}`, new_value: line });
      });
      expect((await server.http.post('/v1/events/batch', tenant.ingest, events)).status).toBe(200);
    }
    const expected = Array.from({ length: sent }, (_, index) => `s-${index + 1}`);
    expect(await fast.entities(sent)).toEqual(expected);
    expect((await residentMegabytes(pid)) - before).toBeLessThan(400);
    // At the next heartbeat at the latest.
    const cutOff = async () => (await scrape(server.http)).value('foreshock_streams_cut_off_total');
    await expect.poll(cutOff, { timeout: 25_000 }).toBeGreaterThan(0);
    slow.resume();
    await slow.until(({ ended }) => ended);
    const seen = slow.parser.messages.length;
    expect(seen).toBeLessThan(sent);
    expect((await scrape(server.http)).value('foreshock_streams_cut_off_total')).toBeGreaterThan(0);
    const again = await connect(port, tenant.readOnly, '', slow.parser.lastEventId);
    expect(await again.entities(sent - seen)).toEqual(expected.slice(seen));
  }, 60_000);
});

async function residentMegabytes(pid: number): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const match = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) / 1024;
}

describe('over a restart', () => {
  it('streams end when the server stops, and go on where they were when it is back', async () => {
    const server = await TestServer.start();
    const { tenant } = server;
    let next: ServerProcess | undefined;
    try {
      await register(server, tenant.ingest);
      const client = await connect(server.process.port, tenant.readOnly);
      await sendEvent(server, tenant.ingest, { entity: 'r-1' });
      expect(await client.entities(1)).toEqual(['r-1']);
      const { lastEventId } = client.parser;
      await sendEvent(server, tenant.ingest, { entity: 'r-2' });
      expect(await client.entities(2)).toEqual(['r-1', 'r-2']);
      server.http.close();
      const sinceMs = performance.now();
      expect(await server.process.stop()).toBe(0);
      expect(performance.now() - sinceMs).toBeLessThan(3000);
      await client.until(({ ended }) => ended);
      expect(client.isComplete).toBe(true);

      next = await startServer(server.process.dataDirectory);
      const again = await connect(next.port, tenant.readOnly, '', lastEventId);
      expect(await again.entities(1)).toEqual(['r-2']);
      const idle = await connect(next.port, tenant.readOnly, '', client.parser.lastEventId);
      await idle.until(({ parser }) => parser.lastEventId !== '');
      expect(idle.parser.messages).toEqual([]);
    } finally {
      await next?.stop();
      const ran = await foreshock('log', 'verify', '--data-dir', server.process.dataDirectory);
      expect(ran.code).toBe(0);
    }
  }, 60_000);
});

it('HEAD tells what GET would, and ends', async () => {
  const server = await TestServer.start();
  try {
    const answer = await server.http.send({
      method: 'HEAD',
      path: '/v1/stream',
      key: server.tenant.readOnly,
    });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
    expect(bodyOf(await server.http.get('/v1/services', server.tenant.readOnly))).toEqual([]);
  } finally {
    await server.stop();
  }
});
