/** Time as a value that is handed in: the system's clocks in production, simulated ones in tests. */

export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. May jump either way. */
  now(): number;
  /** Milliseconds since some moment, for measuring spans: no setting of the clock moves it. */
  monotonic(): number;
}

/** The only place that reads the machine's clocks. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Clocks that stand still until they are told otherwise. */
export class ManualClock implements Clock {
  #nowMs: number;
  #elapsedMs = 0;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  /** Lets time go by; a negative step is a wall clock set back, which takes no time. */
  step(milliseconds: number): void {
    this.#nowMs += milliseconds;
    this.#elapsedMs += Math.max(0, milliseconds);
  }

  /** Sets the wall clock, which takes no time. */
  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}
