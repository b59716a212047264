/** Records that gather to be written together: one behind the other, in memory that is used again for the next. */
import type { EncodedRecord } from './command-codec.ts';

const LEAST_BYTES = 64 * 1024;
/** More than that is not kept for those to come: it was a burst, or large batches. */
const MOST_KEPT_BYTES = 1024 * 1024;

export class GatheredRecords {
  #bytes: Buffer = Buffer.allocUnsafeSlow(LEAST_BYTES);
  #length = 0;

  /** Copies a record to the end; where it stands now is good until `clear`. */
  add({ bytes, start, end }: EncodedRecord): EncodedRecord {
    const at = this.#length;
    this.#length += end - start;
    // Those that were added before are also where they were.
    if (this.#length > this.#bytes.length) this.#bytes = grown(this.#bytes, at, this.#length);
    bytes.copy(this.#bytes, at, start, end);
    return { bytes: this.#bytes, start: at, end: this.#length };
  }

  /** All of them. */
  get all(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(LEAST_BYTES);
  }
}

function grown(bytes: Buffer, filled: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * needed);
  bytes.copy(larger, 0, 0, filled);
  return larger;
}
