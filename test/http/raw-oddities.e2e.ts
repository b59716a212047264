/** Heads that are too large, methods nobody has, and bytes that are hardly a request: no harm, and no effect. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { type RawConnection, type RawRequest, rawRequest, withConnection } from '../support/raw-socket.ts';
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

describe('a head that is too large', () => {
  it.each<[string, () => RawRequest]>([
    [
      'one long header',
      () => ({ path: '/v1/agents', key: tenant.readOnly, lines: [`X: ${'x'.repeat(20_000)}`] }),
    ],
    ['a long path', () => ({ path: `/v1/${'x'.repeat(20_000)}`, key: tenant.readOnly })],
    ['a long query', () => ({ path: `/v1/agents?x=${'x'.repeat(20_000)}`, key: tenant.readOnly })],
    ['a long key', () => ({ path: '/v1/agents', key: 'x'.repeat(20_000) })],
    [
      'many headers',
      () => ({ path: '/v1/agents', lines: Array.from({ length: 300 }, (_, n) => `X-${n}: y`) }),
    ],
  ])('is 431, and the connection is closed: %s', async (_, request) => {
    await on(async (connection) => {
      await connection.send(rawRequest(request()) + eventRequest('behind-431'));
      expect(await connection.closing()).toMatch(/^HTTP\/1\.1 431 /);
    });
    expect(await recorded('behind-431')).toBe(0);
  });

  it('is closed on without end too', async () => {
    await on(async (connection) => {
      await connection.sendPieces(['GET /v1/agents HTTP/1.1\r\nX: ', ...Array(20).fill('x'.repeat(1000))], 1);
      expect(await connection.closing()).toMatch(/^HTTP\/1\.1 4\d\d /);
    });
  });
});

describe('what is hardly a request', () => {
  it.each<[string, () => string | Buffer]>([
    ['HTTP/1.0', () => eventRequest('odd').replace('HTTP/1.1', 'HTTP/1.0')],
    ['HTTP/2.0', () => eventRequest('odd').replace('HTTP/1.1', 'HTTP/2.0')],
    ['HTTP/0.9', () => 'GET /v1/agents\r\n'],
    ['no version', () => eventRequest('odd').replace(' HTTP/1.1', '')],
    ['an absolute path', () => eventRequest('odd').replace('/v1/events', 'http://127.0.0.1/v1/events')],
    ['no path', () => eventRequest('odd').replace('/v1/events', '')],
    ['a relative path', () => eventRequest('odd').replace('/v1/events', 'v1/events')],
    ['a tunnel', () => 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n'],
    ['an asterisk', () => 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a tab between its parts', () => eventRequest('odd').replace('POST /', 'POST\t/')],
    ['line feeds alone', () => eventRequest('odd').replaceAll('\r\n', '\n')],
    ['carriage returns alone', () => eventRequest('odd').replaceAll('\r\n', '\r')],
    ['a carriage return in a header', () => eventRequest('odd').replace('Host:', 'X: a\rb\r\nHost:')],
    ['empty lines before it', () => `\r\n\r\n${eventRequest('odd')}`],
    ['an HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS handshake', () => Buffer.from('16030100a5010000a10303', 'hex')],
    ['an SSH banner', () => 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'],
    ['an answer', () => 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['NUL bytes', () => Buffer.alloc(10_000)],
    ['line ends', () => '\r\n'.repeat(5000)],
    ['random bytes', () => randomBytes(10_000)],
    ['letters', () => 'a'.repeat(20_000)],
    [
      'a chunk extension',
      () =>
        eventRequest('odd', 'e', {
          lines: ['Transfer-Encoding: chunked'],
          body: '5;a=b\r\n{"a":\r\n0;c\r\n\r\n',
        }),
    ],
  ])('records nothing and does no harm: %s', async (_, bytes) => {
    await on(async (connection) => {
      await connection.send(bytes());
      // Some of it the library answers, some it closes on, some it waits with for the rest.
      await connection.remainder(50);
    });
    expect(await recorded('odd')).toBe(0);
  });

  it.each(['get', 'post', 'Post', 'pOST', 'PATCH', 'TRACE', 'BREW', 'X-METHOD', '-', 'POST,'])(
    'records nothing by the method %s',
    async (method) => {
      await on(async (connection) => {
        await connection.send(eventRequest('other-method').replace('POST', method));
        expect((await connection.answer()).status).toBe(405);
      });
      expect(await recorded('other-method')).toBe(0);
    },
  );
});
