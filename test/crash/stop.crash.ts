/** Stopping and starting: in order under load, out of order, and while a long log is replayed. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { expectRefusal, HttpClient } from '../support/http.ts';
import { missing } from '../support/machine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { Launched, Site, sleep } from '../support/site.ts';

const withoutStrace = missing('strace');
const STOP_DEADLINE_MS = 10_000;
const ROUNDS = Number(process.env['FORESHOCK_STOP_ROUNDS'] ?? 3);

const made = new StopStack();
afterEach(() => made.run());

function newDirectory(): string {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  return directory;
}

describe.each(['write', 'fsync'])('in %s mode', (durability) => {
  it(`SIGTERM under load: exits 0 in time, and nothing acknowledged is lost, in ${ROUNDS} rounds`, async () => {
    const site = new Site(made, newDirectory(), '--durability', durability, '--segment-bytes', '65536');
    await site.start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const load = site.load(16);
      await sleep(100 + 130 * round);
      const sinceMs = performance.now();
      const exit = await site.server.signal('SIGTERM');
      await load.stop();
      expect(exit).toEqual({ code: 0, signal: null });
      expect(performance.now() - sinceMs).toBeLessThan(STOP_DEADLINE_MS);
      const answers = site.sent.flatMap(({ answer }) => answer ?? []);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expectRefusal(answer, 503, 'the server is shutting down');
      }
      await site.start();
      expect(site.server.output).toContain('the last shutdown was clean');
      await site.compare();
    }
  }, 60_000);

  it('after kill -9 the next start says that the shutdown was not clean, and the one after a stop that it was', async () => {
    const site = new Site(made, newDirectory(), '--durability', durability);
    await site.start();
    expect(site.server.output).not.toContain('shutdown');
    await site.send('e');
    await site.server.signal('SIGKILL');
    await site.start();
    expect(site.server.output).toContain('the last shutdown was not clean');
    expect((await site.server.signal('SIGTERM')).code).toBe(0);
    await site.start();
    expect(site.server.output).toContain('the last shutdown was clean');
    await site.server.signal('SIGKILL');
    await site.start();
    expect(site.server.output).toContain('the last shutdown was not clean');
    await site.compare();
  });
});

describe.skipIf(withoutStrace)('SIGTERM at the moment a server says that it listens', () => {
  it('ends it in order', async () => {
    const directory = newDirectory();
    // Every line it prints takes a while, so that the signal comes before it does anything else.
    const under = ['strace', '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=write,writev'];
    const server = new Launched(directory, {
      under: [...under, '-e', 'inject=write,writev:delay_exit=200000'],
    });
    made.push(async () => {
      if (server.running) await server.signal('SIGKILL');
    });
    await server.serving();
    expect(await server.signal('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('a start on a long log', () => {
  it('answers 503 with its progress from the first moment, is alive but not ready, and then both', async () => {
    const { directory, commands } = await longLog();
    const port = await freePort();
    const server = new Launched(directory, { flags: ['--port', String(port)] });
    made.push(async () => {
      if (server.running) await server.signal('SIGKILL');
    });
    const http = new HttpClient(port);
    made.push(() => http.close());

    const progress: number[] = [];
    let ready = false;
    for (const deadline = performance.now() + 20_000; !ready && performance.now() < deadline; ) {
      const alive = await http.get('/healthz').catch(() => undefined);
      if (alive === undefined) {
        await sleep(5);
        continue;
      }
      expect(alive.status).toBe(200);
      const readiness = await http.get('/readyz');
      ready = readiness.status === 200;
      if (ready) break;
      expectRefusal(readiness, 503, /^the server is starting/);
      expect(readiness.headers['retry-after']).toBe('1');
      const refusal = await http.get('/v1/services', 'fsk_ro_none');
      // It may have become ready in between.
      if (refusal.status === 503) expect(refusal.text).toMatch(/^the server is starting/);
      else expect(refusal.status).toBe(401);
      const told = /: (\d+) % of the log replayed, \d+ commands so far$/.exec(readiness.text)?.[1];
      if (told !== undefined) progress.push(Number(told));
    }
    expect(ready).toBe(true);
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.some((percent) => percent > 0 && percent < 100)).toBe(true);
    expect((await http.get('/v1/services', 'fsk_ro_none')).status).toBe(401);
    await server.serving();
    expect(server.output).toContain(`${commands} commands replayed`);
  }, 60_000);

  it('can be ended by SIGTERM or SIGKILL meanwhile, and loses nothing', async () => {
    const { directory, commands } = await longLog();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const server = new Launched(directory, {});
      await sleep(450);
      await server.signal(signal);
      expect(server.output).not.toContain('listens on');
    }
    const server = await new Launched(directory, {}).serving();
    expect(server.output).toContain(`${commands} commands replayed`);
    expect((await server.signal('SIGTERM')).code).toBe(0);
  }, 60_000);
});

const BATCHES = 4000;

/** A log that takes about a second to replay. */
async function longLog(): Promise<{ directory: string; commands: number }> {
  const directory = newDirectory();
  const engine = await openTestEngine(directory, { windowMaxEvents: 1000, segmentBytes: 16 * 1024 * 1024 });
  const { tenantId, agentId } = await engine.newTenant('long');
  const batch = Array.from({ length: 200 }, (_, n) =>
    anEvent({ entity: `entity-${n}`, serviceName: `s-${n % 20}` }),
  );
  for (let n = 0; n < BATCHES; n += 1) {
    await engine.submit({ type: 'record-events', tenantId, agentId, events: batch });
  }
  await engine.close();
  // A tenant, a key and an agent came before.
  return { directory, commands: BATCHES + 3 };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
