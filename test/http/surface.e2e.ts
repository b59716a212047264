/** What holds on every path: HEAD, OPTIONS, 404, 405, and request ids. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, expectRefusal, type Headers, type Tenant, TestServer } from '../support/http.ts';
import { rawRequest, withConnection } from '../support/raw-socket.ts';
import { createIntegration, raiseAlert, register, sendEvent, serviceNamed } from './operations.ts';
import { fill, isEndless, type PathIds, routeTable } from './route-table.ts';

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'get',
  'post',
  'Options',
];

const table = routeTable();
const paths = [...new Set(table.map(({ path }) => path))];
const getPaths = table.filter((route) => route.method === 'GET' && !isEndless(route)).map(({ path }) => path);
const guardedPaths = getPaths.filter((path) => path.startsWith('/v1/'));

/** GET of such a path is that of another route, whose parameter it fits. */
const isCovered = (method: string, path: string) =>
  table.some((route) => {
    const pattern = new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`);
    return pattern.test(path) && (route.method === method || (route.method === 'GET' && method === 'HEAD'));
  });

let server: TestServer;
let tenant: Tenant;
let ids: PathIds;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  const agent = await register(server, tenant.ingest, { hostname: 'häst-🚢' });
  await sendEvent(server, tenant.ingest, { service_name: 'sérvice', new_value: '🚢'.repeat(100) });
  const integration = await createIntegration(server, tenant.readOnly);
  ids = {
    agents: agent.id,
    services: (await serviceNamed(server, tenant.readOnly, 'sérvice')).id,
    integrations: integration.id,
    alerts: await raiseAlert(server, tenant, integration, 'P1'),
    webhooks: 'a-token-nobody-was-given',
  };
});
afterAll(() => server.stop());

function send(method: string, path: string, key?: string, headers: Headers = {}): Promise<Answer> {
  return server.http.send({ method, path, key, headers });
}

/** One request on a connection of its own, and its answer, which must end where it says. */
function onlyAnswer(method: string, path: string, lines: readonly string[] = [], key?: string) {
  return withConnection(server.process.port, async (connection) => {
    await connection.send(rawRequest({ method, path, key, lines }));
    const answer = await connection.answer({ head: method === 'HEAD' });
    // Whatever the answer left on the connection would stand before this one.
    await connection.send(rawRequest({ path: '/after' }));
    expect(await connection.answer()).toMatchObject({ status: 404, body: 'not found' });
    return answer;
  });
}

describe('HEAD', () => {
  it.each(getPaths)('of %s is GET without the body', async (path) => {
    const filled = fill(path, ids);
    const get = await onlyAnswer('GET', filled, [], tenant.readOnly);
    const head = await onlyAnswer('HEAD', filled, [], tenant.readOnly);
    expect(get.status).toBe(200);
    expect(Number(get.headers.get('content-length'))).toBe(get.body.length);
    // The metrics have counted the first request when the second asks.
    const varying = ['x-request-id', 'date', ...(path === '/metrics' ? ['content-length'] : [])];
    const comparable = ({ status, headers }: typeof get) => ({
      status,
      headers: [...headers].filter(([name]) => !varying.includes(name)).sort(),
    });
    expect(comparable(head)).toEqual(comparable(get));
  });

  it.each(guardedPaths)('of %s is refused like GET, without the body', async (path) => {
    const cases = [
      { filled: fill(path, ids), key: undefined, status: 401 },
      { filled: fill(path, ids), key: 'nonsense', status: 401 },
      { filled: `${fill(path, ids)}/nowhere/at/all`, key: tenant.readOnly, status: 404 },
    ];
    for (const { filled, key, status } of cases) {
      const get = await onlyAnswer('GET', filled, [], key);
      const head = await onlyAnswer('HEAD', filled, [], key);
      expect([get.status, head.status]).toEqual([status, status]);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    }
  });

  it.each(paths.filter((path) => !isCovered('HEAD', path)))(
    'of %s, which has no GET, is 405 without a body',
    async (path) => {
      const head = await onlyAnswer('HEAD', fill(path, ids), [], tenant.readOnly);
      expect(head.status).toBe(405);
      expect(head.headers.get('allow')).toContain('OPTIONS');
    },
  );

  it('of a path that does not exist is 404 without a body', async () => {
    expect((await onlyAnswer('HEAD', '/nowhere')).status).toBe(404);
  });
});

describe('OPTIONS', () => {
  it.each(paths)('of %s is 204, needs no key, and says what is allowed', async (path) => {
    const answer = await onlyAnswer('OPTIONS', fill(path, ids));
    expect(answer.status).toBe(204);
    expect(answer.headers.has('content-length')).toBe(false);
    expect(answer.headers.has('transfer-encoding')).toBe(false);
    const methods = table.filter((route) => route.path === path).map(({ method }) => method);
    const heads = methods.includes('GET') ? ['HEAD'] : [];
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...methods, ...heads, 'OPTIONS'].sort());
  });

  it('of a path that does not exist is 404', async () => {
    expectRefusal(await send('OPTIONS', '/v1/nowhere'), 404, 'not found');
  });
});

describe('a method that a path does not have', () => {
  it.each(paths)('is 405 on %s, says what is allowed, and does nothing', async (path) => {
    const before = await server.everything(tenant);
    const filled = fill(path, ids);
    const { headers } = await onlyAnswer('OPTIONS', filled);
    for (const method of METHODS.filter((each) => each !== 'HEAD' && !isCovered(each, path))) {
      for (const key of [undefined, tenant.readOnly]) {
        const answer = await onlyAnswer(method, filled, [], key);
        expect([method, answer]).toMatchObject([method, { status: 405, body: 'method not allowed' }]);
        expect(answer.headers.get('allow')).toBe(headers.get('allow'));
        expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      }
    }
    expect(await server.everything(tenant)).toEqual(before);
  });
});

describe('a path that does not exist', () => {
  const nowhere = [
    '/nowhere',
    '//',
    '//v1/agents',
    '/v1',
    '/v1/',
    '/v1/agents/',
    '/v1//agents',
    '/v1/agents//',
    '/V1/agents',
    '/v1/Agents',
    '/v1/agents%2F',
    '/v1%2Fagents',
    '/%2fv1/agents',
    '/v1/%61gents',
    '/v1/agents%00',
    '/v1/agents;a=b',
    '/v1/agents#fragment',
    '/v1/../v1/agents',
    '/v1/./agents',
    '/v1/%2e%2e/v1/agents',
    '/v1/agents/register/',
    '/v1/events/0/1',
    '/v1/services/context',
    '/v1/services//context',
    '/v1/integrations/',
    '/%00',
    '/%',
    '/%zz',
    '/..%2f..%2fetc%2fpasswd',
    '/v1/agénts',
    '/v1/agents\xff',
    `/${'a'.repeat(2000)}`,
    '/favicon.ico',
  ];
  it.each(nowhere)('is 404 in plain text: %s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const answer = await onlyAnswer(method, path, [], tenant.readOnly);
      expect(answer).toMatchObject({ status: 404, body: 'not found' });
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    }
  });

  it('is 404 whether or not a key comes with it, and whatever the method', async () => {
    for (const method of ['GET', 'POST', 'PATCH', 'TRACE', 'LOCK', 'nonsense']) {
      for (const key of [undefined, 'nonsense', tenant.ingest]) {
        expect(await onlyAnswer(method, '/nowhere', [], key)).toMatchObject({
          status: 404,
          body: 'not found',
        });
      }
    }
  });
});

describe('X-Request-Id', () => {
  it('is on every answer, and on each another', async () => {
    const lines = ['X-Request-Id: of-the-client'];
    const seen = new Set<string>();
    let answers = 0;
    for (const path of [...paths.map((each) => fill(each, ids)), '/nowhere']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST']) {
        for (const key of [undefined, tenant.ingest, tenant.readOnly]) {
          if (method === 'GET' && key === tenant.readOnly && isEndless({ path })) continue;
          const answer = await onlyAnswer(method, path, lines, key);
          expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{1,64}$/);
          seen.add(answer.headers.get('x-request-id') ?? '');
          answers += 1;
        }
      }
    }
    expect(seen.size).toBe(answers);
    expect(seen).not.toContain('of-the-client');
  });
});
