/**
 * System calls that fail, one at a time, by strace; and files that may not grow, by a limit. libuv's pool has one
 * thread here, since strace counts the calls of each thread by itself.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { expectRefusal } from '../support/http.ts';
import { missing, run } from '../support/machine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, type Launch, Site, sleep } from '../support/site.ts';

const withoutStrace = missing('strace');
const withoutLimits = missing('prlimit');

/** Of each call, which ones fail in a default run; with FORESHOCK_FAULTS=all every one, until none is left to. */
const CALLS: Readonly<Record<string, readonly number[]>> = {
  pwrite64: [3, 9],
  fallocate: [1, 2],
  ftruncate: [1, 2],
  fdatasync: [2],
  fsync: [2],
  rename: [2],
  openat: [3],
  unlink: [2],
};
const ALL = process.env['FORESHOCK_FAULTS'] === 'all';

const EXIT_DEADLINE_MS = 12_000;

const MODES = ['write', 'fsync'] as const;

/** What is written to memory makes no call whose failure anybody is told of. */
const BY_CALLS = ['--log-room-bytes', '0'];

const made = new StopStack();
afterEach(() => made.run());

function newDirectory(): string {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  return directory;
}

interface Injection {
  readonly launch: Launch;
  /** How many calls have been made to fail. */
  fired(): number;
}

/** Faults as strace takes them, such as `fdatasync:error=EIO:when=3`. */
function inject(...faults: readonly string[]): Injection {
  const trace = join(newDirectory(), 'trace');
  const calls = [...new Set(faults.map((fault) => fault.split(':')[0]))].join(',');
  return {
    launch: {
      // -D: the server is our own child, and its exit code is its own.
      under: [
        ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', trace, '-e', `trace=${calls}`],
        ...faults.flatMap((fault) => ['-e', `inject=${fault}`]),
      ],
      environment: { UV_THREADPOOL_SIZE: '1' },
    },
    fired: () => (existsSync(trace) ? readFileSync(trace, 'utf8').split('(INJECTED)').length - 1 : 0),
  };
}

describe.skipIf(withoutStrace)('a system call that fails', () => {
  it.each(MODES)(
    'a failed fdatasync ends the process in %s mode, and loses nothing acknowledged',
    async (mode) => {
      const site = new Site(made, newDirectory(), '--durability', mode);
      const { launch, fired } = inject('fdatasync:error=EIO:when=6');
      const server = await site.start(launch);
      const load = site.load();
      expect(await server.exited).toEqual({ code: 1, signal: null });
      await load.stop();
      expect(fired()).toBe(1);
      expect(server.output).toMatch(/"level":60.*the log could not be made durable: EIO/);
      expect(site.countOf('acknowledged')).toBeGreaterThan(0);
      await site.start();
      await site.compare();
      expect((await site.send('after')).outcome).toBe('acknowledged');
    },
  );

  const writeFaults = MODES.flatMap((mode) => [
    { mode, faults: ['pwrite64:error=EIO:when=10..12'] },
    { mode, faults: ['pwrite64:error=ENOSPC:when=10..12'] },
    // What a failed write may have left cannot be cut off either, for a while.
    { mode, faults: ['pwrite64:error=ENOSPC:when=10..11', 'ftruncate:error=EIO:when=1..3'] },
  ]);
  it.each(writeFaults)(
    '$mode mode, $faults: 503, nothing half-applied, and on it goes',
    async ({ mode, faults }) => {
      const site = new Site(made, newDirectory(), '--durability', mode, ...BY_CALLS);
      const { launch, fired } = inject(...faults);
      const server = await site.start(launch);
      for (let n = 0; n < 40; n += 1) {
        const { outcome, answer } = await site.send('e');
        if (outcome === 'acknowledged') continue;
        if (answer === undefined) throw new Error('no answer');
        expectRefusal(answer, 503, /log cannot be written/);
        expect(answer.headers['retry-after']).toBe('1');
        await site.compare();
      }
      expect(fired()).toBeGreaterThanOrEqual(3);
      expect(site.countOf('refused')).toBeGreaterThanOrEqual(2);
      expect(site.sent.slice(-10).every(({ outcome }) => outcome === 'acknowledged')).toBe(true);
      expect((await server.http.get('/readyz')).status).toBe(200);
      expect(server.output).toMatch(
        /(?:EIO|ENOSPC).*writes are not taken[\s\S]*writes are (?:taken|tried) again/,
      );
      await site.compare();
      await server.signal('SIGKILL');
      await site.start();
      await site.compare();
    },
  );

  it('a disk that says it wrote what it did not is found out by the next start', async () => {
    const site = new Site(made, newDirectory(), '--durability', 'write', ...BY_CALLS);
    const { launch, fired } = inject('pwrite64:retval=10:when=12');
    const server = await site.start(launch);
    for (let n = 0; n < 20; n += 1) await site.send('e');
    await sleep(300);
    for (let n = 0; n < 5; n += 1) await site.send('e');
    await server.signal('SIGKILL');
    expect(fired()).toBe(1);
    const next = site.launch();
    expect(await next.exited).toEqual({ code: 1, signal: null });
    expect(next.output).toMatch(/^foreshock: segment-00000001\.log is damaged at byte \d+: .*follows it$/m);
  });
});

describe.skipIf(withoutStrace)('any one system call that fails', () => {
  const sweep = MODES.flatMap((mode) =>
    Object.entries(CALLS).map(([call, ordinals]) => ({ mode, call, ordinals })),
  );
  it.each(sweep)(
    '$call in $mode mode: what was acknowledged is there after a restart',
    async ({ mode, call, ordinals }) => {
      for (const ordinal of ALL ? Array.from({ length: 200 }, (_, n) => n + 1) : ordinals) {
        if ((await survives(mode, call, ordinal)) === 0) break;
      }
    },
    600_000,
  );
});

/** A first start, writes through several segments, a stop, and a second start; answers how many calls failed. */
async function survives(mode: string, call: string, ordinal: number): Promise<number> {
  const directory = join(newDirectory(), 'data');
  const site = new Site(made, directory, '--durability', mode, '--segment-bytes', '4096');
  // Of all that a process opens, only what is in the data directory may fail to open.
  const { launch, fired } = inject(`${call}:error=EIO:when=${ordinal}`);
  const names = ['', 'segment-00000001.log.tmp', 'segment-00000002.log.tmp', 'segment-00000003.log.tmp'];
  const paths = call === 'openat' ? names.flatMap((name) => ['-P', join(directory, 'log', name)]) : [];
  const server = site.launch({ ...launch, under: [...(launch.under ?? []), ...paths] });
  const serves = await server.serving().then(
    () => true,
    () => false,
  );
  if (serves) {
    // The first try may meet the fault.
    await site
      .adopt(server)
      .catch(() => site.adopt(server))
      .catch(() => undefined);
    for (let n = 0; n < 60 && site.agentId !== '' && server.running; n += 1) {
      await Promise.all([site.send('a'), site.send('b')]);
    }
    // It may be dying, or die of this.
    if (site.agentId !== '' && (await answers(site))) await site.compare().catch(unlessDead(site));
  }
  const hint = `${call} ${ordinal}: ${server.output}`;
  const exit = serves ? server.signal('SIGTERM') : server.exited;
  const ended = await Promise.race([exit, sleep(EXIT_DEADLINE_MS)]);
  if (ended === undefined) throw new Error(`it does not end; ${hint}`);
  const { code, signal } = ended;
  expect({ hint, signal }).toEqual({ hint, signal: null });
  if (code !== 0) {
    expect({ hint, code, why: /"level":60|^foreshock: /m.test(server.output) }).toEqual({
      hint,
      code: 1,
      why: true,
    });
  }
  const next = await site.launch().serving();
  if (site.hasKeys || next.keys !== undefined) {
    await site.adopt(next);
    await site.compare();
    expect((await site.send('after')).outcome).toBe('acknowledged');
  }
  await next.signal('SIGKILL');
  return fired();
}

function answers(site: Site): Promise<boolean> {
  return site.get('/healthz').then(
    () => true,
    () => false,
  );
}

function unlessDead(site: Site): (error: unknown) => Promise<void> {
  return async (error) => {
    if (await answers(site)) throw error;
  };
}

describe.skipIf(withoutLimits)('a file that may not grow', () => {
  it.each(MODES)(
    'in %s mode takes part of a record and no more: it is refused, until it may',
    async (mode) => {
      const site = new Site(made, newDirectory(), '--durability', mode);
      const server = await site.start();
      for (let n = 0; n < 10; n += 1) await site.send('before');
      const logDirectory = join(site.dataDirectory, 'log');
      const [segment = ''] = readdirSync(logDirectory);
      const limit = (bytes: string) => run('prlimit', '--pid', String(server.pid), `--fsize=${bytes}:`);
      limit(String(statSync(join(logDirectory, segment)).size + 100));

      const load = site.load(4);
      await eventually('writes are refused', 3000, () => site.countOf('refused') > 20);
      expectRefusal(await server.http.get('/readyz'), 503, /EFBIG/);
      expect((await site.get('/v1/services')).status).toBe(200);
      const acknowledged = site.countOf('acknowledged');
      limit('unlimited');
      await eventually('writes are taken', 3000, () => site.countOf('acknowledged') > acknowledged + 20);
      await load.stop();
      await site.compare();
      await server.signal('SIGKILL');
      await site.start();
      await site.compare();
    },
  );
});
