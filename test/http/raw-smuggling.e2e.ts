/**
 * Requests that two programs could read differently, so that one hides in another. Whatever is done about
 * them, what is hidden must not be carried out.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventBody, type Tenant, TestServer } from '../support/http.ts';
import { type RawConnection, type RawRequest, rawRequest, withConnection } from '../support/raw-socket.ts';
import { register, sendEvent } from './operations.ts';

const CHUNKED = 'Transfer-Encoding: chunked';

let server: TestServer;
let tenant: Tenant;
/** The event of the request itself, and the event of the request that may hide behind it. */
let shown: string;
let hidden: string;
let before: readonly string[];

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  await register(server, tenant.ingest);
  await sendEvent(server, tenant.ingest);
  shown = JSON.stringify(eventBody({ service_name: 'shown', raw_line: '#'.repeat(20) }));
  hidden = eventRequest({ body: JSON.stringify(eventBody({ service_name: 'hidden' })) });
});
beforeEach(async () => {
  before = await server.everything(tenant);
});
afterAll(() => server.stop());

function eventRequest(more: Partial<RawRequest> = {}): string {
  return rawRequest({ method: 'POST', path: '/v1/events', key: tenant.ingest, body: shown, ...more });
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const length = () => shown.length;

async function expectNothingRecorded(): Promise<void> {
  expect(await server.everything(tenant)).toEqual(before);
}

/** The server closes the connection, at once or after a 400 of its own or its library's. */
async function expectClosed(connection: RawConnection): Promise<void> {
  const said = await connection.closing();
  expect(said === '' || said.startsWith('HTTP/1.1 400 ')).toBe(true);
  expect(said.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThan(2);
}

describe('a request of doubtful length', () => {
  it.each<[string, () => Partial<RawRequest>]>([
    ['one length twice', () => ({ lines: [`Content-Length: ${length()}`, `Content-Length: ${length()}`] })],
    ['a length and 0', () => ({ lines: [`Content-Length: ${length()}`, 'Content-Length: 0'] })],
    ['0 and a length', () => ({ lines: ['Content-Length: 0', `Content-Length: ${length()}`] })],
    [
      'two lengths far apart',
      () => ({ lines: [`Content-Length: ${length()}`, 'X: y', 'content-length: 5'] }),
    ],
    ['two lengths in one line', () => ({ lines: [`Content-Length: ${length()}, ${length()}`] })],
    ['a length with a sign', () => ({ lines: [`Content-Length: +${length()}`] })],
    ['a negative length', () => ({ lines: ['Content-Length: -1'] })],
    ['a hexadecimal length', () => ({ lines: [`Content-Length: 0x${length().toString(16)}`] })],
    ['a length with a blank in it', () => ({ lines: [`Content-Length: ${length()} 0`] })],
    ['a length with a point', () => ({ lines: [`Content-Length: ${length()}.0`] })],
    ['a length with an exponent', () => ({ lines: ['Content-Length: 1e2'] })],
    ['a length past 64 bits', () => ({ lines: [`Content-Length: ${2n ** 64n + BigInt(length())}`] })],
    ['a blank before the colon', () => ({ lines: [`Content-Length : ${length()}`] })],
    ['a length and chunks', () => ({ lines: [`Content-Length: ${length()}`, CHUNKED] })],
    [
      'chunks and a length',
      () => ({ lines: [CHUNKED, 'Content-Length: 0'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    ['the encoding identity', () => ({ lines: ['Transfer-Encoding: identity'] })],
    [
      'an encoding like chunked',
      () => ({ lines: ['Transfer-Encoding: xchunked'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'an encoding with chunked last',
      () => ({ lines: ['Transfer-Encoding: gzip, chunked'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'an encoding with chunked first',
      () => ({ lines: ['Transfer-Encoding: chunked, identity'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'chunked in quotes',
      () => ({ lines: ['Transfer-Encoding: "chunked"'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'chunked with a parameter',
      () => ({ lines: ['Transfer-Encoding: chunked;x=y'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'chunked behind a vertical tab',
      () => ({ lines: ['Transfer-Encoding: \x0bchunked'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    ['an empty encoding', () => ({ lines: ['Transfer-Encoding:'] })],
    ['chunked twice', () => ({ lines: [CHUNKED, CHUNKED], body: `${chunk(shown)}0\r\n\r\n` })],
    [
      'chunked and identity',
      () => ({ lines: [CHUNKED, 'Transfer-Encoding: identity'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    [
      'a blank before its colon',
      () => ({ lines: ['Transfer-Encoding : chunked'], body: `${chunk(shown)}0\r\n\r\n` }),
    ],
    ['a chunk size that is no number', () => ({ lines: [CHUNKED], body: `zz\r\n${shown}\r\n0\r\n\r\n` })],
    ['a negative chunk size', () => ({ lines: [CHUNKED], body: `-5\r\n${shown}\r\n0\r\n\r\n` })],
    ['a chunk size with 0x', () => ({ lines: [CHUNKED], body: `0x${chunk(shown)}0\r\n\r\n` })],
    [
      'a chunk size past 64 bits',
      () => ({ lines: [CHUNKED], body: `1${'0'.repeat(16)}\r\n${shown}\r\n0\r\n\r\n` }),
    ],
  ])('is closed on, and neither it nor what follows is carried out: %s', async (_, more) => {
    await withConnection(server.process.port, async (connection) => {
      await connection.send(eventRequest(more()) + hidden + hidden);
      await expectClosed(connection);
    });
    await expectNothingRecorded();
  });
});

describe('a request of doubtful meaning', () => {
  it.each<[string, () => string]>([
    ['two hosts', () => eventRequest({ lines: ['Host: elsewhere'] })],
    ['no host', () => eventRequest().replace('Host: 127.0.0.1\r\n', '')],
    ['one key twice', () => eventRequest({ lines: [`Authorization: Bearer ${tenant.ingest}`] })],
    ['two keys', () => eventRequest({ lines: [`Authorization: Bearer ${tenant.readOnly}`] })],
    ['a folded line', () => eventRequest({ lines: ['X: a', ' Transfer-Encoding: chunked'] })],
    ['NUL in a header', () => eventRequest({ lines: ['X: a\0b'] })],
    ['NUL in a name', () => eventRequest({ lines: ['X\0Y: a'] })],
    ['a line without a colon', () => eventRequest({ lines: ['nonsense'] })],
    ['a blank in a name', () => eventRequest({ lines: ['X Y: z'] })],
  ])('is closed on, and neither it nor what follows is carried out: %s', async (_, request) => {
    await withConnection(server.process.port, async (connection) => {
      await connection.send(request() + hidden + hidden);
      await expectClosed(connection);
    });
    await expectNothingRecorded();
  });

  it('is closed on wherever it goes, and whoever sends it', async () => {
    const targets: readonly RawRequest[] = [
      { method: 'GET', path: '/v1/agents', key: tenant.readOnly },
      { method: 'HEAD', path: '/v1/agents', key: tenant.readOnly },
      { method: 'OPTIONS', path: '/v1/agents' },
      { method: 'PATCH', path: '/v1/agents' },
      { method: 'GET', path: '/nowhere' },
      { method: 'POST', path: '/v1/events', key: 'nobody' },
      { method: 'POST', path: '/webhooks/pagerduty/nobody' },
    ];
    for (const target of targets) {
      await withConnection(server.process.port, async (connection) => {
        const lines = ['Content-Length: 5', `Content-Length: ${hidden.length + 5}`];
        await connection.send(rawRequest({ ...target, lines, body: '12345' }) + hidden);
        await expectClosed(connection);
      });
    }
    await expectNothingRecorded();
  });
});

describe('a body that looks like a request', () => {
  const nobodys = { method: 'POST', path: '/v1/events' };
  it.each<[string, number, () => RawRequest]>([
    ['of a GET', 200, () => ({ path: '/v1/agents', key: tenant.readOnly })],
    ['of an OPTIONS', 204, () => ({ method: 'OPTIONS', path: '/v1/agents' })],
    ['of a path that does not exist', 404, () => ({ method: 'POST', path: '/nowhere' })],
    ['of a method that is not allowed', 405, () => ({ method: 'PATCH', path: '/v1/events' })],
    ['of a request without a key', 401, () => nobodys],
    ['of a request with a wrong key', 401, () => ({ ...nobodys, key: 'nobody' })],
    ['of a key of the wrong kind', 403, () => ({ ...nobodys, key: tenant.readOnly })],
    ['of an event', 400, () => ({ ...nobodys, key: tenant.ingest })],
    [
      'of the wrong media type',
      415,
      () => ({ ...nobodys, key: tenant.ingest, lines: ['Content-Type: text/plain'] }),
    ],
    [
      'of a heartbeat of nobody',
      404,
      () => ({ ...nobodys, path: '/v1/agents/x/heartbeat', key: tenant.ingest }),
    ],
    ['of a webhook of nobody', 404, () => ({ ...nobodys, path: '/webhooks/pagerduty/nobody' })],
  ])('is not carried out, %s (%i), and the connection goes on', async (_, status, request) => {
    await withConnection(server.process.port, async (connection) => {
      const lines = request().lines ?? [];
      const sized = rawRequest({
        ...request(),
        body: hidden + hidden,
        lines: [...lines, `Content-Length: ${2 * hidden.length}`],
      });
      const chunked = rawRequest({
        ...request(),
        body: `${chunk(hidden)}${chunk(hidden)}0\r\n\r\n`,
        lines: [...lines, CHUNKED],
      });
      for (const bytes of [sized, chunked, sized + chunked]) {
        await connection.send(bytes);
        expect((await connection.answer()).status).toBe(status);
      }
      expect((await connection.answer()).status).toBe(status);
      await connection.send(rawRequest({ path: '/after' }));
      expect((await connection.answer()).status).toBe(404);
    });
    await expectNothingRecorded();
  });
});

describe('what follows the last request of a connection', () => {
  it.each([
    ['with Content-Length', (body: string) => eventRequest({ body })],
    ['in chunks', (body: string) => eventRequest({ lines: [CHUNKED], body: `${chunk(body)}0\r\n\r\n` })],
  ])('is not carried out where the server said so, of a body too large %s', async (_, request) => {
    await withConnection(server.process.port, async (connection) => {
      await connection.send(request('x'.repeat(70_000)) + hidden);
      const { status, headers } = await connection.answer();
      expect(status).toBe(413);
      // A server that reads on must not have said that it would close.
      if (headers.get('connection') !== 'close') return expect((await connection.answer()).status).toBe(201);
      expect(await connection.remainder()).toBe('');
      await expectNothingRecorded();
    });
  });

  it('is not carried out behind the head of a body much too large', async () => {
    await withConnection(server.process.port, async (connection) => {
      await connection.send(eventRequest({ lines: ['Content-Length: 20000000'], body: hidden + hidden }));
      expect(await connection.closing()).toMatch(/^HTTP\/1\.1 413 /);
    });
    await expectNothingRecorded();
  });
});

/** The server sees nothing of these: they are for its HTTP library to refuse. */
// Known faults of the library that nothing in JavaScript can mend; the day one is mended, its test says so.
describe('the HTTP library', () => {
  it.fails('carries out nothing behind a request whose client said that it was the last', async () => {
    await withConnection(server.process.port, async (connection) => {
      const last = rawRequest({ path: '/nowhere', lines: ['Connection: close'] });
      await connection.send(last + hidden);
      expect((await connection.answer()).status).toBe(404);
      expect(await connection.remainder()).toBe('');
    });
    await expectNothingRecorded();
  });

  it.fails('lets no header without a name hide the headers behind it', async () => {
    await withConnection(server.process.port, async (connection) => {
      const lines = [': nameless', `Content-Length: ${hidden.length}`];
      await connection.send(rawRequest({ method: 'POST', path: '/nowhere', lines, body: hidden }));
      await connection.remainder();
    });
    await expectNothingRecorded();
  });

  it.fails('answers 201 to an event with trailers, or does not take it', async () => {
    await withConnection(server.process.port, async (connection) => {
      const body = `${chunk(shown)}0\r\nX-Trailer: y\r\n\r\n`;
      await connection.send(eventRequest({ lines: [CHUNKED], body }));
      const answer = await connection.remainder();
      if (!answer.startsWith('HTTP/1.1 201 ')) await expectNothingRecorded();
    });
  });
});

describe('a header', () => {
  it('cannot be written into an answer', async () => {
    const evil = '%0d%0aX-Evil:%201%0d%0a%0d%0a';
    const requests: readonly RawRequest[] = [
      { path: `/v1/agents/${evil}`, key: tenant.readOnly },
      { path: `/${evil}` },
      { path: `/v1/agents?service=${evil}&per_page=${evil}`, key: tenant.readOnly },
      { path: '/v1/agents', key: tenant.readOnly, lines: [`X-Request-Id: ${evil}`, `Origin: ${evil}`] },
      { path: '/v1/agents', key: tenant.readOnly, lines: [`Accept: application/json${evil}`] },
      { method: 'POST', path: `/webhooks/${evil}/${evil}`, lines: [`X-Webhook-Id: ${evil}`], body: '{}' },
      { method: `X${evil}`, path: '/v1/agents' },
    ];
    for (const request of requests) {
      await withConnection(server.process.port, async (connection) => {
        await connection.send(rawRequest(request));
        const answer = await connection.answer();
        expect(answer.headers.has('x-evil')).toBe(false);
        expect(await connection.remainder(10)).toBe('');
      });
    }
  });
});
