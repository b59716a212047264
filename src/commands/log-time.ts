import type { Clock } from '../lib/clock.ts';

/** A clock that is behind by less stands still until it has caught up: it is being adjusted, not set. */
const TOLERANCE_MS = 1000;

/**
 * The time commands are stamped with and readers compare with: the wall clock, except that it never runs back.
 *
 * Where the wall clock has been set back, or was wrong before, time goes on from where it was at the rate of the
 * monotonic clock, until the wall clock has caught up: what expires goes on expiring.
 */
export class LogTime {
  readonly #clock: Clock;
  #latestMs: number;
  /** While the wall clock is behind: what the monotonic clock showed at #latestMs. */
  #sinceMs: number | undefined;

  /** `startMs` is the time of the last command in the log: time goes on from there. */
  constructor(clock: Clock, startMs: number) {
    this.#clock = clock;
    this.#latestMs = startMs;
  }

  now(): number {
    const wallMs = this.#clock.now();
    if (wallMs >= this.#latestMs) {
      this.#latestMs = wallMs;
      this.#sinceMs = undefined;
    } else if (this.#latestMs - wallMs > TOLERANCE_MS) {
      const monotonicMs = this.#clock.monotonic();
      this.#sinceMs ??= monotonicMs;
      // Whole milliseconds only: the rest is kept for the next time.
      const elapsedMs = Math.floor(monotonicMs - this.#sinceMs);
      this.#latestMs += elapsedMs;
      this.#sinceMs += elapsedMs;
    }
    return this.#latestMs;
  }

  /** How far the wall clock is behind, milliseconds; 0 where it is not. */
  get behindMs(): number {
    const behindMs = this.#latestMs - this.#clock.now();
    return behindMs > TOLERANCE_MS ? behindMs : 0;
  }
}
