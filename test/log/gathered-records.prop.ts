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
  it('are one behind the other, and each stays as it was', () => {
    fc.assert(
      fc.property(records, fc.nat(2000), (group, lentBytes) => {
        const gathered = new GatheredRecords(Buffer.alloc(lentBytes));
        const expected = group.map(({ length, fill }) => Buffer.alloc(length, fill));
        const added = group.map(({ length, fill, start }) => {
          const lent = Buffer.alloc(start + length + 10, fill);
          const place = gathered.add({ bytes: lent, start, end: start + length });
          lent.fill(0);
          return place;
        });
        expect(Buffer.concat(gathered.pieces).equals(Buffer.concat(expected))).toBe(true);
        for (const [index, { bytes, start, end }] of added.entries())
          expect(bytes.subarray(start, end).equals(expected[index] ?? Buffer.alloc(0))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('take little more memory than they are long, also where each is a large one', () => {
    const gathered = new GatheredRecords(Buffer.alloc(1000));
    const bytes = Buffer.alloc(200_000, 1);
    for (let n = 0; n < 100; n += 1) gathered.add({ bytes, start: 0, end: bytes.length });
    const held = new Set(gathered.pieces.map(({ buffer }) => buffer));
    const heldBytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(heldBytes).toBeLessThan(1.5 * 100 * bytes.length);
  });
});
