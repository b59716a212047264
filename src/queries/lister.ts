/**
 * Makes lists, and what windows show, beside everything else: a short one at once, a long one in steps of half a millisecond,
 * one step of one list at a time, however many are asked for. Who asks for a list that waits to be begun gets that one too.
 */
import type { Scheduler } from '../lib/scheduler.ts';

/** A list that is made at once takes the time of so many at most. */
const SHORT_ENTRIES = 500;
/** Entries made in one go: half a millisecond of them, and a few milliseconds when the code is cold. */
const STEP_ENTRIES = 200;

/** A list in the making. */
export interface Making {
  /** Lists of the same name say the same. */
  readonly name: string;
  /** About how many entries it takes the time of. */
  readonly length: number;
  /** Makes at most so many entries; answers the JSON when it is whole. */
  advance(entries: number): Buffer | undefined;
}

/** Told when the list is made; `ask` tells at once where it is short. */
export type OnListed = (json: Buffer) => void;

interface Order {
  readonly listing: Making;
  readonly waiting: OnListed[];
}

export class Lister {
  readonly #scheduler: Scheduler;
  /** Not begun yet, by name. */
  readonly #orders = new Map<string, Order>();
  #current: Order | undefined;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  ask(listing: Making, onListed: OnListed): void {
    const json = listing.length <= SHORT_ENTRIES ? listing.advance(Number.POSITIVE_INFINITY) : undefined;
    if (json !== undefined) return onListed(json);
    const order = this.#orders.get(listing.name);
    if (order !== undefined) order.waiting.push(onListed);
    else this.#orders.set(listing.name, { listing, waiting: [onListed] });
    if (this.#current === undefined) this.#begin();
  }

  #begin(): void {
    const [next] = this.#orders;
    this.#current = next?.[1];
    if (next !== undefined) this.#scheduler.soon(() => this.#step(next[0], next[1]));
  }

  #step(name: string, order: Order): void {
    // From here on it is begun: who asks now is to see what was written meanwhile.
    if (this.#orders.get(name) === order) this.#orders.delete(name);
    const json = order.listing.advance(STEP_ENTRIES);
    if (json === undefined) {
      this.#scheduler.soon(() => this.#step(name, order));
      return;
    }
    this.#begin();
    for (const onListed of order.waiting) onListed(json);
  }
}
