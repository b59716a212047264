import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdIndex } from '../../src/lib/id-index.ts';

/** Of one length and one end, or none at all: what a table of hashes may mistake for one another. */
const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.nat(5000).map((n) => `${String(n).padStart(8, '0')}.payments.svc.cluster.local`),
  fc.constantFrom('', 'a', 'ab', 'abc', 'abcd', 'abcde', '__proto__', '\0', '\0\0'),
);

describe('an index by ids', () => {
  it('finds what a Map finds, also of keys that end alike, and writes them as they were', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 400, size: 'max' }), fc.array(key), (known, unknown) => {
        const index = new IdIndex();
        const map = new Map<string, number>();
        const rows: number[] = [];
        for (const [n, text] of known.entries()) {
          if (map.has(text)) continue;
          map.set(text, n);
          rows.push(index.add(Buffer.from(text), n));
        }
        expect(index.size).toBe(map.size);
        for (const text of [...known, ...unknown]) expect(find(index, text)).toBe(map.get(text));
        for (const [n, text] of [...map.keys()].entries()) {
          expect(written(index, rows[n] ?? 0)).toBe(`before${text}after`);
          // Also right after another was written.
          for (const other of [text, unknown[n % unknown.length] ?? '', known[0] ?? ''])
            expect(find(index, other)).toBe(map.get(other));
        }
      }),
      { numRuns: 200 },
    );
  });
});

/** Looks a text up where it stands among other bytes. */
function find(index: IdIndex, text: string): number | undefined {
  const bytes = Buffer.from(`before${text}after`);
  const start = bytes.byteOffset + 'before'.length;
  const view = new DataView(bytes.buffer);
  return index.get(view, start, start + Buffer.byteLength(text));
}

/** A key among other bytes. */
function written(index: IdIndex, row: number): string {
  const bytes = Buffer.alloc(100);
  const end = bytes.length - bytes.write('after', bytes.length - 'after'.length);
  const start = index.writeBefore(new DataView(bytes.buffer, bytes.byteOffset), end, row) - 'before'.length;
  bytes.write('before', start);
  return bytes.toString('utf8', start);
}
