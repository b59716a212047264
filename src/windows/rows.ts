/** Rows of one size, off the heap, one behind the other; each stays for good, and is all zeros at first. */
import { Slabs, type Span } from './slabs.ts';

export class Rows<Row extends number> {
  readonly #slabs: Slabs;

  /** @param rowBytes a power of two */
  constructor(rowBytes: number) {
    this.#slabs = new Slabs(rowBytes);
  }

  /** Its number, never 0. */
  create(): Row {
    return this.#slabs.take() as Row;
  }

  /** The memory that a row lies in … */
  spanOf(row: Row): Span {
    return this.#slabs.spanOf(row);
  }

  /** … from this word on. */
  wordOf(row: Row): number {
    return this.#slabs.startOf(row) / 8;
  }
}
