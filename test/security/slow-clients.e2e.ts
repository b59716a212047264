/**
 * Clients that are slow, idle, too many, or not there at all, over raw sockets: whoever comes beside them is answered,
 * and what they held is given back.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { register } from '../http/operations.ts';
import { bodyOf, eventBody, TestServer } from '../support/http.ts';
import { missing } from '../support/machine.ts';
import { scrape } from '../support/metrics.ts';
import { pause, RawConnection, rawRequest } from '../support/raw-socket.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, Launched } from '../support/site.ts';

/** Far more than an answer takes beside them, on a machine that does other things too. */
const SOON_MS = 10_000;
/** The HTTP library gives up on a connection after 10 s, which it counts in steps of 4. */
const GIVES_UP_MS = 25_000;

let server: TestServer;
let agentId: string;

beforeAll(async () => {
  server = await TestServer.start();
  agentId = (await register(server, server.tenant.ingest)).id;
});
afterAll(() => server.stop());

const open = (count: number, port = server.process.port) =>
  Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));

const connectionsOpen = async () => (await scrape(server.http)).value('foreshock_http_connections');

/** An event is taken and a window read, on connections that are new, while the others do what they do. */
async function expectAnswers(): Promise<void> {
  const begunAt = performance.now();
  const connection = await RawConnection.open(server.process.port);
  const body = JSON.stringify(eventBody());
  const lines = ['Content-Type: application/json'];
  await connection.send(
    rawRequest({ method: 'POST', path: '/v1/events', key: server.tenant.ingest, lines, body }),
  );
  expect(await connection.answer()).toMatchObject({ status: 201 });
  await connection.send(rawRequest({ path: '/v1/services', key: server.tenant.readOnly }));
  expect(await connection.answer()).toMatchObject({ status: 200 });
  connection.destroy();
  expect(performance.now() - begunAt).toBeLessThan(SOON_MS);
}

/** Sends a byte now and then on each connection, until the server has closed them all. */
async function trickle(connections: readonly RawConnection[], text: (n: number) => string): Promise<void> {
  const deadline = performance.now() + GIVES_UP_MS;
  for (let n = 0; connections.some(({ closed }) => !closed); n += 1) {
    if (performance.now() > deadline) throw new Error('the server bears them for ever');
    await Promise.all(connections.map((connection) => connection.send(text(n))));
    if (n % 5 === 0) await expectAnswers();
    await pause(500);
  }
}

describe('clients that', () => {
  it('send their headers a byte at a time are given up on', async () => {
    const slow = await open(100);
    await Promise.all(slow.map((connection) => connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ')));
    await trickle(slow, () => 'a');
  }, 60_000);

  it('send their bodies a byte at a time are given up on', async () => {
    const slow = await open(100);
    const head = rawRequest({
      method: 'POST',
      path: '/v1/events',
      key: server.tenant.ingest,
      lines: ['Content-Type: application/json', 'Content-Length: 5000'],
    });
    await Promise.all(slow.map((connection) => connection.send(head)));
    await trickle(slow, () => ' ');
  }, 60_000);

  it('do not read their answers hold no more than those, and are given up on', async () => {
    const value = 'x'.repeat(4096);
    const large = Array.from({ length: 100 }, () =>
      eventBody({ service_name: 'large', old_value: value, new_value: value }),
    );
    bodyOf(await server.http.post('/v1/events/batch', server.tenant.ingest, large));
    const before = residentBytes(server.process.pid);
    const deaf = await open(60);
    for (const connection of deaf) connection.pauseReading();
    const page = rawRequest({
      path: `/v1/agents/${agentId}?per_page=100&service=large`,
      key: server.tenant.readOnly,
    });
    // Of a megabyte each, and ten of them.
    await Promise.all(deaf.map((connection) => connection.send(page.repeat(10))));
    await pause(1000);
    await expectAnswers();
    expect(residentBytes(server.process.pid) - before).toBeLessThan(900e6);
    await eventually('they are given up on', GIVES_UP_MS, async () => (await connectionsOpen()) < 10);
    for (const connection of deaf) connection.destroy();
  }, 60_000);

  it('say nothing, five thousand of them, are borne for a while and then given up on', async () => {
    const idle: RawConnection[] = [];
    for (let n = 0; n < 10; n += 1) idle.push(...(await open(500)));
    expect(await connectionsOpen()).toBeGreaterThanOrEqual(5000);
    await expectAnswers();
    await eventually('they are given up on', GIVES_UP_MS, async () => (await connectionsOpen()) < 10);
    for (const connection of idle) connection.destroy();
    await expectAnswers();
  }, 60_000);

  it('come and go by the thousand keep nobody from being answered', async () => {
    for (let n = 0; n < 10; n += 1) {
      const gone = await open(300);
      for (const [at, connection] of gone.entries()) {
        if (at % 2 === 0) connection.reset();
        else connection.destroy();
      }
      await expectAnswers();
    }
    await eventually('they are gone', SOON_MS, async () => (await connectionsOpen()) < 10);
  }, 60_000);
});

describe('a process that may open few files', () => {
  const LIMIT = 120;
  const reason = missing('prlimit');

  it.skipIf(reason !== undefined)(
    'refuses connections before it has none left, and goes on',
    async () => {
      const made = new StopStack();
      const directory = temporaryDirectory();
      made.push(() => removeDirectory(directory));
      try {
        const under = ['prlimit', `--nofile=${LIMIT}:${LIMIT}`];
        const flags = ['--segment-bytes', '4096', '--checkpoint-segments', '1'];
        const few = await new Launched(directory, { under, flags }).serving();
        made.push(async () => {
          await few.signal('SIGTERM');
        });
        expect(few.output).toContain(`at most ${LIMIT - 64} connections`);
        const { ingest = '' } = few.keys ?? {};
        const kept = await RawConnection.open(few.http.port);
        const ask = async (path: string, body: object) => {
          const lines = ['Content-Type: application/json'];
          await kept.send(
            rawRequest({ method: 'POST', path, key: ingest, lines, body: JSON.stringify(body) }),
          );
          return (await kept.answer()).status;
        };
        expect(await ask('/v1/agents/register', { hostname: 'db-1' })).toBe(201);

        const flood = await open(3 * LIMIT, few.http.port);
        const told = () => flood.filter(({ closed }) => closed).length;
        await eventually('they are told', SOON_MS, async () => told() > 2 * LIMIT);
        // New segments and checkpoints are files too.
        for (let n = 0; n < 100; n += 1)
          expect(await ask('/v1/events', eventBody({ raw_line: 'x'.repeat(500) }))).toBe(201);
        expect(readdirSync(`/proc/${few.pid}/fd`).length).toBeLessThan(LIMIT);
        expect(await cpuShare(few.pid, 500)).toBeLessThan(0.5);

        for (const connection of flood) connection.destroy();
        await pause(300);
        expect((await few.http.get('/readyz')).status).toBe(200);
        kept.destroy();
        expect(few.output).not.toContain('EMFILE');
      } finally {
        await made.run();
      }
    },
    60_000,
  );
});

function residentBytes(pid: number): number {
  return 1024 * Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** Of one processor: a listener that cannot accept must not spin. */
async function cpuShare(pid: number, forMs: number): Promise<number> {
  const ticks = () => {
    const [, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const [user, system] = (fields[0] ?? '').split(' ').slice(11, 13).map(Number);
    return (user ?? 0) + (system ?? 0);
  };
  const before = ticks();
  await pause(forMs);
  return (ticks() - before) / (forMs / 10);
}
