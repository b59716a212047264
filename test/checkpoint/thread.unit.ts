/** The thread that makes checkpoints, in this very process. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCheckpointOnThread } from '../../src/checkpoint-thread.ts';
import { systemCalls } from '../../src/lib/system-calls.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { collectGarbage } from '../support/garbage.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const directory = temporaryDirectory();
const limits = { retentionMs: 3_600_000, windowMaxEvents: 1_000_000, windowMaxBytes: 1024 ** 3 };
const taskOf = (throughOrdinal: number) => ({ dataDirectory: directory, limits, throughOrdinal });
const checkpoints = () => readdirSync(join(directory, 'checkpoints'));

beforeAll(async () => {
  const engine = await openTestEngine(directory, { segmentBytes: 4096 });
  const { tenantId, agentId } = await engine.newTenant('payments');
  const events = Array.from({ length: 1000 }, (_, n) => anEvent({ entity: `pod-${n}` }));
  for (let n = 0; n < 50; n += 1) await engine.submit({ type: 'record-events', tenantId, agentId, events });
  await engine.close();
});
afterAll(() => removeDirectory(directory));

describe('the thread that makes a checkpoint', () => {
  it.runIf(process.platform === 'linux')(
    'gives way to all others, and leaves those as they were',
    async () => {
      const before = Math.max(...niceness());
      let made = false;
      const making = makeCheckpointOnThread(taskOf(40), new AbortController().signal).finally(() => {
        made = true;
      });
      let most = 0;
      while (!made) {
        most = Math.max(most, ...niceness());
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await making;
      expect(most).toBe(19);
      expect(checkpoints()).toEqual(['checkpoint-00000040.ckpt']);
      // Those too that were made meanwhile, for all that is asynchronous.
      expect(Math.max(...niceness())).toBe(before);
    },
  );

  it.runIf(systemCalls()?.trimHeaps !== undefined)(
    'has the memory given back that was freed between what is in use',
    async () => {
      let small = Array.from({ length: 10_000 }, () => Buffer.allocUnsafeSlow(8000).fill(1));
      const inUse = small.filter((_, n) => n % 100 === 0);
      small = [];
      await collectGarbage();
      const before = process.memoryUsage.rss();
      await makeCheckpointOnThread(taskOf(42), new AbortController().signal);
      expect(before - process.memoryUsage.rss()).toBeGreaterThan(50e6);
      expect(inUse.every((buffer) => buffer[7999] === 1)).toBe(true);
    },
  );

  it.each([0, 1, 5, 20])('gives up within %d ms where nobody waits for it', async (delayMs) => {
    const nobodyWaits = new AbortController();
    const making = makeCheckpointOnThread(taskOf(45), nobodyWaits.signal);
    setTimeout(() => nobodyWaits.abort(), delayMs);
    await expect(making).rejects.toThrow();
  });
});

/** Of each thread of this process. */
function niceness(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      return [Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}
