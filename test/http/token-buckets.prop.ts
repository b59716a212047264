/** Token buckets against what they promise: never more than a burst and the rate, and never less to who asks for less. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../src/http/token-buckets.ts';

const policy = fc.record({
  perSecond: fc.integer({ min: 1, max: 100 }),
  windowSeconds: fc.integer({ min: 1, max: 20 }),
  maxBuckets: fc.constant(1000),
});

describe('a token bucket', () => {
  it('gives no more than a burst and the rate, whatever is asked of it', () => {
    const asks = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 3000 }), times: fc.integer({ min: 1, max: 50 }) }),
    );
    fc.assert(
      fc.property(policy, asks, (chosen, script) => {
        const buckets = new TokenBuckets(chosen);
        let nowMs = 0;
        let taken = 0;
        for (const { afterMs, times } of script) {
          nowMs += afterMs;
          for (let n = 0; n < times; n += 1) if (buckets.take('a', nowMs).isTaken) taken += 1;
          expect(taken).toBeLessThanOrEqual(buckets.capacity + (nowMs / 1000) * chosen.perSecond + 1e-6);
        }
      }),
    );
  });

  it('gives a token when it has said that there will be one, and none a second before', () => {
    fc.assert(
      fc.property(policy, fc.integer({ min: 0, max: 500 }), (chosen, debt) => {
        const buckets = new TokenBuckets(chosen);
        while (buckets.take('a', 0).isTaken);
        buckets.charge('a', debt, 0);
        const { isTaken, remaining, retryAfterSeconds } = buckets.take('a', 0);
        expect([isTaken, remaining]).toEqual([false, 0]);
        expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
        expect(buckets.take('a', (retryAfterSeconds - 1) * 1000).isTaken).toBe(false);
        expect(buckets.take('a', retryAfterSeconds * 1000).isTaken).toBe(true);
      }),
    );
  });

  it('never refuses who stays at the rate', () => {
    fc.assert(
      fc.property(policy, (chosen) => {
        const buckets = new TokenBuckets(chosen);
        for (let n = 0; n < 200; n += 1) {
          expect(buckets.take('a', (n * 1000) / chosen.perSecond).isTaken).toBe(true);
        }
      }),
    );
  });

  it('is its own caller’s alone, and full when it is first asked', () => {
    const buckets = new TokenBuckets({ perSecond: 1, windowSeconds: 3, maxBuckets: 2 });
    expect(buckets.take('a', 0)).toEqual({
      isTaken: true,
      remaining: 2,
      fullInSeconds: 1,
      retryAfterSeconds: 0,
    });
    for (let n = 0; n < 3; n += 1) buckets.take('a', 0);
    expect(buckets.take('a', 0)).toEqual({
      isTaken: false,
      remaining: 0,
      fullInSeconds: 3,
      retryAfterSeconds: 1,
    });
    expect(buckets.take('b', 0)).toMatchObject({ isTaken: true, remaining: 2 });
  });

  it('makes room for the next by the one longest known', () => {
    const buckets = new TokenBuckets({ perSecond: 1, windowSeconds: 1, maxBuckets: 2 });
    for (const id of ['a', 'b', 'c']) buckets.take(id, 0);
    expect(buckets.size).toBe(2);
    expect(buckets.take('b', 0).isTaken).toBe(false);
    expect(buckets.take('a', 0).isTaken).toBe(true);
  });
});
