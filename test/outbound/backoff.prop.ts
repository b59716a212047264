import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Attempt, GIVE_UP_AFTER_MS, nextAttempt } from '../../src/outbound/backoff.ts';

const attempt: fc.Arbitrary<Attempt> = fc
  .record({
    number: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100_000 })),
    firstAtMs: fc.integer({ min: 0, max: 2 ** 42 }),
    elapsedMs: fc.integer({ min: 0, max: 2 * GIVE_UP_AFTER_MS }),
    afterMs: fc.option(fc.integer({ min: 0, max: 2 * GIVE_UP_AFTER_MS })),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  .map(({ elapsedMs, ...rest }) => ({ ...rest, nowMs: rest.firstAtMs + elapsedMs }));

const waitOf = (given: Attempt): number => {
  const next = nextAttempt(given);
  if (next.type === 'given-up') throw new Error('given up');
  return next.atMs - given.nowMs;
};

const waitAfter = (number: number, random: number, afterMs: number | null = null) =>
  waitOf({ number, random, afterMs, firstAtMs: 0, nowMs: 0 });

describe('the wait before another attempt', () => {
  it.each([
    [1, 500, 1000],
    [2, 1000, 2000],
    [5, 8000, 16_000],
    [10, 256_000, 512_000],
    [11, 450_000, 900_000],
    [5000, 450_000, 900_000],
  ])('after attempt %i lies between %i and %i ms', (number, leastMs, mostMs) => {
    expect(waitAfter(number, 0)).toBe(leastMs);
    expect(waitAfter(number, 0.999999999)).toBe(mostMs);
  });

  it('is never shorter than what the peer asked for, and spread behind it', () => {
    expect(waitAfter(1, 0, 20_000)).toBe(20_000);
    expect(waitAfter(4, 0.5, 20_000)).toBe(22_000);
    expect(waitAfter(4, 0, 10)).toBe(4000);
  });

  it('is a whole number of milliseconds in the future, within a day of the first attempt', () => {
    fc.assert(
      fc.property(attempt, (given) => {
        const next = nextAttempt(given);
        if (next.type === 'given-up') return;
        expect(Number.isSafeInteger(next.atMs)).toBe(true);
        expect(next.atMs).toBeGreaterThanOrEqual(given.nowMs + Math.max(500, given.afterMs ?? 0));
        expect(next.atMs).toBeLessThanOrEqual(given.firstAtMs + GIVE_UP_AFTER_MS);
      }),
    );
  });

  it('is given up when it would end more than a day after the first attempt', () => {
    const lastMs = GIVE_UP_AFTER_MS - 500;
    const first = { number: 1, firstAtMs: 0, afterMs: null, random: 0 };
    expect(nextAttempt({ ...first, nowMs: lastMs })).toEqual({ type: 'again', atMs: GIVE_UP_AFTER_MS });
    expect(nextAttempt({ ...first, nowMs: lastMs + 1 })).toEqual({ type: 'given-up' });
    expect(nextAttempt({ ...first, nowMs: 0, afterMs: GIVE_UP_AFTER_MS + 1 })).toEqual({ type: 'given-up' });
  });

  it('leaves room for about a hundred attempts in a day', () => {
    let nowMs = 0;
    let attempts = 1;
    for (;;) {
      const next = nextAttempt({ number: attempts, firstAtMs: 0, nowMs, afterMs: null, random: 0.5 });
      if (next.type === 'given-up') break;
      nowMs = next.atMs;
      attempts += 1;
    }
    expect(attempts).toBeGreaterThan(90);
    expect(attempts).toBeLessThan(220);
  });
});
