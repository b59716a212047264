/**
 * A bounded queue between the log and the server, oldest first. What was taken out to be sent still has its place
 * until it is settled: a reader that waits for room never pushes out what may come back. One that does not wait
 * pushes out the oldest.
 */

export class Outbox<Item> {
  readonly #capacity: number;
  #items: Item[] = [];
  #inFlight = 0;
  #isEnded = false;
  #waiting: (() => void)[] = [];

  /** @param capacity at least 1 */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.#items.length + this.#inFlight >= this.#capacity;
  }

  /** Whether nothing more will be added. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Returns what had to leave. */
  add(item: Item): readonly Item[] {
    return this.#hold([...this.#items, item]);
  }

  /** Up to `count` of the oldest, to be settled or put back before more are taken. */
  take(count: number): readonly Item[] {
    const taken = this.#items.splice(0, count);
    this.#inFlight = taken.length;
    return taken;
  }

  /** What was taken last is done with. */
  settle(): void {
    this.#inFlight = 0;
    this.wake();
  }

  /** Puts what was taken last into its old place; returns what had to leave. */
  putBack(items: readonly Item[]): readonly Item[] {
    this.#inFlight = 0;
    return this.#hold([...items, ...this.#items]);
  }

  end(): void {
    this.#isEnded = true;
    this.wake();
  }

  /** Resolves at the next change, or when it is woken. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #hold(items: Item[]): readonly Item[] {
    const leaving = items.splice(0, Math.max(0, items.length - this.#capacity));
    this.#items = items;
    this.wake();
    return leaving;
  }
}
