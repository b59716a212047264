import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatheredRecords } from '../../src/log/gathered-records.ts';

const records = fc.array(
  fc.record({
    length: fc.oneof(fc.nat(600), fc.nat(100_000)),
    fill: fc.nat(255),
    /** Bytes of others before it. */
    start: fc.nat(50),
  }),
  { maxLength: 60 },
);

describe('records that gather', () => {
  it('are one behind the other, and each stays as it was until all are cleared', () => {
    fc.assert(
      fc.property(fc.array(records, { minLength: 1, maxLength: 4 }), (groups) => {
        const gathered = new GatheredRecords();
        for (const group of groups) {
          gathered.clear();
          const expected = group.map(({ length, fill }) => Buffer.alloc(length, fill));
          const added = group.map(({ length, fill, start }) => {
            const lent = Buffer.alloc(start + length + 10, fill);
            const place = gathered.add({ bytes: lent, start, end: start + length });
            lent.fill(0);
            return place;
          });
          expect(gathered.all.equals(Buffer.concat(expected))).toBe(true);
          for (const [index, { bytes, start, end }] of added.entries())
            expect(bytes.subarray(start, end).equals(expected[index] ?? Buffer.alloc(0))).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('do not keep the memory of a burst', () => {
    const gathered = new GatheredRecords();
    gathered.add({ bytes: Buffer.alloc(3_000_000), start: 0, end: 3_000_000 });
    expect(gathered.all.buffer.byteLength).toBeGreaterThan(3_000_000);
    gathered.clear();
    expect(gathered.all.buffer.byteLength).toBeLessThan(100_000);
  });
});
