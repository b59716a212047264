import { describe, expect, it } from 'vitest';
import { type TimerHandle, TimerWheel } from '../../src/timers/wheel.ts';
import { collectGarbage } from '../support/garbage.ts';

const START_MS = 1_760_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365.25 * DAY_MS;
/** The most moves that any timer needs, and its firing. */
const MOST_STEPS = 9;

const ignore = (): void => {};

/** What an advance fires, in order. */
function firedBy<T>(wheel: TimerWheel<T>, nowMs: number, limit?: number): T[] {
  const fired: T[] = [];
  wheel.advance(nowMs, (item) => fired.push(item), limit);
  return fired;
}

describe('firing', () => {
  it('fires a timer at its deadline, not a millisecond before', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS + 5000, 'a');
    expect(firedBy(wheel, START_MS + 4999)).toEqual([]);
    expect(firedBy(wheel, START_MS + 5000)).toEqual(['a']);
    expect(firedBy(wheel, START_MS + DAY_MS)).toEqual([]);
    expect(wheel.size).toBe(0);
  });

  it('follows the worked example', () => {
    const wheel = new TimerWheel<string>(1000);
    wheel.schedule(10_000, 'C');
    wheel.schedule(2000, 'B');
    wheel.schedule(1010, 'A');
    expect(firedBy(wheel, 2000, 3)).toEqual(['A', 'B']);
    expect(wheel.nextDueMs()).toBe(8192);
    expect(firedBy(wheel, 10_000)).toEqual(['C']);
  });

  it('hands onDue the deadline beside the item', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS + 70, 'a');
    const calls: unknown[] = [];
    wheel.advance(START_MS + HOUR_MS, (item, deadlineMs) => calls.push([item, deadlineMs]));
    expect(calls).toEqual([['a', START_MS + 70]]);
  });

  it('fires in order of deadline, however they were scheduled', () => {
    const wheel = new TimerWheel<number>(START_MS);
    const offsets = [YEAR_MS, 3, HOUR_MS, 64, 65, 4096, 63, 1, DAY_MS, 4095];
    for (const offset of offsets) wheel.schedule(START_MS + offset, offset);
    expect(firedBy(wheel, START_MS + YEAR_MS)).toEqual(offsets.toSorted((a, b) => a - b));
  });

  it('fires those of one deadline in the order they were scheduled, from near and from far', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const deadlineMs = START_MS + DAY_MS;
    wheel.schedule(deadlineMs, 'a day ahead');
    wheel.advance(deadlineMs - HOUR_MS, ignore);
    wheel.schedule(deadlineMs, 'an hour ahead');
    wheel.advance(deadlineMs - 1, ignore);
    wheel.schedule(deadlineMs, 'a millisecond ahead');
    expect(firedBy(wheel, deadlineMs)).toEqual(['a day ahead', 'an hour ahead', 'a millisecond ahead']);
  });

  it('keeps that order where a limit left a slot half moved', () => {
    const wheel = new TimerWheel<string>(0);
    wheel.schedule(100, 'first');
    wheel.schedule(100, 'second');
    expect(wheel.advance(100, ignore, 1)).toBe(false);
    wheel.schedule(100, 'third');
    expect(firedBy(wheel, 100)).toEqual(['first', 'second', 'third']);
  });

  it('fires a deadline that has passed at the next advance, behind what is due already', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS, 'now');
    wheel.schedule(START_MS - DAY_MS, 'yesterday');
    wheel.schedule(-1, 'before the epoch');
    expect(wheel.nextDueMs()).toBe(START_MS);
    expect(firedBy(wheel, START_MS)).toEqual(['now', 'yesterday', 'before the epoch']);
  });

  it.each([1, 10, 70, 100, 139])('fires a timer %d years ahead on its day', { tags: ['slow'] }, (years) => {
    const wheel = new TimerWheel<string>(START_MS);
    const deadlineMs = START_MS + years * YEAR_MS;
    wheel.schedule(deadlineMs, 'far');
    for (let nowMs = START_MS; nowMs < deadlineMs; nowMs += DAY_MS) expect(firedBy(wheel, nowMs)).toEqual([]);
    expect(firedBy(wheel, deadlineMs - 1)).toEqual([]);
    expect(firedBy(wheel, deadlineMs)).toEqual(['far']);
  });

  it('rounds a deadline up to a whole millisecond and the time down, so that nothing fires early', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS + 1.25, 'a');
    expect(firedBy(wheel, START_MS + 1.9)).toEqual([]);
    expect(firedBy(wheel, START_MS + 2.1)).toEqual(['a']);
  });

  it('refuses what is no time', () => {
    const wheel = new TimerWheel<string>(START_MS);
    expect(() => new TimerWheel(-1)).toThrow('a timer wheel cannot start at -1');
    for (const broken of [Number.NaN, Infinity, 2 ** 53]) {
      expect(() => new TimerWheel(broken)).toThrow(`${broken} is no time in milliseconds`);
      expect(() => wheel.schedule(broken, 'a')).toThrow(RangeError);
      expect(() => wheel.advance(broken, ignore)).toThrow(RangeError);
    }
    expect(wheel.size).toBe(0);
  });
});

describe('time', () => {
  it('that stands still fires what has become due meanwhile', () => {
    const wheel = new TimerWheel<string>(START_MS);
    expect(firedBy(wheel, START_MS)).toEqual([]);
    wheel.schedule(START_MS, 'a');
    expect(firedBy(wheel, START_MS)).toEqual(['a']);
  });

  it('that goes back does nothing', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.advance(START_MS + HOUR_MS, ignore);
    wheel.schedule(START_MS + 1, 'past');
    expect(firedBy(wheel, START_MS + 2)).toEqual([]);
    expect(firedBy(wheel, START_MS + HOUR_MS)).toEqual(['past']);
  });

  it('jumps over nothing at a cost that does not depend on the length', { tags: ['slow'] }, () => {
    const wheel = new TimerWheel<string>(START_MS);
    const deadlineMs = START_MS + 100 * YEAR_MS;
    wheel.schedule(deadlineMs, 'far');
    const beginMs = performance.now();
    for (let nowMs = START_MS; nowMs < deadlineMs; nowMs += DAY_MS) wheel.advance(nowMs, ignore, MOST_STEPS);
    // 36 525 days, each of which would be 86 million slots to sweep.
    expect(performance.now() - beginMs).toBeLessThan(1000);
    expect(firedBy(wheel, deadlineMs, MOST_STEPS)).toEqual(['far']);
  });

  it('has a next due time for a shell to sleep until: exact near, never late, undefined when empty', () => {
    const wheel = new TimerWheel<string>(0);
    expect(wheel.nextDueMs()).toBeUndefined();
    const far = wheel.schedule(HOUR_MS, 'far');
    expect(wheel.nextDueMs()).toBeGreaterThan(HOUR_MS / 2);
    expect(wheel.nextDueMs()).toBeLessThanOrEqual(HOUR_MS);
    const near = wheel.schedule(50, 'near');
    expect(wheel.nextDueMs()).toBe(50);
    wheel.cancel(near);
    wheel.cancel(far);
    expect(wheel.nextDueMs()).toBeUndefined();
  });
});

describe('limit', () => {
  it('fires a million timers in bounded slices', { tags: ['slow'] }, () => {
    const timers = 1_000_000;
    const slice = 10_000;
    const wheel = new TimerWheel<number>(START_MS);
    for (let i = 0; i < timers; i++) wheel.schedule(START_MS + ((i * 7919) % HOUR_MS), i);
    expect(wheel.size).toBe(timers);

    let fired = 0;
    let lastMs = 0;
    let slices = 0;
    let misordered = 0;
    for (let isDone = false; !isDone; slices++) {
      const firedBefore = fired;
      const onDue = (_: number, deadlineMs: number): void => {
        fired += 1;
        if (deadlineMs < lastMs) misordered += 1;
        lastMs = deadlineMs;
      };
      isDone = wheel.advance(START_MS + HOUR_MS, onDue, slice);
      expect(fired - firedBefore).toBeLessThanOrEqual(slice);
    }
    expect({ fired, misordered, size: wheel.size }).toEqual({ fired: timers, misordered: 0, size: 0 });
    // Four moves at most from within 4.6 hours.
    expect(slices).toBeLessThanOrEqual((timers * 5) / slice + 1);
  });

  it('counts moves as work: a slot full of timers is moved over several advances', () => {
    const wheel = new TimerWheel<number>(0);
    for (let i = 0; i < 100; i++) wheel.schedule(HOUR_MS, i);
    // An hour is (13)(46)(58)(0): from level 3 to 2 to 1, and there its slot begins at the deadline itself.
    let slices = 1;
    while (!wheel.advance(HOUR_MS - 1, ignore, 10)) slices += 1;
    expect(slices).toBe((100 * 2) / 10);
    expect(firedBy(wheel, HOUR_MS)).toHaveLength(100);
  });

  it('tells whether it cut the work short, exactly', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS, 'a');
    wheel.schedule(START_MS, 'b');
    expect(wheel.advance(START_MS, ignore, 1)).toBe(false);
    expect(wheel.advance(START_MS, ignore, 0)).toBe(false);
    expect(wheel.nextDueMs()).toBe(START_MS);
    expect(wheel.advance(START_MS, ignore, 1)).toBe(true);
    expect(wheel.advance(START_MS, ignore, 0)).toBe(true);
  });
});

describe('onDue', () => {
  it('may schedule: what is due by then fires in the same advance, the rest later', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const fired: string[] = [];
    const onDue = (item: string): void => {
      fired.push(item);
      if (item !== 'a') return;
      wheel.schedule(START_MS + 100, 'too late');
      wheel.schedule(START_MS + 40, 'ahead');
      wheel.schedule(START_MS + 5, 'past');
    };
    wheel.schedule(START_MS + 10, 'a');
    wheel.schedule(START_MS + 10, 'b');
    expect(wheel.advance(START_MS + 50, onDue)).toBe(true);
    expect(fired).toEqual(['a', 'b', 'past', 'ahead']);
    expect(wheel.size).toBe(1);
  });

  it('may set a timer again at once without end: the limit ends it', () => {
    const wheel = new TimerWheel<string>(START_MS);
    let fired = 0;
    const again = (): void => {
      fired += 1;
      wheel.schedule(START_MS, 'again');
    };
    again();
    expect(wheel.advance(START_MS, again, 100)).toBe(false);
    expect(fired).toBe(101);
  });

  it('may cancel a timer due in the same millisecond, and not the one that fires', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const handles = ['a', 'b', 'c'].map((item) => wheel.schedule(START_MS + 10, item));
    const fired: string[] = [];
    wheel.advance(START_MS + 10, (item) => {
      fired.push(item);
      if (item === 'a')
        expect(handles.slice(0, 2).map((handle) => wheel.cancel(handle))).toEqual([false, true]);
    });
    expect(fired).toEqual(['a', 'c']);
  });

  it('may advance: time goes on from where that came to', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const fired: string[] = [];
    const onDue = (item: string): void => {
      fired.push(item);
      if (item === 'a') wheel.advance(START_MS + HOUR_MS, onDue);
    };
    wheel.schedule(START_MS + 10, 'a');
    wheel.schedule(START_MS + 20, 'b');
    wheel.advance(START_MS + 15, onDue);
    wheel.schedule(START_MS + 20, 'past');
    expect(fired).toEqual(['a', 'b']);
    expect(wheel.nextDueMs()).toBe(START_MS + HOUR_MS);
  });

  it('may throw: its timer has fired, the others follow at the next advance', () => {
    const wheel = new TimerWheel<string>(START_MS);
    wheel.schedule(START_MS + 10, 'a');
    wheel.schedule(START_MS + 10, 'b');
    const explode = (): never => {
      throw new Error('broken');
    };
    expect(() => wheel.advance(START_MS + 20, explode)).toThrow('broken');
    expect(firedBy(wheel, START_MS + 20)).toEqual(['b']);
  });
});

describe('handles', () => {
  it('cancel once', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const handle = wheel.schedule(START_MS + HOUR_MS, 'a');
    expect(wheel.cancel(handle)).toBe(true);
    expect(wheel.cancel(handle)).toBe(false);
    expect(wheel.size).toBe(0);
    expect(firedBy(wheel, START_MS + DAY_MS)).toEqual([]);
  });

  it('of timers gone never cancel the timers that took their room', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const fired = wheel.schedule(START_MS, 'fired');
    wheel.advance(START_MS, ignore);
    const cancelled = wheel.schedule(START_MS + 1, 'cancelled');
    wheel.cancel(cancelled);
    wheel.schedule(START_MS + 1, 'alive');
    expect([wheel.cancel(fired), wheel.cancel(cancelled)]).toEqual([false, false]);
    expect(firedBy(wheel, START_MS + 1)).toEqual(['alive']);
  });

  it('outlast the growth of the wheel', () => {
    const wheel = new TimerWheel<number>(START_MS);
    const stale = wheel.schedule(START_MS + 1, 0);
    wheel.cancel(stale);
    const handles = Array.from({ length: 10_000 }, (_, i) => wheel.schedule(START_MS + 1 + (i % 500), i));
    expect(wheel.cancel(stale)).toBe(false);
    expect(handles.filter((handle) => wheel.cancel(handle))).toHaveLength(10_000);
    expect(wheel.size).toBe(0);
  });

  it('cancel what they name and nothing else, also where the wheel has grown since', () => {
    const wheel = new TimerWheel<number>(START_MS);
    const offsets = Array.from({ length: 5000 }, (_, i) => 1 + ((i * 7919) % 5003));
    const handles = offsets.map((offset) => wheel.schedule(START_MS + offset, offset));
    const kept = offsets.filter((_, i) => i % 2 === 1);
    for (const handle of handles.filter((_, i) => i % 2 === 0)) wheel.cancel(handle);
    expect(firedBy(wheel, START_MS + DAY_MS)).toEqual(kept.toSorted((a, b) => a - b));
  });

  it('stay safe integers and apart when one room is used 16 million times', { tags: ['slow'] }, () => {
    const wheel = new TimerWheel<string>(START_MS);
    const first = wheel.schedule(START_MS + 1, 'first');
    wheel.cancel(first);
    let last = first;
    for (let i = 0; i < 2 ** 24; i++) {
      last = wheel.schedule(START_MS + 1, 'next');
      wheel.cancel(last);
    }
    const alive = wheel.schedule(START_MS + 1, 'alive');
    expect(Number.isSafeInteger(last)).toBe(true);
    expect(new Set([first, last, alive]).size).toBe(3);
    expect([wheel.cancel(first), wheel.cancel(last), wheel.cancel(alive)]).toEqual([false, false, true]);
  });

  it('are never 0, which cancels nothing', () => {
    const wheel = new TimerWheel<string>(0);
    wheel.schedule(1, 'a');
    expect(wheel.cancel(0 as TimerHandle)).toBe(false);
    expect(firedBy(wheel, 1)).toEqual(['a']);
  });
});

describe('memory', () => {
  it('holds no item that has fired or was cancelled', async () => {
    const wheel = new TimerWheel<object>(START_MS);
    const scheduleOne = (deadlineMs: number): { item: WeakRef<object>; handle: TimerHandle } => {
      const item = { payload: new Uint8Array(1000) };
      return { item: new WeakRef(item), handle: wheel.schedule(deadlineMs, item) };
    };
    const fired = scheduleOne(START_MS + 100);
    const cancelled = scheduleOne(START_MS + DAY_MS);
    const waiting = scheduleOne(START_MS + DAY_MS);
    wheel.advance(START_MS + HOUR_MS, ignore);
    wheel.cancel(cancelled.handle);

    await collectGarbage();
    expect(fired.item.deref()).toBeUndefined();
    expect(cancelled.item.deref()).toBeUndefined();
    expect(waiting.item.deref()).toBeDefined();
    expect(wheel.size).toBe(1);
  });

  it('takes the room of timers gone for new ones', () => {
    const wheel = new TimerWheel<string>(START_MS);
    const highest = wheel.schedule(START_MS, 'a');
    wheel.advance(START_MS, ignore);
    for (let i = 1; i <= 10_000; i++) {
      const handle = wheel.schedule(START_MS + i, 'b');
      expect(handle % 2 ** 29).toBe(highest);
      wheel.advance(START_MS + i, ignore);
    }
  });
});
