/** What has been made, and for whom: all of it is given before anything else is made. */
import type { Delivery } from './feed.ts';

export class Deliveries {
  #all: readonly Delivery[] = [];
  #given = 0;

  get isEmpty(): boolean {
    return this.#given === this.#all.length;
  }

  /** Only where it is empty. Until it is given, each reader is owed something. */
  fill(deliveries: readonly Delivery[]): void {
    for (const { reader } of deliveries) reader.isOwed = true;
    this.#all = deliveries;
    this.#given = 0;
  }

  take(): Delivery | undefined {
    const delivery = this.#all[this.#given];
    if (delivery === undefined) return undefined;
    this.#given += 1;
    // What has been given may be large.
    if (this.isEmpty) this.fill([]);
    delivery.reader.isOwed = false;
    return delivery;
  }
}
