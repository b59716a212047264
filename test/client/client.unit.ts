import { mkdtempSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ClientOptions, ForeshockClient } from '../../src/client/client.ts';
import { ForeshockError } from '../../src/client/error.ts';
import { systemSleep } from '../../src/client/retry.ts';
import type { Fetch } from '../../src/client/transport.ts';
import type { EventBody } from '../../src/client/wire.ts';

const API_KEY = 'fsk_ing_0123456789abcdef';
const EVENT: EventBody = {
  service_name: 'orders-db',
  vendor: 'postgresql',
  entity: 'work_mem',
  event_type: 'flag_change',
  confidence: 0.95,
  ttl_seconds: 60,
};
const AGENT = {
  id: '0a1b',
  tenant_id: 't',
  api_key_id: 'k',
  hostname: 'db1',
  name: 'db1',
  agent_version: null,
  registered_at: '2026-11-20T15:00:00Z',
  last_seen_at: '2026-11-20T15:00:00Z',
};

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (response: ServerResponse, seen: Seen) => void;

const say = (status: number, body: string | object = '', headers: Record<string, string> = {}): Answer => {
  return (response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const hangUp: Answer = (response) => response.destroy();

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that gives these answers in turn, the last one for ever, and a client with no real waits. */
async function connected(answers: readonly Answer[], options: Partial<ClientOptions> = {}) {
  const seen: Seen[] = [];
  const waits: number[] = [];
  const started = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    seen.push(one);
    (answers[Math.min(seen.length, answers.length) - 1] ?? hangUp)(response, one);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  const client = new ForeshockClient({
    baseUrl: `http://127.0.0.1:${port}/`,
    apiKey: API_KEY,
    ...options,
    retry: { random: () => 0.5, sleep: async (ms) => void waits.push(ms), ...options.retry },
  });
  const closed = () => new Promise((resolve) => started.close(resolve));
  return { client, seen, waits, closed };
}

const errorOf = (calling: Promise<unknown>): Promise<unknown> =>
  calling.then(
    () => null,
    (error: unknown) => error,
  );

describe('the calls', () => {
  test('registerAgent posts the registration with the key, and gives the agent', async () => {
    const { client, seen } = await connected([say(201, AGENT)]);
    expect(await client.registerAgent({ hostname: 'db1', version: '1.2.3' })).toEqual(AGENT);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/agents/register' });
    expect(seen[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ hostname: 'db1', version: '1.2.3' });
  });

  test('recordEvent posts the event with its idempotency key', async () => {
    const { client, seen } = await connected([say(201)]);
    await client.recordEvent(EVENT, { idempotencyKey: 'once' });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/events' });
    expect(seen[0]?.headers['idempotency-key']).toBe('once');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(EVENT);
  });

  test('heartbeat has no body', async () => {
    const { client, seen } = await connected([say(204)]);
    await client.heartbeat('a/b');
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/agents/a%2Fb/heartbeat', body: '' });
    expect(seen[0]?.headers['content-type']).toBeUndefined();
  });

  test('reads go to their addresses and keep fields that are new', async () => {
    const window = {
      event_type: 'restart',
      vendor: 'v',
      entity: 'e',
      old_value: null,
      new_value: null,
      timestamp: 't',
    };
    const context = {
      service: 's',
      deploy_events: [],
      restart_events: [window],
      saturation_events: [],
      updated_at: 't',
      later: 1,
    };
    const page = {
      agent: AGENT,
      events: [],
      page: 2,
      per_page: 20,
      total_pages: 1,
      total: 0,
      filter_services: [],
      filter_vendors: [],
      filter_service: null,
      filter_vendor: null,
      filter_event_type: 'deploy',
    };
    const service = { id: 's1', tenant_id: 't', agent_id: '0a1b', name: 'orders-db', last_event_at: 't' };
    const { client, seen } = await connected([
      say(200, [{ ...AGENT, events_last_hour: 3 }]),
      say(200, page),
      say(200, [service]),
      say(200, context),
    ]);
    expect(await client.listAgents()).toMatchObject([{ events_last_hour: 3 }]);
    expect(await client.showAgent('0a1b', { per_page: 20, page: 2, event_type: 'deploy' })).toEqual(page);
    expect(await client.listServices()).toEqual([service]);
    expect(await client.showServiceContext('s1')).toEqual(context);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/agents',
      'GET /v1/agents/0a1b?per_page=20&page=2&event_type=deploy',
      'GET /v1/services',
      'GET /v1/services/s1/context',
    ]);
  });
});

describe('where it runs', () => {
  test('goes over a unix socket, with a fetch that does', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'foreshock-client-')), 'socket');
    const behind = createServer((_, response) => response.end('{"status":"alive"}'));
    server = behind;
    await new Promise<void>((resolve) => behind.listen(path, resolve));
    const overSocket: Fetch = (url, { method = 'GET' }) =>
      new Promise((resolve, reject) => {
        const { pathname } = new URL(url);
        const sent = httpRequest({ socketPath: path, path: pathname, method }, async (answer) => {
          let text = '';
          for await (const chunk of answer) text += String(chunk);
          resolve(new Response(text, { status: answer.statusCode ?? 0 }));
        });
        sent.once('error', reject).end();
      });
    const client = new ForeshockClient({ baseUrl: 'http://foreshock', fetch: overSocket });
    expect(await client.showHealth()).toEqual({ status: 'alive' });
  });

  test('without a key, sends none', async () => {
    const { client, seen } = await connected([say(200, { status: 'alive' })]);
    await client.showHealth();
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    await new ForeshockClient({ baseUrl: `http://${seen[0]?.headers.host}` }).showHealth();
    expect(seen[1]?.headers.authorization).toBeUndefined();
  });
});

describe('retries', () => {
  test.each([
    ['a connection that is cut', hangUp],
    ['429', say(429)],
    ['503', say(503)],
    ['502 of a proxy', say(502)],
    ['520 of a proxy', say(520)],
  ])('%s is tried again, with the same idempotency key', async (_, answer) => {
    const { client, seen, waits } = await connected([answer, answer, say(201)]);
    await client.recordEvent(EVENT, { idempotencyKey: 'once' });
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['once', 'once', 'once']);
    expect(waits).toEqual([125, 250]);
  });

  test('waits grow up to their bound, and end with the attempts', async () => {
    const { client, seen, waits } = await connected([say(503, 'starting')], {
      retry: { attempts: 6, baseMs: 100, maxMs: 700 },
    });
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({ status: 503, detail: 'starting' });
    expect(seen).toHaveLength(6);
    expect(waits).toEqual([50, 100, 200, 350, 350]);
  });

  test.each([
    ['seconds', { 'Retry-After': '7' }],
    [
      'a date, by the clock of the server',
      { Date: 'Fri, 20 Nov 2026 15:00:00 GMT', 'Retry-After': 'Fri, 20 Nov 2026 15:00:07 GMT' },
    ],
  ])('Retry-After in %s is the least wait', async (_, headers) => {
    const { client, waits } = await connected([say(429, '', headers), say(201)]);
    await client.recordEvent(EVENT);
    expect(waits).toEqual([7125]);
  });

  test('a Retry-After beyond the longest wait is handed to the caller', async () => {
    const { client, seen, waits } = await connected([say(503, '', { 'Retry-After': '3600' })]);
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({ retryAfterMs: 3_600_000 });
    expect([seen.length, waits.length]).toEqual([1, 0]);
  });

  test.each([400, 401, 403, 404, 409, 500])('%s is not tried again', async (status) => {
    const { client, seen } = await connected([say(status, 'no')]);
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({
      status,
      detail: 'no',
      message: `POST /v1/events: ${status} no`,
    });
    expect(seen).toHaveLength(1);
  });

  test.each([
    [400, false, false],
    [403, false, false],
    [408, true, true],
    [429, true, true],
    [500, true, false],
    [503, true, true],
    [520, true, true],
  ])('%i: the server is away: %s, and may soon be back: %s', async (status, isServerAway, retryable) => {
    const { client } = await connected([say(status)], { retry: { attempts: 1 } });
    expect(await errorOf(client.listAgents())).toMatchObject({ isServerAway, retryable });
  });

  test('an answer that does not come in time is tried again', async () => {
    const { client, seen } = await connected([() => {}, say(201)], { timeoutMs: 50 });
    await client.recordEvent(EVENT);
    expect(seen).toHaveLength(2);
  });

  test('an aborted call ends at once with the reason of its signal', async () => {
    const stop = new AbortController();
    const { client, seen } = await connected([() => stop.abort(new Error('enough'))]);
    expect(await errorOf(client.recordEvent(EVENT, { signal: stop.signal }))).toMatchObject({
      message: 'enough',
    });
    expect(seen).toHaveLength(1);
  });
});

describe('time limits', () => {
  /** A clock that only waits move. */
  function fakeTime() {
    let nowMs = 0;
    const sleep = async (ms: number) => {
      nowMs += ms;
    };
    return { sleep, now: () => nowMs, random: () => 1, baseMs: 100, maxMs: 100, attempts: 1000 };
  }

  test('a call ends before a wait that would outlast its deadline', async () => {
    const { client, seen } = await connected([say(503, 'starting')], { retry: fakeTime(), deadlineMs: 1000 });
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({ status: 503, attempts: 10 });
    expect(seen).toHaveLength(10);
    expect(await errorOf(client.recordEvent(EVENT, { deadlineMs: 250 }))).toMatchObject({ attempts: 3 });
  });

  test('a wait that is longer than a timer can be set for is not over at once', async () => {
    const stop = new AbortController();
    const waiting = systemSleep(2 ** 40, stop.signal).then(() => 'over');
    setTimeout(() => stop.abort(new Error('still waiting')), 50);
    await expect(waiting).rejects.toThrow('still waiting');
  });

  test('a call may have limits of its own', async () => {
    const { client, seen } = await connected([() => {}]);
    const limits = { timeoutMs: 20, retry: { attempts: 2 } };
    expect(await errorOf(client.showHealth(limits))).toMatchObject({
      kind: 'timeout',
      status: null,
      attempts: 2,
      retryable: true,
    });
    expect(seen).toHaveLength(2);
  });
});

describe('what must not be done twice', () => {
  const create = (client: ForeshockClient) =>
    client.createIntegration({ type: 'pagerduty', direction: 'inbound' });

  test.each([
    ['a lost answer', hangUp],
    ['503', say(503)],
  ])('is not sent again after %s', async (_, answer) => {
    const { client, seen } = await connected([answer]);
    expect(await errorOf(create(client))).toBeInstanceOf(ForeshockError);
    expect(await errorOf(client.rotateToken('i'))).toBeInstanceOf(ForeshockError);
    expect(seen).toHaveLength(2);
  });

  test('is sent again after 429, which says that nothing was done', async () => {
    const made = { id: 'i', type: 'pagerduty', webhook_url: 'u' };
    const { client } = await connected([say(429), say(201, made)]);
    expect(await create(client)).toEqual(made);
  });

  test('what is deleted is deleted, though the answer that said so was lost', async () => {
    const gone = [hangUp, say(404, 'not found')];
    const { client } = await connected(gone);
    await client.deleteIntegration('i');
    const never = await connected([say(404, 'not found')]);
    expect(await errorOf(never.client.deleteIntegration('i'))).toMatchObject({ status: 404 });
  });

  test('an event brings a key of its own, the same for all attempts', async () => {
    const { client, seen } = await connected([hangUp, say(201), say(201)]);
    await client.recordEvent(EVENT);
    await client.recordEvent(EVENT);
    const [first, again, other] = seen.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe('errors', () => {
  test('say what a problem document says, and under which id the server knows the request', async () => {
    const problem = {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: 'no agent',
      instance: 'r1',
    };
    const headers = { 'Content-Type': 'application/problem+json', 'X-Request-Id': 'r1' };
    const { client, seen } = await connected([say(403, problem, headers)]);
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({
      kind: 'refused',
      title: 'Forbidden',
      detail: 'no agent',
      requestId: 'r1',
    });
    expect(seen[0]?.headers.accept).toContain('application/problem+json');
  });

  test('a server that is not there is named by what went wrong', async () => {
    const { client, closed } = await connected([hangUp], { retry: { attempts: 1 } });
    await closed();
    const error = await errorOf(client.heartbeat('a'));
    expect(error).toBeInstanceOf(ForeshockError);
    expect(error).toMatchObject({
      status: null,
      message: 'POST /v1/agents/a/heartbeat: the server cannot be reached (ECONNREFUSED)',
    });
  });

  test.each([
    ['no JSON', say(200, '<html>')],
    ['other JSON', say(200, { ok: true })],
  ])('an answer that is %s is no agent', async (_, answer) => {
    const { client } = await connected([answer]);
    expect(await errorOf(client.registerAgent({ hostname: 'db1' }))).toMatchObject({
      status: 200,
      detail: expect.stringContaining('address'),
    });
  });

  test('a redirect is not followed', async () => {
    const { client, seen } = await connected([say(302, '', { Location: '/elsewhere' })]);
    expect(await errorOf(client.recordEvent(EVENT))).toMatchObject({ status: 302 });
    expect(seen).toHaveLength(1);
  });

  test('the key is in no error, even where the server repeats it', async () => {
    const { client } = await connected([say(401, `unknown key ${API_KEY}`)]);
    const error = await errorOf(client.recordEvent(EVENT));
    expect(error).toMatchObject({ detail: 'unknown key …' });
    expect(String(error) + JSON.stringify(error)).not.toContain(API_KEY);
  });

  test.each(['', 'key\nwith a line', 'schlüssel'])(
    'a key that cannot be a header (%j) is refused without quoting it',
    (apiKey) => {
      const make = () => new ForeshockClient({ baseUrl: 'http://127.0.0.1:1', apiKey });
      expect(make).toThrow('the API key is empty or holds characters no key has');
    },
  );

  test.each(['localhost:8080', 'ftp://x', 'http://me:secret@x'])('%s is no address', (baseUrl) => {
    expect(() => new ForeshockClient({ baseUrl, apiKey: API_KEY })).toThrow(/address/);
  });
});
