/** Names as numbers, and numbers counted, equal what a Map would say. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Names } from '../../src/windows/names.ts';
import { NumberCounts } from '../../src/windows/number-counts.ts';

describe('names', () => {
  const name = fc.constantFrom(...Array.from({ length: 14 }, (_, n) => `name-${n}`), '', '__proto__');
  const step = fc.record({ name, isHeld: fc.boolean() });

  it('have a number each, the same for as long as it is held', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const names = new Names();
        const held: { readonly name: string; readonly number: number }[] = [];
        for (const { name, isHeld } of steps) {
          const known = held.find((each) => each.name === name);
          if (isHeld) {
            const number = names.numberOf(name);
            if (known !== undefined) expect(number).toBe(known.number);
            names.hold(number);
            held.push({ name, number });
          } else if (known !== undefined) {
            names.letGo(known.number);
            held.splice(held.indexOf(known), 1);
          }
          const numbers = new Map(held.map((each) => [each.name, each.number]));
          expect(new Set(numbers.values()).size).toBe(numbers.size);
          for (const [text, number] of numbers) {
            expect(names.find(text)).toBe(number);
            expect(names.textOf(number)).toBe(text);
          }
          if (!numbers.has(name)) expect(names.find(name)).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('use the numbers of those that are gone again, so that they stay small', () => {
    const names = new Names();
    const numbers: number[] = [];
    for (let n = 0; n < 1000; n += 1) {
      const number = names.numberOf(`name-${n}`);
      names.hold(number);
      numbers.push(number);
      if (n >= 20) names.letGo(numbers[n - 20] ?? -1);
    }
    expect(Math.max(...numbers)).toBe(20);
  });
});

describe('numbers', () => {
  /** Few that are far apart, and some in a row: so that their places are those of others, and at the end of all. */
  const number = fc.oneof(fc.nat(40), fc.constantFrom(2 ** 31 - 2, 2 ** 30, 2 ** 16, 2 ** 16 + 1));
  const step = fc.record({ number, isAdded: fc.boolean() });

  it('are counted as in a Map, whatever is added and removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const counts = new NumberCounts();
        const map = new Map<number, number>();
        for (const { number, isAdded } of steps) {
          const count = map.get(number) ?? 0;
          if (isAdded) {
            counts.add(number);
            map.set(number, count + 1);
          } else if (count > 0) {
            counts.remove(number);
            if (count === 1) map.delete(number);
            else map.set(number, count - 1);
          }
          expect(counts.has(number)).toBe(map.has(number));
          expect(counts.numbers().sort((a, b) => a - b)).toEqual([...map.keys()].sort((a, b) => a - b));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
