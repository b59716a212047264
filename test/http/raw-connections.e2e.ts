/** Connections that are used well, used badly, and left: the answers come in order, and the server goes on. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { pause, RawConnection, type RawRequest, rawRequest, withConnection } from '../support/raw-socket.ts';
import type { AgentBody } from './bodies.ts';
import { eventLog, register, sendEvent } from './operations.ts';

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
});
afterAll(() => server.stop());

afterEach(async () => {
  server.expectNoFailure();
  await sendEvent(server, tenant.ingest, { service_name: 'after' });
});

const on = <T>(step: (connection: RawConnection) => Promise<T>) => withConnection(server.process.port, step);
const recorded = async (service: string) =>
  (await eventLog(server, tenant.readOnly, agent.id, `?service=${service}&per_page=100`)).total;

function eventRequest(service: string, entity = 'e', more: Partial<RawRequest> = {}): string {
  const body = JSON.stringify(eventBody({ service_name: service, entity }));
  return rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, body, ...more });
}

describe('pipelining', () => {
  it('answers ten events sent in one write, in order, and records them in order', async () => {
    const entities = Array.from({ length: 10 }, (_, n) => `e-${n}`);
    const ids = await on(async (connection) => {
      await connection.send(entities.map((entity) => eventRequest('pipelined', entity)).join(''));
      const seen: (string | undefined)[] = [];
      for (const _ of entities) {
        const { status, headers } = await connection.answer();
        expect(status).toBe(201);
        seen.push(headers.get('x-request-id'));
      }
      expect(await connection.remainder()).toBe('');
      return seen;
    });
    expect(new Set(ids).size).toBe(entities.length);
    const { events } = await eventLog(server, tenant.readOnly, agent.id, '?service=pipelined');
    expect(events.map(({ entity }) => entity).reverse()).toEqual(entities);
  });

  it('answers requests of every kind in the order they were sent', async () => {
    const mixed: readonly [RawRequest, number][] = [
      [{ path: '/v1/agents', key: tenant.readOnly }, 200],
      [{ path: '/nowhere' }, 404],
      [{ path: '/v1/agents' }, 401],
      [{ method: 'POST', path: `/v1/agents/${agent.id}/heartbeat`, key: tenant.ingest }, 204],
      [{ method: 'POST', path: '/v1/events', key: tenant.ingest, body: '{' }, 400],
      [{ method: 'OPTIONS', path: '/v1/events' }, 204],
      [{ method: 'DELETE', path: '/v1/events' }, 405],
      [{ path: '/v1/agents', key: tenant.ingest }, 403],
      [
        {
          method: 'POST',
          path: '/v1/integrations',
          key: tenant.readOnly,
          body: '{"type":"pagerduty","direction":"inbound"}',
        },
        201,
      ],
      [{ path: '/v1/services', key: tenant.ingest }, 200],
    ];
    await on(async (connection) => {
      for (let round = 0; round < 3; round += 1) {
        await connection.send(mixed.map(([request]) => rawRequest(request)).join(''));
        for (const [, status] of mixed) expect((await connection.answer()).status).toBe(status);
      }
      expect(await connection.remainder()).toBe('');
    });
  });

  it('goes on beside many that ask one thing at a time', async () => {
    let sent = 0;
    /** Asks for so many, in two pieces, and has all of them answered. */
    const ask = async (connection: RawConnection, count: number, offset: number) => {
      const requests = eventRequest('beside').repeat(count);
      const cut = 1 + (offset % (requests.length - 1));
      for (const piece of [requests.slice(0, cut), requests.slice(cut)]) await connection.send(piece);
      for (let n = 0; n < count; n += 1) expect((await connection.answer()).status).toBe(201);
      sent += count;
    };
    const caller = (mostAtOnce: number) =>
      on(async (connection) => {
        for (let n = 0; n < 40; n += 1) await ask(connection, 1 + (n % mostAtOnce), 97 * n);
      });
    const callers = [
      ...Array.from({ length: 40 }, () => caller(1)),
      ...Array.from({ length: 8 }, () => caller(4)),
    ];
    await Promise.all(callers);
    expect(await recorded('beside')).toBe(sent);
  });

  it('shows each request what those before it did', async () => {
    await on(async (connection) => {
      const read = rawRequest({ path: `/v1/agents/${agent.id}?service=in-turn`, key: tenant.readOnly });
      await connection.send(`${read}${eventRequest('in-turn')}${read}${eventRequest('in-turn')}${read}`);
      const bodies: string[] = [];
      for (let n = 0; n < 5; n += 1) bodies.push((await connection.answer()).body);
      expect([0, 2, 4].map((n) => JSON.parse(bodies[n] ?? '').total)).toEqual([0, 1, 2]);
    });
  });
});

describe('a connection that is kept', () => {
  const big = 'x'.repeat(100_000);
  it.each<[string, number, () => RawRequest]>([
    ['a 200', 200, () => ({ path: '/v1/agents', key: tenant.readOnly })],
    ['the 200 of a HEAD', 200, () => ({ method: 'HEAD', path: '/v1/agents', key: tenant.readOnly })],
    ['a 204', 204, () => ({ method: 'OPTIONS', path: '/v1/agents' })],
    ['a 400', 400, () => ({ method: 'POST', path: '/v1/events', key: tenant.ingest, body: '{' })],
    ['a 401 with a body that nobody read', 401, () => ({ method: 'POST', path: '/v1/events', body: big })],
    ['the 401 of a HEAD', 401, () => ({ method: 'HEAD', path: '/v1/agents' })],
    [
      'a 403 with a body that nobody read',
      403,
      () => ({ method: 'POST', path: '/v1/events', key: tenant.readOnly, body: big }),
    ],
    ['a 404 with a body that nobody read', 404, () => ({ method: 'PUT', path: '/nowhere', body: big })],
    ['the 404 of a HEAD', 404, () => ({ method: 'HEAD', path: '/nowhere' })],
    ['a 405 with a body that nobody read', 405, () => ({ method: 'PUT', path: '/v1/events', body: big })],
    ['the 405 of a HEAD', 405, () => ({ method: 'HEAD', path: '/v1/events' })],
    [
      'a 415',
      415,
      () => ({
        method: 'POST',
        path: '/v1/events',
        key: tenant.ingest,
        lines: ['Content-Type: text/plain'],
        body: '{}',
      }),
    ],
  ])('is good for the next request after %s', async (_, status, request) => {
    await on(async (connection) => {
      for (let n = 0; n < 3; n += 1) {
        await connection.send(rawRequest(request()));
        expect((await connection.answer({ head: request().method === 'HEAD' })).status).toBe(status);
        await connection.send(eventRequest('kept'));
        expect((await connection.answer()).status).toBe(201);
      }
    });
  });

  it('is closed after a 413 that says so, and good for the next request after one that does not', async () => {
    await on(async (connection) => {
      await connection.send(eventRequest('', '', { body: big }));
      const { status, headers } = await connection.answer();
      expect(status).toBe(413);
      if (headers.get('connection') === 'close') return expect(await connection.closing()).toBe('');
      await connection.send(eventRequest('kept'));
      expect((await connection.answer()).status).toBe(201);
    });
  });

  it('is asked to go on with its body where it waits for that, and answered then', async () => {
    await on(async (connection) => {
      const request = eventRequest('expected', 'e', { lines: ['Expect: 100-continue'] });
      const bodyAt = request.indexOf('\r\n\r\n') + 4;
      await connection.send(request.slice(0, bodyAt));
      expect((await connection.answer()).status).toBe(100);
      await connection.send(request.slice(bodyAt));
      expect((await connection.answer()).status).toBe(201);
    });
  });
});

describe('a client that leaves', () => {
  it('before its request is whole has recorded nothing', async () => {
    const request = eventRequest('left-early');
    const chunked = eventRequest('left-early', 'e', {
      lines: ['Transfer-Encoding: chunked'],
      body: `${(2000).toString(16)}\r\n${JSON.stringify(eventBody({ service_name: 'left-early' }))}`,
    });
    const cuts = [1, 20, request.indexOf('\r\n\r\n') + 2, request.indexOf('\r\n\r\n') + 4, -50, -1];
    const parts = [...cuts.map((cut) => request.slice(0, cut)), chunked, `${chunked}\r\n`];
    for (const leave of ['destroy', 'reset', 'halfClose'] as const) {
      await Promise.all(
        parts.map((part) =>
          on(async (connection) => {
            await connection.send(part);
            await pause(5);
            connection[leave]();
            await connection.closing();
          }),
        ),
      );
    }
    expect(await recorded('left-early')).toBe(0);
  });

  it('before its answer has recorded its event at most once', async () => {
    const entities = Array.from({ length: 60 }, (_, n) => `e-${n}`);
    await Promise.all(
      entities.map((entity, n) =>
        on(async (connection) => {
          await connection.send(eventRequest('left-late', entity));
          if (n % 3 === 0) connection.reset();
          else if (n % 3 === 1) connection.destroy();
          else connection.halfClose();
          await connection.closing();
        }),
      ),
    );
    const { events } = await eventLog(server, tenant.readOnly, agent.id, '?service=left-late&per_page=100');
    expect(new Set(events.map(({ entity }) => entity)).size).toBe(events.length);
  });

  it('in the middle of a large answer does no harm, and one that reads slowly gets all of it', async () => {
    const value = '漢'.repeat(4096);
    for (let n = 0; n < 100; n += 1) {
      await sendEvent(server, tenant.ingest, { service_name: 'large', old_value: value, new_value: value });
    }
    const path = `/v1/agents/${agent.id}?per_page=100&service=large`;
    const request = rawRequest({ path, key: tenant.readOnly });
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        on(async (connection) => {
          connection.pauseReading();
          await connection.send(request);
          await pause(2 * n);
          if (n % 2 === 0) connection.reset();
          else connection.destroy();
        }),
      ),
    );
    await on(async (connection) => {
      connection.pauseReading();
      await connection.send(request);
      await pause(200);
      connection.resumeReading();
      const { body } = await connection.answer();
      expect(body.length).toBeGreaterThan(2_000_000);
      expect(JSON.parse(Buffer.from(body, 'latin1').toString()).events).toHaveLength(100);
    });
  });

  it('having said that it sends no more is answered or closed on', async () => {
    await on(async (connection) => {
      await connection.send(eventRequest('half-closed'));
      connection.halfClose();
      expect(await connection.closing()).toMatch(/^(?:HTTP\/1\.1 201 |$)/);
    });
    expect(await recorded('half-closed')).toBeLessThanOrEqual(1);
  });

  it('by the hundred, without a word, keeps nobody from being answered', async () => {
    const idle = await Promise.all(
      Array.from({ length: 200 }, () => RawConnection.open(server.process.port)),
    );
    await Promise.all(
      idle.map((connection, n) => connection.send(eventRequest('idle').slice(0, n % 3 === 0 ? 0 : n))),
    );
    await sendEvent(server, tenant.ingest, { service_name: 'beside-idle' });
    for (const connection of idle) connection.reset();
    expect(await recorded('idle')).toBe(0);
  });
});
