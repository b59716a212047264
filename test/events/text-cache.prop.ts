import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyBytes, viewOf } from '../../src/lib/bytes.ts';
import { TextCache, utf8Text } from '../../src/lib/text-cache.ts';

/** Few letters, so that texts are often alike at one end or of one length; and what is no UTF-8. */
const bytes = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '😀'), maxLength: 40 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 70 }).map((array) => Buffer.from(array)),
  fc.integer({ min: 0, max: 70 }).map((length) => Buffer.alloc(length, 'x')),
);

describe('a cache of texts', () => {
  it('answers with what bytes read as, however few places it has', () => {
    fc.assert(
      fc.property(
        fc.array(bytes, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(1, 2, 64),
        (texts, places) => {
          const cache = new TextCache(places, utf8Text);
          for (const text of [...texts, ...texts]) {
            const around = Buffer.concat([Buffer.from('"'), text, Buffer.from('"')]);
            expect(cache.read(viewOf(around), 1, 1 + text.length)).toBe(text.toString());
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('answers with the text of the same bytes, and not of others that differ by one', () => {
    for (let length = 0; length <= 70; length += 1) {
      const cache = new TextCache(1, utf8Text);
      const text = Buffer.alloc(length, 'a');
      expect(cache.read(viewOf(text), 0, length)).toBe(text.toString());
      for (let at = 0; at < length; at += 1) {
        const other = Buffer.from(text);
        other[at] = 0x62;
        expect(cache.read(viewOf(other), 0, length)).toBe(other.toString());
        expect(cache.read(viewOf(text), 0, length)).toBe(text.toString());
      }
    }
  });
});

describe('bytes that are copied', () => {
  it('are all there, whatever they are, and no other is touched', () => {
    const nan = Buffer.from('7ff0000000000001fff8000000000000', 'hex');
    for (let length = 0; length <= 40; length += 1) {
      for (const from of [
        Buffer.alloc(64, 0xff),
        Buffer.from([...Array(64).keys()]),
        Buffer.concat(Array(4).fill(nan)),
      ]) {
        for (const start of [0, 1, 7]) {
          const to = Buffer.alloc(64, 0xaa);
          copyBytes(viewOf(to), 9, viewOf(from), start, length);
          const expected = Buffer.alloc(64, 0xaa);
          from.copy(expected, 9, start, start + length);
          expect(to.equals(expected)).toBe(true);
        }
      }
    }
  });

  it('are refused where they would be read or written outside of the memory', () => {
    const memory = () => new DataView(new ArrayBuffer(20));
    expect(() => copyBytes(memory(), 0, memory(), 15, 6)).toThrow(RangeError);
    expect(() => copyBytes(memory(), 10, memory(), 0, 11)).toThrow(RangeError);
  });
});
