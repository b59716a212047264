import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TimerHandle, TimerWheel } from '../../src/timers/wheel.ts';

const DAY_MS = 86_400_000;
const YEAR_MS = 365.25 * DAY_MS;
/** More than any advance here needs, so that a wheel that turns for ever fails a test and does not hang it. */
const MUCH_WORK = 10_000;

/** What the wheel must equal: timers in a list, sorted by when they are due, ties as they were scheduled. */
class SortedTimers {
  presentMs: number;
  readonly #timers: { readonly id: number; readonly deadlineMs: number; readonly dueMs: number }[] = [];

  constructor(startMs: number) {
    this.presentMs = startMs;
  }

  get size(): number {
    return this.#timers.length;
  }

  get firstDueMs(): number {
    return this.#timers[0]?.dueMs ?? Infinity;
  }

  schedule(deadlineMs: number, id: number): void {
    const wholeMs = Math.ceil(deadlineMs);
    const dueMs = Math.max(wholeMs, this.presentMs);
    const later = this.#timers.findIndex((timer) => timer.dueMs > dueMs);
    this.#timers.splice(later === -1 ? this.size : later, 0, { id, deadlineMs: wholeMs, dueMs });
  }

  cancel(id: number): boolean {
    const index = this.#timers.findIndex((timer) => timer.id === id);
    if (index !== -1) this.#timers.splice(index, 1);
    return index !== -1;
  }

  fireFirst(): { readonly id: number; readonly deadlineMs: number } | undefined {
    const timer = this.#timers.shift();
    if (timer === undefined) return undefined;
    this.presentMs = Math.max(this.presentMs, timer.dueMs);
    return { id: timer.id, deadlineMs: timer.deadlineMs };
  }
}

type Step =
  | { readonly type: 'schedule'; readonly offsetMs: number }
  /** At one of a few times that keep coming back, so that ties meet after different cascades. */
  | { readonly type: 'schedule-again'; readonly pick: number }
  | { readonly type: 'cancel'; readonly pick: number }
  | { readonly type: 'advance'; readonly offsetMs: number; readonly limit: number };

/** The wheel and its model, driven side by side; any difference throws. */
class Rig {
  readonly #wheel: TimerWheel<number>;
  readonly #model: SortedTimers;
  readonly #meetingTimes: readonly number[];
  /** What `onDue` does, a step each call until none is left. */
  readonly #reactions: Step[];
  readonly #handles: TimerHandle[] = [];

  constructor(startMs: number, meetingOffsets: readonly number[], reactions: readonly Step[]) {
    this.#wheel = new TimerWheel(startMs);
    this.#model = new SortedTimers(startMs);
    this.#meetingTimes = meetingOffsets.map((offsetMs) => startMs + offsetMs);
    this.#reactions = [...reactions];
  }

  get presentMs(): number {
    return this.#model.presentMs;
  }

  take(step: Step): void {
    if (step.type === 'schedule') this.#schedule(this.presentMs + step.offsetMs);
    if (step.type === 'schedule-again')
      this.#schedule(this.#meetingTimes[step.pick % this.#meetingTimes.length] ?? 0);
    if (step.type === 'cancel') this.#cancel(step.pick);
    if (step.type === 'advance') this.advance(this.presentMs + step.offsetMs, step.limit);
    this.#compareIdle();
  }

  advance(nowMs: number, limit: number): boolean {
    const targetMs = Math.floor(nowMs);
    const isBackwards = targetMs < this.presentMs;
    let fired = 0;
    const isDone = this.#wheel.advance(
      nowMs,
      (id, deadlineMs) => {
        fired += 1;
        // An advance within an advance may have gone further than this one, and have been cut short.
        expect(this.#model.firstDueMs).toBeLessThanOrEqual(Math.max(targetMs, this.presentMs));
        expect({ id, deadlineMs }).toEqual(this.#model.fireFirst());
        const reaction = this.#reactions.shift();
        if (reaction !== undefined) this.take(reaction);
      },
      limit,
    );
    expect(fired).toBeLessThanOrEqual(isBackwards ? 0 : limit);
    if (isBackwards) {
      expect(isDone).toBe(true);
    } else if (isDone) {
      expect(this.#model.firstDueMs).toBeGreaterThan(targetMs);
      this.#model.presentMs = Math.max(this.presentMs, targetMs);
    } else {
      // Cut short, the wheel stands at what it was working on.
      const standsAtMs = this.#wheel.nextDueMs() ?? Number.NaN;
      expect(standsAtMs).toBeGreaterThanOrEqual(this.presentMs);
      expect(standsAtMs).toBeLessThanOrEqual(Math.max(targetMs, this.presentMs));
      this.#model.presentMs = standsAtMs;
    }
    return isDone;
  }

  #schedule(deadlineMs: number): void {
    this.#model.schedule(deadlineMs, this.#handles.length);
    this.#handles.push(this.#wheel.schedule(deadlineMs, this.#handles.length));
  }

  #cancel(pick: number): void {
    const id = pick % Math.max(1, this.#handles.length);
    const handle = this.#handles[id];
    if (handle !== undefined) expect(this.#wheel.cancel(handle)).toBe(this.#model.cancel(id));
  }

  #compareIdle(): void {
    expect(this.#wheel.size).toBe(this.#model.size);
    const nextMs = this.#wheel.nextDueMs();
    expect(nextMs === undefined).toBe(this.#model.size === 0);
    expect(nextMs ?? 0).toBeLessThanOrEqual(this.#model.firstDueMs);
  }
}

/** Times ahead where levels begin and end, and all between. */
const aheadMs = fc.oneof(
  { weight: 4, arbitrary: fc.nat(200) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.nat(7), fc.integer({ min: -2, max: 2 }))
      .map(([level, delta]) => Math.max(0, 64 ** level + delta)),
  },
  { weight: 2, arbitrary: fc.nat(DAY_MS) },
  { weight: 1, arbitrary: fc.nat(140 * YEAR_MS) },
  { weight: 1, arbitrary: fc.nat(5000).map((quarters) => quarters / 4) },
);
const offsetMs = fc.oneof(
  { weight: 5, arbitrary: aheadMs },
  { weight: 1, arbitrary: aheadMs.map((ahead) => -ahead) },
);
const limit = fc.oneof(fc.nat(8), fc.constant(MUCH_WORK));
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant<'schedule'>('schedule'), offsetMs }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant<'schedule-again'>('schedule-again'), pick: fc.nat(100) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant<'cancel'>('cancel'), pick: fc.nat(100) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant<'advance'>('advance'), offsetMs, limit }) },
);
const startMs = fc.oneof(
  fc.constant(0),
  fc.constant(1_760_000_000_000),
  fc.nat(2 ** 45),
  aheadMs.map(Math.floor),
);

describe('a timer wheel equals a sorted list', () => {
  it('under any schedules, cancels and advances, from outside and from onDue', () => {
    fc.assert(
      fc.property(
        startMs,
        fc.array(aheadMs, { minLength: 1, maxLength: 4 }),
        fc.array(step, { maxLength: 80, size: 'max' }),
        fc.array(step, { maxLength: 20, size: 'max' }),
        (start, meetingOffsets, steps, reactions) => {
          const rig = new Rig(start, meetingOffsets, reactions);
          for (const each of steps) rig.take(each);
          const endMs = rig.presentMs + 200 * YEAR_MS;
          let slices = 1;
          while (!rig.advance(endMs, 7)) {
            slices += 1;
            expect(slices).toBeLessThan(1000);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('when a shell sleeps until nextDueMs: each timer fires at its deadline, after few wake-ups', () => {
    fc.assert(
      fc.property(
        startMs,
        fc.array(aheadMs, { minLength: 1, maxLength: 30, size: 'max' }),
        (start, offsets) => {
          const wheel = new TimerWheel<number>(start);
          const deadlines = offsets.map((offset) => Math.ceil(start + offset));
          for (const deadlineMs of deadlines) wheel.schedule(deadlineMs, deadlineMs);

          const fired: number[] = [];
          let wakeUps = 0;
          for (let nowMs = wheel.nextDueMs(); nowMs !== undefined; nowMs = wheel.nextDueMs()) {
            const wokenMs = nowMs;
            wakeUps += 1;
            // A timer moves down eight levels at most, and fires.
            expect(wakeUps).toBeLessThanOrEqual(9 * deadlines.length);
            const onDue = (item: number, deadlineMs: number): void => {
              expect([item, deadlineMs]).toEqual([wokenMs, wokenMs]);
              fired.push(item);
            };
            expect(wheel.advance(wokenMs, onDue, MUCH_WORK)).toBe(true);
          }
          expect(fired).toEqual(deadlines.sort((a, b) => a - b));
        },
      ),
    );
  });
});
