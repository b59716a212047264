/** The whole engine over a disk that fails and a clock that jumps. Many more seeds: `node test/sim/main.ts`. */
import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

const SEEDS = 150;
const TIMEOUT_MS = 120_000;

describe('the simulation', () => {
  it(`keeps what was promised, for seeds 1 to ${SEEDS}`, { timeout: TIMEOUT_MS }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) await simulate(seed);
  });

  it('does the same again for the same seed, and something else for another', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const hashes = new Set<number>();
    for (let seed = 1; seed <= 10; seed += 1) {
      const first = await simulate(seed);
      expect(await simulate(seed)).toEqual(first);
      hashes.add(first.hash);
    }
    expect(hashes.size).toBe(10);
  });

  it('meets what it is there for', { timeout: TIMEOUT_MS }, async () => {
    const totals = {
      crashes: 0,
      stops: 0,
      checkpoints: 0,
      deletedSegments: 0,
      failedStarts: 0,
      refusedForDisk: 0,
    };
    for (let seed = 1001; seed <= 1040; seed += 1) {
      const statistics = await simulate(seed);
      totals.crashes += statistics.crashes;
      totals.stops += statistics.stops;
      totals.checkpoints += statistics.checkpoints;
      totals.deletedSegments += statistics.deletedSegments;
      totals.failedStarts += statistics.failedStarts;
      totals.refusedForDisk += statistics.refusedForDisk;
    }
    for (const [name, total] of Object.entries(totals)) expect(total, name).toBeGreaterThan(10);
  });
});
