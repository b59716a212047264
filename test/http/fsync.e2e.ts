/** Answers that wait for a sync: they come late, all of them, and to nobody who has left. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { RawConnection, rawRequest, withConnection } from '../support/raw-socket.ts';
import type { AgentBody, IntegrationBody } from './bodies.ts';
import { createIntegration, eventLog, integrations, register, sendEvent, windowOf } from './operations.ts';

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start('--durability', 'fsync');
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
});
afterAll(() => server.stop());
afterEach(() => server.expectNoFailure());

const recorded = async (service: string) =>
  (await eventLog(server, tenant.readOnly, agent.id, `?service=${service}`)).total;

function eventRequest(service: string, entity = 'e'): string {
  const body = JSON.stringify(eventBody({ service_name: service, entity }));
  return rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, body });
}

describe('in fsync mode', () => {
  it('an event that is answered can be read', async () => {
    for (let n = 1; n <= 5; n += 1) {
      await sendEvent(server, tenant.ingest, { service_name: 'answered' });
      expect(await recorded('answered')).toBe(n);
    }
  });

  it('events sent at once are each answered 201 and recorded once', async () => {
    const entities = Array.from({ length: 300 }, (_, n) => `e-${n}`);
    const service_name = 'at-once';
    await Promise.all(entities.map((entity) => sendEvent(server, tenant.ingest, { service_name, entity })));
    const { deploy_events } = await windowOf(server, tenant.readOnly, service_name);
    expect(deploy_events.map(({ entity }) => entity).sort()).toEqual(entities.sort());
  });

  it('events on one connection are answered one after another', async () => {
    await withConnection(server.process.port, async (connection) => {
      for (let n = 0; n < 20; n += 1) {
        const request = eventRequest('in-turn', `e-${n}`);
        const cut = (n * 17) % request.length;
        await connection.sendPieces([request.slice(0, cut), request.slice(cut)]);
        expect(await connection.answer()).toMatchObject({ status: 201, body: '' });
      }
      expect(await connection.remainder(20)).toBe('');
    });
    expect(await recorded('in-turn')).toBe(20);
  });

  it('what is refused is answered beside what waits, and changes nothing', async () => {
    const { http } = server;
    const waiting = Promise.all(
      Array.from({ length: 50 }, () => sendEvent(server, tenant.ingest, { service_name: 'waiting' })),
    );
    expectRefusal(await http.post('/v1/events', tenant.ingest, eventBody({ vendor: '' })), 400, /vendor/);
    expectRefusal(await http.post('/v1/events', tenant.ingest, 'x'.repeat(70_000)), 413, /65536/);
    expectRefusal(await http.post('/v1/events', tenant.readOnly, eventBody()), 403, /ingest/);
    await waiting;
    expect(await recorded('waiting')).toBe(50);
  });

  it('a client that leaves before its request is whole has recorded nothing', async () => {
    const request = eventRequest('left-early');
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        withConnection(server.process.port, async (connection) => {
          await connection.send(request.slice(0, request.length - 1 - n));
          connection.reset();
        }),
      ),
    );
    await sendEvent(server, tenant.ingest);
    expect(await recorded('left-early')).toBe(0);
  });

  it('a client that leaves while its answer waits has recorded its event at most once, and harms nobody', async () => {
    const connections = await Promise.all(
      Array.from({ length: 40 }, () => RawConnection.open(server.process.port)),
    );
    await Promise.all(
      connections.map((connection, n) => connection.send(eventRequest('left-late', `e-${n}`))),
    );
    for (const connection of connections) connection.reset();
    await sendEvent(server, tenant.ingest);
    const log = await eventLog(server, tenant.readOnly, agent.id, '?service=left-late&per_page=100');
    expect(new Set(log.events.map(({ entity }) => entity)).size).toBe(log.total);
  });

  it('requests that come while one waits are answered in order or closed on, and recorded at most once', async () => {
    await withConnection(server.process.port, async (connection) => {
      await connection.send(
        Array.from({ length: 10 }, (_, n) => eventRequest('pipelined', `e-${n}`)).join(''),
      );
      await connection.remainder(300);
      connection.destroy();
    });
    const log = await eventLog(server, tenant.readOnly, agent.id, '?service=pipelined&per_page=100');
    expect(new Set(log.events.map(({ entity }) => entity)).size).toBe(log.total);
    await sendEvent(server, tenant.ingest);
  });

  it('one registration of many at once makes the agent, and all are answered with it', async () => {
    const [row] = await server.newKeys(tenant.name, 'ingest');
    const agents = await Promise.all(
      Array.from({ length: 20 }, (_, n) => register(server, row?.key ?? '', { hostname: `h-${n}` })),
    );
    expect(new Set(agents.map(({ id }) => id)).size).toBe(1);
    expect(new Set(agents.map(({ registered_at }) => registered_at)).size).toBe(1);
  });

  it('one deletion of many at once is answered 204, the others 404', async () => {
    const { id, token } = await createIntegration(server, tenant.readOnly);
    const path = `/v1/integrations/${id}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.http.delete(path, tenant.readOnly)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)]);
    expect((await server.http.post(`/webhooks/pagerduty/${token}`, undefined, {})).status).toBe(404);
  });

  it('an answer tells of what it did, whatever others did in the same sync', async () => {
    const made = await createIntegration(server, tenant.readOnly);
    const path = `/v1/integrations/${made.id}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => server.http.put(path, tenant.readOnly, { config: { n } })),
    );
    const configs = answers.map((answer) => bodyOf<IntegrationBody>(answer).config);
    expect(configs.map(({ n }) => n).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const listed = (await integrations(server, tenant.readOnly)).find(({ id }) => id === made.id);
    expect(configs).toContainEqual(listed?.config);
  });
});
