/** Rows of one size, off the heap, one behind the other; each stays for good, and is all zeros at first. */
import { Slabs, type Span } from './slabs.ts';

/** No memory: where a view is before it is of anything. */
const NOWHERE: Span = {
  bytes: Buffer.alloc(0),
  words: new Float64Array(),
  halves: new Uint32Array(),
};

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

  /** A word of a row. */
  get(row: Row, field: number): number {
    return this.spanOf(row).words[this.wordOf(row) + field] ?? 0;
  }

  set(row: Row, field: number, value: number): void {
    this.spanOf(row).words[this.wordOf(row) + field] = value;
  }

  /** A half of a word of a row; the second half of its first word is 1. */
  half(row: Row, field: number): number {
    return this.spanOf(row).halves[2 * this.wordOf(row) + field] ?? 0;
  }

  setHalf(row: Row, field: number, value: number): void {
    this.spanOf(row).halves[2 * this.wordOf(row) + field] = value;
  }
}

/** Of rows, one after the other: what is read and written is that of the row last asked for. */
export class RowView<Row extends number> {
  readonly #rows: Rows<Row>;
  #span: Span = NOWHERE;
  #word = 0;

  constructor(rows: Rows<Row>) {
    this.#rows = rows;
  }

  at(row: Row): this {
    this.#span = this.#rows.spanOf(row);
    this.#word = this.#rows.wordOf(row);
    return this;
  }

  protected get(field: number): number {
    return this.#span.words[this.#word + field] ?? 0;
  }

  protected set(field: number, value: number): void {
    this.#span.words[this.#word + field] = value;
  }

  protected half(field: number): number {
    return this.#span.halves[2 * this.#word + field] ?? 0;
  }

  protected setHalf(field: number, value: number): void {
    this.#span.halves[2 * this.#word + field] = value;
  }
}
