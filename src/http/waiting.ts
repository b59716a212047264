/** Requests whose answers are to come. All have the same time left when they are added, so they end in that order. */
import type { Exchange } from './exchange.ts';

interface Entry {
  readonly exchange: Exchange;
  readonly deadlineMs: number;
}

export class Waiting {
  /** A queue: from #first on. Whoever was answered stays until its turn, which costs less than taking it out. */
  #entries: Entry[] = [];
  #first = 0;

  add(exchange: Exchange, deadlineMs: number): void {
    this.#entries.push({ exchange, deadlineMs });
  }

  countOpen(): number {
    let count = 0;
    for (let at = this.#first; at < this.#entries.length; at += 1) {
      if (this.#entries[at]?.exchange.open === true) count += 1;
    }
    return count;
  }

  /** Lets go of those that were answered, and calls back for those whose time is over. */
  takeOverdue(nowMs: number, onOverdue: (exchange: Exchange) => void): void {
    for (let entry = this.#entries[this.#first]; entry !== undefined; entry = this.#entries[this.#first]) {
      const { exchange, deadlineMs } = entry;
      if (exchange.open) {
        if (deadlineMs > nowMs) break;
        onOverdue(exchange);
      }
      this.#first += 1;
    }
    if (this.#first === 0) return;
    this.#entries = this.#entries.slice(this.#first);
    this.#first = 0;
  }
}
