/** Time as a value that is handed in: the system's clock in production, a simulated one in tests. */

export interface Clock {
  /** Wall-clock time, milliseconds since the epoch. May jump either way. */
  now(): number;
}

/** The only place that reads the machine's wall clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds since some moment, for measuring spans: no setting of the clock moves it. */
export function monotonicNow(): number {
  return performance.now();
}

/** A clock that stands still until it is told otherwise. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** Moves the clock; a negative step is a clock set back. */
  step(milliseconds: number): void {
    this.#nowMs += milliseconds;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}
