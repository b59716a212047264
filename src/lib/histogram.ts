/** Counts of durations, by upper bound: numbers that cost an addition each, read when somebody asks. */

/** Seconds; from what a request in memory takes to what nobody waits for. */
const BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Histogram {
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #sumSeconds = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    let index = 0;
    while (seconds > (BOUNDS[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sumSeconds += seconds;
  }

  get sumSeconds(): number {
    return this.#sumSeconds;
  }

  /** Each bound, the last of them infinity, with how many durations were not longer. */
  get buckets(): readonly { readonly upToSeconds: number; readonly count: number }[] {
    let count = 0;
    return this.#counts.map((own, index) => {
      count += own;
      return { upToSeconds: BOUNDS[index] ?? Number.POSITIVE_INFINITY, count };
    });
  }
}
