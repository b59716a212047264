/** Requests whose answers are to come. All have the same time left when they are added, so they end in that order. */

/** A request: open until it is answered, or whoever asked is gone. */
interface Asked {
  readonly open: boolean;
}

interface Entry<Request> {
  readonly request: Request;
  readonly deadlineMs: number;
}

/** What is behind is given up when there are so many of it, and more than of the others. */
const LEAST_GIVEN_UP = 256;

export class Waiting<Request extends Asked> {
  /** A queue: from #first on. */
  #entries: (Entry<Request> | undefined)[] = [];
  #first = 0;

  /**
   * Lets go of those before it that were answered: kept until a timer came, each outlived a collection, which copied
   * it and all that it held.
   */
  add(request: Request, deadlineMs: number): void {
    while (this.#oldest?.request.open === false) this.#dropOldest();
    this.#entries.push({ request, deadlineMs });
  }

  countOpen(): number {
    let count = 0;
    for (const entry of this.#entries) if (entry?.request.open === true) count += 1;
    return count;
  }

  /** Lets go of those that were answered, and calls back for those whose time is over. */
  takeOverdue(nowMs: number, onOverdue: (request: Request) => void): void {
    for (let entry = this.#oldest; entry !== undefined; entry = this.#oldest) {
      const { request, deadlineMs } = entry;
      if (request.open && deadlineMs > nowMs) break;
      // First, so that what is called back finds the queue in order.
      this.#dropOldest();
      if (request.open) onOverdue(request);
    }
  }

  get #oldest(): Entry<Request> | undefined {
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
