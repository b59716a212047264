/** Requests whose answers are to come. All have the same time left when they are added, so they end in that order. */
import type { Exchange } from './exchange.ts';

interface Entry {
  readonly exchange: Exchange;
  readonly deadlineMs: number;
}

/** What is behind is given up when there are so many of it, and more than of the others. */
const LEAST_GIVEN_UP = 256;

export class Waiting {
  /** A queue: from #first on. */
  #entries: (Entry | undefined)[] = [];
  #first = 0;

  /**
   * Lets go of those before it that were answered: kept until a timer came, each outlived a collection, which copied
   * it and all that it held.
   */
  add(exchange: Exchange, deadlineMs: number): void {
    for (let entry = this.#oldest; entry !== undefined && !entry.exchange.open; entry = this.#oldest)
      this.#dropOldest();
    this.#entries.push({ exchange, deadlineMs });
  }

  countOpen(): number {
    let count = 0;
    for (const entry of this.#entries) if (entry?.exchange.open === true) count += 1;
    return count;
  }

  /** Lets go of those that were answered, and calls back for those whose time is over. */
  takeOverdue(nowMs: number, onOverdue: (exchange: Exchange) => void): void {
    for (let entry = this.#oldest; entry !== undefined; entry = this.#oldest) {
      const { exchange, deadlineMs } = entry;
      if (exchange.open) {
        if (deadlineMs > nowMs) break;
        onOverdue(exchange);
      }
      this.#dropOldest();
    }
  }

  get #oldest(): Entry | undefined {
    return this.#entries[this.#first];
  }

  #dropOldest(): void {
    this.#entries[this.#first] = undefined;
    this.#first += 1;
    if (this.#first < LEAST_GIVEN_UP || 2 * this.#first < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
