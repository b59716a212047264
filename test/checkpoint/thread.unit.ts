/** The thread that makes checkpoints, in this very process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeCheckpointOnThread } from '../../src/checkpoint-thread.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const directory = temporaryDirectory();
afterAll(() => removeDirectory(directory));

it.runIf(process.platform === 'linux')(
  'gives way to every other, and leaves those as they were',
  async () => {
    const engine = await openTestEngine(directory, { segmentBytes: 4096 });
    const { tenantId, agentId } = await engine.newTenant('payments');
    const events = Array.from({ length: 1000 }, (_, n) => anEvent({ entity: `pod-${n}` }));
    for (let n = 0; n < 50; n += 1) await engine.submit({ type: 'record-events', tenantId, agentId, events });
    await engine.close();

    const before = niceness();
    let made = false;
    const limits = { retentionMs: 3_600_000, windowMaxEvents: 1_000_000, windowMaxBytes: 1024 ** 3 };
    const making = makeCheckpointOnThread({ dataDirectory: directory, limits, throughOrdinal: 40 });
    const done = making.finally(() => {
      made = true;
    });
    let lowest = 0;
    while (!made) {
      lowest = Math.max(lowest, ...niceness().values());
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await done;
    expect(lowest).toBe(19);
    expect(readdirSync(join(directory, 'checkpoints'))).toEqual(['checkpoint-00000040.ckpt']);
    // Those that were there before, the one that serves requests among them.
    for (const [thread, nice] of niceness()) if (before.has(thread)) expect(nice).toBe(before.get(thread));
  },
);

/** Of each thread of this process. */
function niceness(): Map<string, number> {
  const found = new Map<string, number>();
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      found.set(thread, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}
