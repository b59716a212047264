/** What has been started, to be stopped in the opposite order. Register each thing as soon as it exists. */
export class StopStack {
  readonly #stops: (() => void | Promise<void>)[] = [];

  push(stop: () => void | Promise<void>): void {
    this.#stops.push(stop);
  }

  /** Stops everything, whatever fails on the way; then throws the first failure. Later calls do nothing. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let stop = this.#stops.pop(); stop !== undefined; stop = this.#stops.pop()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
