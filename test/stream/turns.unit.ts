import { expect, it } from 'vitest';
import { ManualClock } from '../../src/lib/clock.ts';
import { Turns } from '../../src/stream/turns.ts';

const SECONDS = 20;
const STEP_MS = 0.5;

/** How much of the time goes to work that never ends, beside others who keep the event loop busy for a part of it. */
function shareBeside(others: number): number {
  const clock = new ManualClock(0);
  let next: { readonly atMs: number; readonly task: () => void } | undefined;
  let workedMs = 0;
  let askedAtMs = 0;
  let workedBefore = 0;
  const turns = new Turns({
    clock,
    scheduler: {
      after: (delayMs, task) => {
        next = { atMs: clock.monotonic() + delayMs, task };
        return () => {};
      },
      soon: () => {},
    },
    busyShare: () => {
      const own = (workedMs - workedBefore) / Math.max(1, clock.monotonic() - askedAtMs);
      askedAtMs = clock.monotonic();
      workedBefore = workedMs;
      return Math.min(1, own + others);
    },
    step: () => {
      clock.step(STEP_MS);
      workedMs += STEP_MS;
      return true;
    },
  });
  turns.arm(0);
  while (next !== undefined && clock.monotonic() < SECONDS * 1000) {
    const { atMs, task } = next;
    clock.step(Math.max(0, atMs - clock.monotonic()));
    next = undefined;
    task();
  }
  return workedMs / clock.monotonic();
}

it('readers get half of the time where nobody else wants it, and a hundredth where others want all', () => {
  expect(shareBeside(0)).toBeCloseTo(0.5, 1);
  // A little more until it has seen that they do.
  expect(shareBeside(1)).toBeGreaterThan(0.009);
  expect(shareBeside(1)).toBeLessThan(0.016);
  expect(shareBeside(0.5)).toBeGreaterThan(shareBeside(0.8));
  expect(shareBeside(0.5)).toBeLessThan(0.2);
});

it('what comes during a rest waits for its end', () => {
  const clock = new ManualClock(0);
  const delays: number[] = [];
  const tasks: (() => void)[] = [];
  const turns = new Turns({
    clock,
    scheduler: {
      after: (delayMs, task) => {
        delays.push(delayMs);
        tasks.push(task);
        return () => {};
      },
      soon: () => {},
    },
    busyShare: () => 0,
    step: () => {
      clock.step(1);
      return false;
    },
  });
  turns.arm(50);
  turns.arm(0);
  tasks[0]?.();
  turns.arm(0);
  expect(delays).toEqual([50, 1]);
});
