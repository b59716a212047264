/** A process's clocks, and the time that follows from them. */
import type { Clock } from '../../src/lib/clock.ts';

/**
 * The clocks of one process, and beside them the time that it must go by: the wall clock; where that is more than a
 * second behind the time there was, the monotonic clock; never an earlier time.
 */
export class WatchedClock implements Clock {
  readonly #clock: Clock;
  /** What was read before it was known when time starts. */
  #readings: { readonly wallMs: number; readonly monotonicMs: number }[] | undefined = [];
  #behindSinceMs: number | undefined;
  timeMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const reading = { wallMs: this.#clock.now(), monotonicMs: this.#clock.monotonic() };
    if (this.#readings === undefined) this.#read(reading);
    else this.#readings.push(reading);
    return reading.wallMs;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** Time starts with the last command of the log. */
  startAt(timeMs: number): void {
    this.timeMs = timeMs;
    for (const reading of this.#readings ?? []) this.#read(reading);
    this.#readings = undefined;
  }

  #read({ wallMs, monotonicMs }: { wallMs: number; monotonicMs: number }): void {
    if (wallMs >= this.timeMs) {
      this.timeMs = wallMs;
      this.#behindSinceMs = undefined;
    } else if (this.timeMs - wallMs > 1000) {
      this.timeMs += monotonicMs - (this.#behindSinceMs ?? monotonicMs);
      this.#behindSinceMs = monotonicMs;
    }
  }
}
