/** The lists of windows, over the blocks they share, equal arrays. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventRef, MAX_DETAILS_BYTES } from '../../src/windows/arena.ts';
import { EventLists, type ListedEvent } from '../../src/windows/event-lists.ts';
import {
  APPENDED,
  BYTES,
  EARLIEST_EXPIRY,
  type EventList,
  SIZE,
  TRUNCATED_UNTIL,
} from '../../src/windows/list-rows.ts';

const START_MS = 1_760_000_000_000;
const YEAR_MS = 365 * 86_400_000;

/** Of any chunk and any place in it: whatever its bits spell must come back. */
const event: fc.Arbitrary<ListedEvent> = fc.record({
  ref: fc.nat(2 ** 32 - 1).chain((chunk) => fc.nat(8191).map((at) => (chunk * 8192 + at) as EventRef)),
  type: fc.nat(5),
  detailsBytes: fc.oneof(fc.nat(200), fc.integer({ min: 65_400, max: MAX_DETAILS_BYTES })),
  expiresAtMs: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 30 }).map((ms) => START_MS + ms) },
    { weight: 1, arbitrary: fc.nat(YEAR_MS).map((ms) => START_MS + ms) },
  ),
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('append' as const), list: fc.nat(1), event }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('append-many' as const),
      list: fc.nat(1),
      events: fc.array(event, { minLength: 10, maxLength: 60, size: 'max' }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('expire' as const), list: fc.nat(1), forMs: fc.nat(5) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('evict' as const), list: fc.nat(1), times: fc.nat(20) }),
  },
);

/** A list, and what it must be. */
interface Pair {
  readonly list: EventList;
  array: ListedEvent[];
  appended: number;
  truncatedUntilMs: number;
}

describe('the lists of windows', () => {
  it('hold what arrays hold, in order, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (script) => {
        const lists = new EventLists();
        const pairs = [0, 1].map(
          (): Pair => ({
            list: lists.rows.create(),
            array: [],
            appended: 0,
            truncatedUntilMs: Number.NEGATIVE_INFINITY,
          }),
        );
        const out: EventRef[] = [];
        const onOut = (ref: EventRef) => out.push(ref);
        let nowMs = START_MS;
        const check = ({ list, array, appended, truncatedUntilMs }: Pair): void => {
          // Long before now, all that is in the list is alive.
          expect(lists.live(list, 0)).toEqual(array);
          expect(lists.live(list, nowMs)).toEqual(array.filter(({ expiresAtMs }) => expiresAtMs > nowMs));
          const bytes = array.reduce((sum, { detailsBytes }) => sum + detailsBytes, 0);
          expect([lists.rows.get(list, SIZE), lists.rows.get(list, BYTES)]).toEqual([array.length, bytes]);
          expect(lists.rows.get(list, APPENDED)).toBe(appended);
          const bound = lists.rows.get(list, EARLIEST_EXPIRY);
          for (const { expiresAtMs } of array) expect(bound).toBeLessThanOrEqual(expiresAtMs);
          expect(lists.rows.get(list, TRUNCATED_UNTIL)).toBe(truncatedUntilMs);
        };
        for (const each of script) {
          const pair = pairs[each.list];
          if (pair === undefined) throw new Error('no such list');
          const { list, array } = pair;
          out.length = 0;
          if (each.type === 'append' || each.type === 'append-many') {
            for (const event of each.type === 'append' ? [each.event] : each.events) {
              lists.append(list, event);
              array.push(event);
              pair.appended += 1;
            }
          }
          if (each.type === 'expire') {
            nowMs += each.forMs;
            lists.takeExpired(list, nowMs, onOut);
            const expired = array.filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
            pair.array = array.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
            expect(out).toEqual(expired.map(({ ref }) => ref));
          }
          if (each.type === 'evict') {
            const times = Math.min(each.times, array.length);
            const oldest = array.splice(0, times);
            for (const { expiresAtMs } of oldest) {
              lists.takeOldest(list, onOut);
              pair.truncatedUntilMs = Math.max(pair.truncatedUntilMs, expiresAtMs);
            }
            expect(out).toEqual(oldest.map(({ ref }) => ref));
          }
          for (const each of pairs) check(each);
        }
        for (const { list } of pairs) {
          lists.takeExpired(list, START_MS + 2 * YEAR_MS, onOut);
          expect([lists.rows.get(list, SIZE), lists.rows.get(list, BYTES)]).toEqual([0, 0]);
          expect(lists.rows.get(list, EARLIEST_EXPIRY)).toBe(Number.POSITIVE_INFINITY);
          // No block first, none last.
          expect(lists.rows.get(list, 0)).toBe(0);
        }
        expect(lists.blockCount).toBe(0);
      }),
      { numRuns: 400 },
    );
  });

  it('look only at blocks that hold something expired, and stay short', () => {
    const lists = new EventLists();
    const list = lists.rows.create();
    const append = (n: number, expiresAtMs: number) =>
      lists.append(list, { ref: n as EventRef, type: 0, detailsBytes: 100, expiresAtMs });
    // What lives for a year and what does not, nine in ten, all mixed.
    for (let n = 0; n < 10_000; n += 1) append(n, n % 10 === 0 ? START_MS + YEAR_MS : START_MS + 1);
    const looked = lists.takeExpired(list, START_MS + 1, () => {});
    expect(looked).toBe(Math.ceil(10_000 / 15));
    expect(lists.rows.get(list, SIZE)).toBe(1000);
    append(10_000, START_MS + 2);
    // Of the thousand that are left, half a block each at the least.
    expect(lists.takeExpired(list, START_MS + 2, () => {})).toBeLessThanOrEqual((2 * 1001) / 15 + 1);
    expect(lists.takeExpired(list, START_MS + 3, () => {})).toBe(0);
  });
});
