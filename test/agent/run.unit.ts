import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Plugin } from '../../src/agent/plugin.ts';
import { postgresql } from '../../src/agent/postgresql/plugin.ts';
import { type AgentNotice, type AgentOptions, runAgent } from '../../src/agent/run.ts';
import { ForeshockClient } from '../../src/client/client.ts';
import { ForeshockError } from '../../src/client/error.ts';
import { systemSleep } from '../../src/client/retry.ts';

const FIXTURE = new URL('../fixtures/postgresql-15.log', import.meta.url).pathname;
const REGISTER = 'POST /v1/agents/register';
const EVENT = 'POST /v1/events/batch';
const HEARTBEAT = 'POST /v1/agents/a1/heartbeat';

/** Every line is an event whose entity is the line. */
const echo: Plugin<null> = {
  name: 'echo',
  vendor: 'echo',
  initialMemory: null,
  read: (memory, line, { serviceName }) => ({
    memory,
    event: {
      service_name: serviceName,
      vendor: 'echo',
      entity: line,
      event_type: 'deploy',
      confidence: 1,
      ttl_seconds: 60,
    },
  }),
};

interface Arrival {
  readonly call: string;
  /** Of the first event. */
  readonly entity: string;
  readonly key: string;
}

/** Null cuts the connection; undefined is the usual answer. */
type Behaviour = (
  arrival: Arrival,
  before: readonly Arrival[],
) => readonly [number, string] | null | undefined;

let folder = '';
let file = '';
let server: Server | undefined;
let stop = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foreshock-run-'));
  file = join(folder, 'server.log');
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  close();
  await rm(folder, { recursive: true });
});

function close(): void {
  server?.closeAllConnections();
  server?.close();
}

/** A server that keeps what arrives; `calls` and `accepted` are read at any time. */
async function serve(behaviour: Behaviour = () => undefined, port = 0) {
  const arrivals: Arrival[] = [];
  const accepted: string[] = [];
  const started = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const call = `${request.method} ${request.url}`;
    const entities = body.split('\n').map((line) => (line === '' ? '' : (JSON.parse(line).entity ?? '')));
    const arrival = { call, entity: entities[0], key: String(request.headers['idempotency-key']) };
    const answer = behaviour(arrival, arrivals);
    arrivals.push(arrival);
    if (answer === null) return response.destroy();
    const [status, text] = answer ?? usualAnswer(call, entities.length);
    if (status === 200) accepted.push(...entities);
    return response.writeHead(status).end(text);
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(port, '127.0.0.1', resolve));
  return { arrivals, accepted, port: (started.address() as AddressInfo).port };
}

function usualAnswer(call: string, events: number): readonly [number, string] {
  if (call === REGISTER) return [201, JSON.stringify(agent)];
  return call === EVENT ? [200, JSON.stringify({ accepted: events, rejected: [] })] : [204, ''];
}

const agent = {
  id: 'a1',
  tenant_id: 't',
  api_key_id: 'k',
  hostname: 'db1',
  name: 'db1',
  agent_version: null,
  registered_at: '',
  last_seen_at: '',
};

const QUICK = { baseMs: 2, maxMs: 10, random: () => 0.5 };

function run(port: number, options: Partial<AgentOptions> = {}, plugin: Plugin<null> = echo) {
  const notices: AgentNotice[] = [];
  const client = new ForeshockClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: 'fsk_ing_x',
    retry: { ...QUICK, attempts: 2 },
  });
  const single = { maxBatchEvents: 1, maxDelayMs: 0 };
  const usual = {
    file,
    serviceName: 'orders-db',
    hostname: 'db1',
    pollMs: 5,
    signal: stop.signal,
    ...single,
  };
  const all = { ...usual, ...options };
  const onReport = (notice: AgentNotice) => void notices.push(notice);
  return { notices, done: runAgent(all, { client, plugin, onReport, retry: QUICK }) };
}

/** Waits for what must come, on a busy machine too. */
const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 10_000, interval: 5 });
const callsOf = (arrivals: readonly Arrival[]) => arrivals.map(({ call }) => call);
const none = { deploy: 0, restart: 0, saturation: 0, flag_change: 0, circuit_open: 0, dependency_failure: 0 };

describe('a file, once', () => {
  test('is registered for, read to its end and sent in order', async () => {
    const { arrivals, accepted, port } = await serve();
    const client = new ForeshockClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'fsk_ing_x' });
    const report = await runAgent(
      { file: FIXTURE, serviceName: 'orders-db' },
      { client, plugin: postgresql },
    );
    expect(report).toEqual({
      linesRead: 215,
      eventsByType: { ...none, restart: 5, saturation: 9, flag_change: 6 },
      sent: 20,
      rejected: 0,
      dropped: 0,
      unsent: 0,
    });
    expect(callsOf(arrivals)).toEqual([REGISTER, EVENT]);
    expect(accepted.slice(-3)).toEqual(['database system', 'database system', 'database system']);
  });

  test('that is much longer than the buffer loses nothing, though the server is away on the way', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `${index}`);
    await writeFile(file, lines.join('\n'));
    const { accepted, port } = await serve((_, before) =>
      before.length % 7 === 5 || before.length % 7 === 6 ? null : undefined,
    );
    const { done, notices } = run(port, { maxBufferedEvents: 3 });
    expect(await done).toMatchObject({ linesRead: 60, sent: 60, dropped: 0, unsent: 0 });
    expect(accepted).toEqual(lines);
    expect(notices.map(({ type }) => type)).toContain('server-away');
    expect(notices.filter(({ type }) => type === 'server-away')).toHaveLength(
      notices.filter(({ type }) => type === 'server-back').length,
    );
  });

  test('an event that is refused is counted with its sentence and not sent again', async () => {
    await writeFile(file, 'good\nbad\nbetter\n');
    const { arrivals, port } = await serve(({ entity }) =>
      entity === 'bad' ? [400, 'ttl_seconds must be positive'] : undefined,
    );
    const { done, notices } = run(port);
    expect(await done).toMatchObject({ eventsByType: { ...none, deploy: 3 }, sent: 2, rejected: 1 });
    expect(notices.find(({ type }) => type === 'rejected')).toMatchObject({
      event: { entity: 'bad' },
      detail: 'ttl_seconds must be positive',
    });
    expect(callsOf(arrivals)).toEqual([REGISTER, EVENT, EVENT, EVENT]);
  });

  test('an agent that is not registered registers again and sends the same event', async () => {
    await writeFile(file, 'a\nb\n');
    const { arrivals, accepted, port } = await serve((_, before) =>
      before.length === 2 ? [403, 'agent not registered'] : undefined,
    );
    const { done } = run(port);
    expect(await done).toMatchObject({ sent: 2 });
    expect(callsOf(arrivals)).toEqual([REGISTER, EVENT, EVENT, REGISTER, EVENT]);
    expect(accepted).toEqual(['a', 'b']);
    expect(arrivals[4]?.key).toBe(arrivals[2]?.key);
  });

  test.each([
    ['401', [401, 'unknown key'], 1],
    ['403 for the wrong kind of key', [403, 'an ingest key is required'], 1],
    ['404 for the wrong address', [404, 'not found'], 1],
    ['403 that no registration mends', [403, 'agent not registered'], 4],
  ] as const)('%s ends the run', async (_, answer, events) => {
    await writeFile(file, 'a\n');
    const { arrivals, port } = await serve(({ call }) => (call === EVENT ? answer : undefined));
    await expect(run(port).done).rejects.toMatchObject({ status: answer[0], detail: answer[1] });
    expect(callsOf(arrivals).filter((call) => call === EVENT)).toHaveLength(events);
  });

  test.each([
    ['a key that is refused at registration', [401, 'unknown key'], 1],
    ['a server that is away at the start', null, 2],
  ] as const)('%s ends the run before anything is read', async (_, answer, calls) => {
    const { arrivals, port } = await serve(() => answer);
    await expect(run(port).done).rejects.toBeInstanceOf(ForeshockError);
    expect(arrivals).toHaveLength(calls);
  });

  test('that is not there is an error', async () => {
    const { port } = await serve();
    await expect(run(port).done).rejects.toThrow(/ENOENT/);
  });
});

describe('a file that is followed', () => {
  test('is sent as it is written', async () => {
    await writeFile(file, 'a\n');
    const { accepted, port } = await serve();
    const { done, notices } = run(port, { follow: true });
    await eventually(() => accepted).toEqual(['a']);
    await appendFile(file, 'b\n');
    await eventually(() => accepted).toEqual(['a', 'b']);
    await eventually(() => notices.filter(({ type }) => type === 'sent')).toHaveLength(2);
    stop.abort();
    expect(await done).toMatchObject({ linesRead: 2, sent: 2, unsent: 0 });
  });

  test('while the server is away the newest events are kept, in order, and the rest is counted', async () => {
    await writeFile(file, '');
    const first = await serve();
    const { done, notices } = run(first.port, { follow: true, maxBufferedEvents: 4 });
    await eventually(() => notices.map(({ type }) => type)).toEqual(['registered']);
    close();
    await appendFile(file, '0\n');
    await eventually(() => notices.map(({ type }) => type)).toContain('server-away');
    await appendFile(file, '1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    await eventually(() => notices.filter(({ type }) => type === 'found')).toHaveLength(10);
    const second = await serve(undefined, first.port);
    await eventually(() => notices.at(-1)).toMatchObject({ type: 'sent', event: { entity: '9' } });
    stop.abort();
    const report = await done;
    expect(report.sent + report.dropped).toBe(10);
    expect(report.sent).toBeGreaterThanOrEqual(4);
    expect(report.sent).toBeLessThanOrEqual(5);
    expect(second.accepted.slice(-4)).toEqual(['6', '7', '8', '9']);
    expect(notices.filter(({ type }) => type === 'dropped')).toHaveLength(report.dropped);
    expect(notices.filter(({ type }) => type.startsWith('server-')).at(-1)?.type).toBe('server-back');
  });

  test('a server that comes back without knowing the agent gets it registered, however long it was away', async () => {
    await writeFile(file, 'a\n');
    const { accepted, arrivals, port } = await serve(({ call }, before) => {
      if (call !== EVENT || before.length > 12) return undefined;
      return before.length < 12 ? [503, 'starting'] : [403, 'agent not registered'];
    });
    run(port, { follow: true });
    await eventually(() => accepted).toEqual(['a']);
    expect(callsOf(arrivals).slice(-3)).toEqual([EVENT, REGISTER, EVENT]);
  });

  test('a server that is slow makes the reader wait, and nothing is lost', async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}`);
    await writeFile(file, `${lines.join('\n')}\n`);
    const { accepted, port } = await serve();
    const { notices } = run(port, { follow: true, maxBufferedEvents: 2 });
    await eventually(() => accepted).toEqual(lines);
    expect(notices.filter(({ type }) => type === 'dropped')).toEqual([]);
  });

  test('a reader that waits for room goes on when the server goes away', async () => {
    await writeFile(file, '0\n1\n2\n3\n4\n5\n6\n7\n');
    const { port } = await serve(({ call }) => (call === EVENT ? [503, 'draining'] : undefined));
    const { notices } = run(port, { follow: true, maxBufferedEvents: 2 });
    await eventually(() => notices.filter(({ type }) => type === 'found')).toHaveLength(8);
  });

  test('a server that is away at the start is waited for', async () => {
    await writeFile(file, 'a\n');
    const { accepted, port } = await serve((_, before) => (before.length < 5 ? null : undefined));
    const { notices } = run(port, { follow: true });
    await eventually(() => accepted).toEqual(['a']);
    expect(notices.slice(0, 3).map(({ type }) => type)).toEqual(['server-away', 'server-back', 'registered']);
  });

  test('what is unsent when the run is stopped is counted', async () => {
    await writeFile(file, 'a\nb\nc\n');
    const { port } = await serve(({ call }) => (call === EVENT ? [503, 'starting'] : undefined));
    const { done, notices } = run(port, { follow: true });
    await eventually(() => notices.filter(({ type }) => type === 'found')).toHaveLength(3);
    stop.abort();
    expect(await done).toMatchObject({ sent: 0, dropped: 0, unsent: 3 });
  });
});

describe('heartbeats', () => {
  const beats = { follow: true, heartbeatSeconds: 0.05 };

  test('are sent while there are no events, and not while there are', async () => {
    await writeFile(file, '');
    const { arrivals, port } = await serve();
    run(port, beats);
    await expect
      .poll(() => callsOf(arrivals).filter((call) => call === HEARTBEAT).length)
      .toBeGreaterThanOrEqual(3);
    const idle = arrivals.length;
    for (let index = 0; index < 60; index++) {
      await appendFile(file, `${index}\n`);
      await systemSleep(10);
    }
    const busy = callsOf(arrivals).slice(idle);
    expect(busy.filter((call) => call === EVENT).length).toBeGreaterThanOrEqual(50);
    expect(busy.filter((call) => call === HEARTBEAT).length).toBeLessThanOrEqual(5);
  });

  test('are sent while every event is refused', async () => {
    await writeFile(file, '');
    const { arrivals, port } = await serve(({ call }) => (call === EVENT ? [400, 'no'] : undefined));
    run(port, beats);
    for (let index = 0; index < 30; index++) {
      await appendFile(file, `${index}\n`);
      await systemSleep(10);
    }
    expect(callsOf(arrivals).filter((call) => call === HEARTBEAT).length).toBeGreaterThanOrEqual(3);
  });

  test('an agent that the server does not know registers again', async () => {
    await writeFile(file, '');
    const { arrivals, port } = await serve(({ call }, before) =>
      call === HEARTBEAT && before.length === 1 ? [404, 'not found'] : undefined,
    );
    run(port, beats);
    await expect
      .poll(() => callsOf(arrivals).slice(0, 4))
      .toEqual([REGISTER, HEARTBEAT, REGISTER, HEARTBEAT]);
  });

  test('a key that was revoked ends the run', async () => {
    await writeFile(file, '');
    const { port } = await serve(({ call }) => (call === HEARTBEAT ? [401, 'unknown key'] : undefined));
    await expect(run(port, beats).done).rejects.toMatchObject({ status: 401 });
  });

  test('a server that is away for them is reported once, and its return', async () => {
    await writeFile(file, '');
    const { notices } = await (async () => {
      const { port } = await serve(({ call }, before) =>
        call === HEARTBEAT && before.length < 8 ? null : undefined,
      );
      return run(port, beats);
    })();
    await expect
      .poll(() => notices.map(({ type }) => type))
      .toEqual(['registered', 'server-away', 'server-back']);
  });
});
