/**
 * Records that gather to be written together, one behind the other: in memory that is lent for it, which is enough for
 * most, and in further pieces where there are many. None is moved, for who added it may read it where it stands.
 */
import type { EncodedRecord } from './command-codec.ts';

/** Where each waits for an answer, a group of a thousand. */
export const PIECE_BYTES = 256 * 1024;

export class GatheredRecords {
  /** Those that nothing more is added to. */
  readonly #pieces: Buffer[] = [];
  #bytes: Buffer;
  #length = 0;

  constructor(lent: Buffer) {
    this.#bytes = lent;
  }

  /** Copies a record to the end; answers where it stands now. */
  add({ bytes, start, end }: EncodedRecord): EncodedRecord {
    if (end - start > this.#bytes.length - this.#length) this.#beginPiece(end - start);
    const at = this.#length;
    bytes.copy(this.#bytes, at, start, end);
    this.#length = at + end - start;
    return { bytes: this.#bytes, start: at, end: this.#length };
  }

  /** All that was added. */
  get pieces(): readonly Buffer[] {
    return [...this.#pieces, this.#bytes.subarray(0, this.#length)];
  }

  #beginPiece(least: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, least));
    this.#pieces.push(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#length = 0;
  }
}
