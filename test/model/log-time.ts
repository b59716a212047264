/**
 * The time of a log, naively: the wall clock, but never earlier than it was. While the wall clock is behind by
 * more than a second, what has gone by since that was first seen, by the clock that nobody sets.
 */
const TOLERANCE_MS = 1000;

export class ModelTime {
  nowMs: number;
  #wallMs = Number.NEGATIVE_INFINITY;
  #behindSince: { readonly nowMs: number; readonly monotonicMs: number } | undefined;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  look(wallMs: number, monotonicMs: number): number {
    this.#wallMs = wallMs;
    if (wallMs >= this.nowMs) {
      this.nowMs = wallMs;
      this.#behindSince = undefined;
    } else if (this.nowMs - wallMs > TOLERANCE_MS) {
      this.#behindSince ??= { nowMs: this.nowMs, monotonicMs };
      const since = this.#behindSince;
      this.nowMs = since.nowMs + Math.floor(monotonicMs - since.monotonicMs);
    }
    return this.nowMs;
  }

  get behindMs(): number {
    return this.nowMs - this.#wallMs;
  }
}
