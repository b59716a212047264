import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameIndex } from '../../src/windows/name-index.ts';

/** Few enough to come again, and more than are looked through. */
const name = fc.constantFrom(...Array.from({ length: 14 }, (_, n) => `name-${n}`), '', '__proto__');
const step = fc.record({ name, isAdded: fc.boolean() });

describe('an index of names', () => {
  it('equals a list of them, whatever is added and removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const index = new NameIndex();
        const uses: { readonly name: string; readonly number: number }[] = [];
        for (const { name, isAdded } of steps) {
          const known = uses.find((use) => use.name === name);
          if (isAdded) {
            const number = index.add(name);
            if (known !== undefined) expect(number).toBe(known.number);
            uses.push({ name, number });
          } else if (known !== undefined) {
            index.remove(known.number);
            uses.splice(uses.indexOf(known), 1);
          }
          const numbers = new Map(uses.map((use) => [use.name, use.number]));
          expect(index.names()).toEqual([...numbers.keys()].sort());
          expect(new Set(numbers.values()).size).toBe(numbers.size);
          for (const [used, number] of numbers) {
            expect(index.indexOf(used)).toBe(number);
            expect(index.nameOf(number)).toBe(used);
          }
          if (!numbers.has(name)) expect(index.indexOf(name)).toBeUndefined();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('uses the numbers of names that are gone again, so that they stay small', () => {
    const index = new NameIndex();
    const numbers = new Set<number>();
    for (let n = 0; n < 1000; n += 1) {
      const number = index.add(`name-${n}`);
      numbers.add(number);
      if (n >= 20) index.remove(index.indexOf(`name-${n - 20}`) ?? -1);
    }
    expect(Math.max(...numbers)).toBe(20);
  });
});
