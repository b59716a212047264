/**
 * The power fails under load: an ext4 on a loop device is shut down by ioctl, so that what was in memory alone
 * never reaches it, and is mounted again. `kill -9` cannot show what this does, for the page cache survives it.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { type Ext4, missing, mountExt4 } from '../support/machine.ts';
import { type Load, type Loss, Site, sleep } from '../support/site.ts';

const skipped = missing('root', 'ext4', 'perl');
const ROUNDS = Number(process.env['FORESHOCK_POWER_CUT_ROUNDS'] ?? 3);
const ROUND_MS = 10_000;

/** What `write` promises: a sync begins 100 ms after the one before has ended. A slow sync is allowed for. */
const WINDOW_MS = 1000;

/** Files are made, renamed and deleted all the time … */
const SMALL = ['--segment-bytes', '32768', '--checkpoint-segments', '2'];
/** … and never: sealing a segment syncs it, which would hide that nothing else does. */
const LARGE = ['--segment-bytes', '67108864'];

const made = new StopStack();
afterEach(() => made.run());

/** Cuts the power, under load where there is one, and starts a server on what is left; answers what was lost. */
async function cutAndRestart(site: Site, disk: Ext4, windowMs: number, load?: Load): Promise<Loss> {
  const beganAtMs = performance.now();
  disk.cutPower();
  await site.server.signal('SIGKILL');
  await load?.stop();
  disk.remount();
  await site.start();
  return site.compare({ beganAtMs, windowMs });
}

describe.skipIf(skipped)('a power cut', () => {
  it.each([
    { durability: 'fsync', windowMs: 0, layout: SMALL },
    { durability: 'write', windowMs: WINDOW_MS, layout: SMALL },
    { durability: 'write', windowMs: WINDOW_MS, layout: LARGE },
  ])(
    `in $durability mode, segments of $layout.1 bytes, loses nothing older than $windowMs ms, in ${ROUNDS} rounds`,
    async ({ durability, windowMs, layout }) => {
      const disk = mountExt4(made);
      const site = new Site(made, join(disk.mountPoint, 'data'), '--durability', durability, ...layout);
      await site.start();
      // The keys, at least, are to be there after the first cut.
      await sleep(windowMs);
      const losses: Loss[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const load = site.load();
        await sleep(windowMs + 200 + ((round * 7919) % 800));
        losses.push(await cutAndRestart(site, disk, windowMs, load));
        await site.settle();
      }
      const events = losses.reduce((sum, loss) => sum + loss.events, 0);
      const meanwhile = losses.reduce((sum, loss) => sum + loss.meanwhile, 0);
      const oldestMs = Math.max(...losses.map((loss) => loss.oldestMs));
      process.stderr.write(
        `${durability}: ${site.countOf('acknowledged')} events kept, ${events} lost in ${ROUNDS} power cuts, ` +
          `the oldest acknowledged ${oldestMs.toFixed(0)} ms before; ${meanwhile} more while it was cut\n`,
      );
      if (durability === 'fsync') expect(events).toBe(0);
    },
    20_000 + ROUNDS * ROUND_MS,
  );

  it('in fsync mode leaves the keys of a first start working, in directories just made', async () => {
    const disk = mountExt4(made);
    const site = new Site(made, join(disk.mountPoint, 'var', 'lib', 'foreshock'), '--durability', 'fsync');
    await site.start();
    await site.send('first');
    const lost = await cutAndRestart(site, disk, 0);
    expect(lost.events).toBe(0);
    expect((await site.send('second')).outcome).toBe('acknowledged');
  });

  it.each(['fsync', 'write'])('in %s mode loses nothing that a clean shutdown left', async (durability) => {
    const disk = mountExt4(made);
    const site = new Site(made, join(disk.mountPoint, 'data'), '--durability', durability);
    await site.start();
    const load = site.load();
    await sleep(200);
    await load.stop();
    expect((await site.server.signal('SIGTERM')).code).toBe(0);
    const lost = await cutAndRestart(site, disk, 0);
    expect(lost.events).toBe(0);
    expect(site.server.output).toContain('the last shutdown was clean');
  });

  it('while it recovers from another costs nothing', async () => {
    const disk = mountExt4(made);
    const site = new Site(
      made,
      join(disk.mountPoint, 'data'),
      '--durability',
      'fsync',
      '--segment-bytes',
      '8192',
    );
    await site.start();
    const load = site.load();
    await sleep(300);
    expect((await cutAndRestart(site, disk, 0, load)).events).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      await site.server.signal('SIGKILL');
      const starting = site.launch();
      await sleep(120 + 60 * round);
      disk.cutPower();
      await starting.signal('SIGKILL');
      disk.remount();
      await site.start();
      expect((await site.compare()).events).toBe(0);
    }
    const files = readdirSync(join(site.dataDirectory, 'log'));
    expect(files.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
