/** What every write says of its body's size and media type, and the two forms of an error. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectRefusal, type Headers, type Tenant, TestServer } from '../support/http.ts';
import { rawRequest, withConnection } from '../support/raw-socket.ts';
import { createIntegration, register } from './operations.ts';
import { fill, goodBody, type PathIds, routeTable, type TableRoute } from './route-table.ts';

const KIB = 1024;

const table = routeTable();
const jsonRoutes = table.filter(({ body }) => body === 'json');

let server: TestServer;
let tenant: Tenant;
let ids: PathIds;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  ids = {
    agents: (await register(server, tenant.ingest)).id,
    services: 'none',
    integrations: (await createIntegration(server, tenant.readOnly)).id,
    alerts: 'none',
    webhooks: 'none',
  };
});
afterAll(() => server.stop());

function rightKey({ access }: TableRoute): string {
  return access === 'ingest' ? tenant.ingest : tenant.readOnly;
}

function send(method: string, path: string, key?: string, headers: Headers = {}): Promise<Answer> {
  return server.http.send({ method, path, key, headers });
}

/** A request that Node would not send: with header lines that repeat a name. */
function rawly(lines: readonly string[]) {
  return withConnection(server.process.port, async (connection) => {
    await connection.send(rawRequest({ path: '/nowhere', lines }));
    return connection.answer();
  });
}

describe.each(jsonRoutes.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
  'the body of $name',
  ({ route }) => {
    const put = (body: string | Buffer, headers: Headers = {}, chunked = false) =>
      server.http.send({
        method: route.method,
        path: fill(route.path, ids),
        key: rightKey(route),
        headers,
        body,
        chunked,
      });
    const good = JSON.stringify(goodBody(route));

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonl',
      'application/json-seq',
      'application/json5',
      'text/json',
      'json',
      'application/json/x',
      'notapplication/json',
    ])('is 415 as %s', async (type) => {
      const before = await server.everything(tenant);
      expectRefusal(await put(good, { 'Content-Type': type }), 415, /JSON/);
      expect(await server.everything(tenant)).toEqual(before);
    });

    it('is 415 where it is compressed, or may be, and taken where it is said to be as it is', async () => {
      const before = await server.everything(tenant);
      for (const encoding of ['gzip', 'br', 'zstd', 'gzip, identity']) {
        const refused = await put(good, { 'Content-Encoding': encoding });
        expectRefusal(refused, 415, /Content-Encoding/);
        expect(refused.headers['accept-encoding']).toBe('identity');
      }
      expect(await server.everything(tenant)).toEqual(before);
      expect((await put(good, { 'Content-Encoding': 'Identity' })).status).toBeLessThan(300);
    });

    it('is taken as JSON under every name of it, and under none', async () => {
      const types = [
        'application/json',
        'APPLICATION/JSON',
        'application/json;charset=UTF-8',
        'application/json ; x=y',
        'application/vnd.foreshock+json',
        '',
      ];
      for (const type of types) expect((await put(good, { 'Content-Type': type })).status).toBeLessThan(300);
    });

    it('may be 64 KiB, and is 413 past that, chunked or not', async () => {
      const padded = (bytes: number) => good.padEnd(bytes);
      const before = await server.everything(tenant);
      for (const chunked of [false, true]) {
        expectRefusal(await put(padded(64 * KIB + 1), {}, chunked), 413, /65536/);
        expectRefusal(await put(padded(2 * KIB * KIB), {}, chunked), 413, /65536/);
      }
      expect(await server.everything(tenant)).toEqual(before);
      for (const chunked of [false, true]) {
        expect((await put(padded(64 * KIB), {}, chunked)).status).toBeLessThan(300);
      }
    });
  },
);

describe('an error', () => {
  const errors: readonly (readonly [number, string, string, Headers])[] = [
    [401, 'GET', '/v1/agents', {}],
    [404, 'GET', '/nowhere', {}],
    [405, 'PATCH', '/v1/agents', {}],
    [415, 'POST', '/v1/events', { 'Content-Type': 'text/plain' }],
    [415, 'POST', '/v1/events', { 'Content-Encoding': 'gzip' }],
    [400, 'POST', '/v1/events', {}],
  ];

  it.each([
    'application/json',
    'application/problem+json',
    'text/html, application/json;q=0.9, */*',
    'APPLICATION/JSON',
  ])('is application/problem+json to whoever accepts %s', async (accept) => {
    for (const [status, method, path, headers] of errors) {
      const answer = await send(method, path, status === 401 ? undefined : tenant.ingest, {
        ...headers,
        Accept: accept,
      });
      expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } });
      expect(JSON.parse(answer.text)).toEqual({
        type: expect.any(String),
        title: expect.any(String),
        status,
        detail: (await send(method, path, status === 401 ? undefined : tenant.ingest, headers)).text,
        instance: answer.headers['x-request-id'],
      });
    }
  });

  it.each(['*/*', 'text/plain', 'text/html', 'application/*', 'application/xml', ''])(
    'is plain text to whoever accepts %j',
    async (accept) => {
      for (const [status, method, path, headers] of errors) {
        const key = status === 401 ? undefined : tenant.ingest;
        expectRefusal(await send(method, path, key, { ...headers, Accept: accept }), status, /^\w[^{]+$/);
      }
    },
  );

  it('is application/problem+json where one of two Accept headers names JSON', async () => {
    for (const lines of [
      ['Accept: application/json', 'Accept: text/plain'],
      ['Accept: text/plain', 'Accept: application/json'],
    ]) {
      const { headers } = await rawly(lines);
      expect(headers.get('content-type')).toBe('application/problem+json');
    }
  });

  it('is plain text to whoever accepts a type that only begins like JSON', async () => {
    for (const type of ['application/jsonl', 'application/json-seq']) {
      expectRefusal(await send('GET', '/nowhere', undefined, { Accept: type }), 404, 'not found');
    }
  });
});
