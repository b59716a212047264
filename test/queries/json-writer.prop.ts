import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewOf } from '../../src/lib/bytes.ts';
import { JsonWriter, jsonPart } from '../../src/queries/json-writer.ts';

const MAX_TIME_MS = 8_640_000_000_000_000;
const writer = new JsonWriter();

function written(write: (json: JsonWriter) => void): string {
  writer.begin();
  write(writer);
  return String(writer.finish());
}

describe('the JSON that is written of bytes is what JSON.stringify writes of', () => {
  it('strings, where they stand among others', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.string({ maxLength: 300 }),
    );
    fc.assert(
      fc.property(fc.array(texts), (values) => {
        const bytes = Buffer.from(values.join(''));
        let at = 0;
        for (const value of values) {
          const end = at + Buffer.byteLength(value);
          expect(written((json) => json.string(viewOf(bytes), at, end))).toBe(JSON.stringify(value));
          at = end;
        }
      }),
    );
  });

  it('each ASCII character', () => {
    const text = String.fromCharCode(...Array(128).keys());
    expect(written((json) => json.string(viewOf(Buffer.from(text)), 0, 128))).toBe(JSON.stringify(text));
  });

  it('times, however far off, and with fractions', () => {
    const times = fc.oneof(
      fc.integer({ min: -MAX_TIME_MS, max: MAX_TIME_MS }),
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
      fc.double({ min: -1e12, max: 1e13, noNaN: true }),
      fc.constantFrom(0, -0, -1, -0.5, 86_399_999, 86_400_000, MAX_TIME_MS, -MAX_TIME_MS),
    );
    fc.assert(
      fc.property(fc.array(times, { minLength: 1 }), (values) => {
        for (const value of values)
          expect(written((json) => json.time(value))).toBe(JSON.stringify(new Date(value)));
      }),
    );
  });

  it('numbers, the same one twice among them', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, 0.95))), (values) => {
        for (const value of values.flatMap((each) => [each, each]))
          expect(written((json) => json.number(value))).toBe(JSON.stringify(value));
      }),
    );
  });
});

it('writes as much as comes, one thing behind the other', () => {
  const part = '12345,';
  for (const count of [1, 20_000, 200_000, 10]) {
    const text = 'x"'.repeat(count);
    const json = written((each) => {
      for (let n = 0; n < count; n += 1) each.part(jsonPart(part));
      each.string(viewOf(Buffer.from(text)), 0, text.length);
    });
    expect(json).toBe(part.repeat(count) + JSON.stringify(text));
  }
});

it('does not write over what was finished, and forgets what was not', () => {
  writer.begin();
  writer.value({ first: 1 });
  const first = writer.finish();
  writer.begin();
  writer.value('given up');
  expect(written((json) => json.value({ second: 2 }))).toBe('{"second":2}');
  expect(String(first)).toBe('{"first":1}');
});
