/** A disk that fills up under load, and is given space again. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { expectRefusal } from '../support/http.ts';
import { fillAllBut, missing, mountTmpfs } from '../support/machine.ts';
import { eventually, Site, sleep } from '../support/site.ts';

const skipped = missing('root', 'tmpfs');
const DISK_BYTES = 32 * 1024 * 1024;
/** Records of many pages: the disk fills in the middle of one. */
const LONG = { raw_line: 'x'.repeat(3000) };

/** One long segment; and segments and checkpoints that have to be made while nothing can be. */
const LAYOUTS = {
  'one segment': [],
  'many segments': ['--segment-bytes', '16384', '--checkpoint-segments', '1'],
} as const;

const CASES = (['write', 'fsync'] as const).flatMap((durability) =>
  (Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[]).map((layout) => ({ durability, layout })),
);

const made = new StopStack();
afterEach(() => made.run());

/** A server that has filled its disk and refuses; the load goes on. */
async function fillUp(durability: string, layout: keyof typeof LAYOUTS) {
  const disk = mountTmpfs(made, DISK_BYTES);
  const site = new Site(made, join(disk, 'data'), '--durability', durability, ...LAYOUTS[layout]);
  await site.start();
  await site.send('before', LONG);
  const makeSpace = fillAllBut(disk, 500 * 1024);
  const load = site.load(8, LONG);
  await eventually('the disk is full', 10_000, () => site.countOf('refused') >= 50);
  return { site, load, makeSpace };
}

describe.skipIf(skipped)('a full disk', () => {
  describe.each(CASES)('in $durability mode, $layout', ({ durability, layout }) => {
    it('refuses writes with 503, answers reads, and says why', async () => {
      const { site, load } = await fillUp(durability, layout);
      const { server } = site;
      const refusal = site.sent.find(({ outcome }) => outcome === 'refused')?.answer;
      if (refusal === undefined) throw new Error('nothing was refused');
      expectRefusal(refusal, 503, /log cannot be written/);
      expect(refusal.headers['retry-after']).toBe('1');

      for (const path of ['/v1/services', '/v1/agents', `/v1/agents/${site.agentId}`, '/healthz']) {
        expect(await site.get(path)).toMatchObject({ status: 200 });
      }
      expectRefusal(await server.http.get('/readyz'), 503, /log cannot be written: \S+/);
      expect(server.output).toMatch(/"level":50.*(?:ENOSPC|took no more bytes).*writes are not taken/);

      await load.stop();
      await site.compare();
      // A line a refusal would fill the next disk.
      const lines = server.output.split('\n').filter((line) => line.includes('writes are not taken'));
      expect(lines.length).toBeLessThan(site.countOf('refused') / 2);
    });

    it('takes writes again once there is space, and loses and invents nothing', async () => {
      const { site, load, makeSpace } = await fillUp(durability, layout);
      const acknowledged = site.countOf('acknowledged');
      makeSpace();
      await eventually('writes are taken', 3000, () => site.countOf('acknowledged') > acknowledged + 50);
      const refused = site.countOf('refused');
      await sleep(200);
      await load.stop();
      expect(site.countOf('refused')).toBe(refused);
      expect((await site.server.http.get('/readyz')).status).toBe(200);
      expect(site.server.output).toMatch(/writes are (?:taken|tried) again/);
      await site.compare();

      expect(await site.server.signal('SIGTERM')).toEqual({ code: 0, signal: null });
      await site.start();
      expect(site.server.output).toContain('the last shutdown was clean');
      await site.compare();
    });

    it('is ready again once there is space, though nobody writes', async () => {
      const { site, load, makeSpace } = await fillUp(durability, layout);
      await load.stop();
      expect((await site.server.http.get('/readyz')).status).toBe(503);
      makeSpace();
      // What is not ready is sent no writes: were a write needed to find out, it would never be ready again.
      await eventually(
        'it is ready',
        5000,
        async () => (await site.server.http.get('/readyz')).status === 200,
      );
    });

    it('can be killed and started again while it is full, and answers reads', async () => {
      const { site, load, makeSpace } = await fillUp(durability, layout);
      await site.server.signal('SIGKILL');
      await load.stop();
      await site.start();
      await site.compare();
      makeSpace();
      await eventually(
        'a write is taken',
        5000,
        async () => (await site.send('after')).outcome === 'acknowledged',
      );
      await site.server.signal('SIGKILL');
      await site.start();
      await site.compare();
    });

    it('can be stopped in order while it is full', async () => {
      const { site, load } = await fillUp(durability, layout);
      const { server } = site;
      const exit = server.signal('SIGTERM');
      await load.stop();
      expect(await exit).toEqual({ code: 0, signal: null });
      await site.start();
      await site.compare();
    });

    it('leaves no unfinished files behind', async () => {
      const { site, load, makeSpace } = await fillUp(durability, layout);
      // A checkpoint is looked for every second.
      await sleep(1200);
      await load.stop();
      makeSpace();
      await site.server.signal('SIGKILL');
      await site.start();
      const unfinished = () =>
        readdirSync(site.dataDirectory, { recursive: true, encoding: 'utf8' }).filter((name) =>
          name.endsWith('.tmp'),
        );
      await eventually('nothing unfinished is left', 3000, () => unfinished().length === 0);
    });
  });
});
