import type { Clock } from '../lib/clock.ts';

/**
 * The time commands are stamped with and readers compare with: the wall clock, except that it never runs
 * back. After the clock is set back, time stands still until the clock has caught up.
 */
export class LogTime implements Clock {
  readonly #clock: Clock;
  #latestMs: number;

  /** `startMs` is the time of the last command in the log: time goes on from there. */
  constructor(clock: Clock, startMs: number) {
    this.#clock = clock;
    this.#latestMs = startMs;
  }

  now(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#clock.now());
    return this.#latestMs;
  }
}
