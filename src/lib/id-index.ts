/**
 * A map whose keys are ids as bytes, looked up where they stand in a longer buffer: no string is made, hashed and
 * compared to find what a record of the log names. Keys are never taken out.
 *
 * Who adds one is told its row, from which its bytes can be written again; what was written or found last is found
 * again without a look at the table. So an event that is logged and then applied reads, of 50 000 agents, the bytes of
 * one in one place, once: their strings and the table besides took 0.4 µs of an ingest.
 *
 * Hashes are made of the ends of keys, which nobody may choose: names are no ids. Two ids are found in 25 ns; two
 * strings of them, found in a cache and looked up in a Map, took 130.
 */
import { copyBytes, sameBytes } from './bytes.ts';
import { RowTable } from './row-table.ts';

const FIRST_ROW_BYTES = 256;
const HASHED_BYTES = 12;
/** Of a row: what stands for the key, u32, the length of the key, u32, and the key. */
const HEAD_BYTES = 8;

export class IdIndex {
  readonly #table = new RowTable();
  /** One behind the other. */
  #rows = new DataView(new ArrayBuffer(FIRST_ROW_BYTES));
  #rowBytes = 0;
  /** None at first. */
  #lastRow = -1;

  get size(): number {
    return this.#table.size;
  }

  /** What stands for the bytes from `start` to `end`, or undefined. */
  get(bytes: DataView, start: number, end: number): number | undefined {
    const last = this.#lastRow;
    const isLast = last >= 0 && this.#isKey(last, bytes, start, end);
    const row = isLast ? last : this.#find(bytes, start, end);
    if (row === undefined) return undefined;
    this.#lastRow = row;
    return this.#rows.getUint32(row);
  }

  /** Adds what stands for a key that is not in the index yet, 32 bits; answers the row of the key, which stays. */
  add(key: Buffer, value: number): number {
    const row = this.#rowBytes;
    const start = row + HEAD_BYTES;
    const end = start + key.length;
    if (end > this.#rows.byteLength) {
      const larger = new Uint8Array(2 * end);
      larger.set(new Uint8Array(this.#rows.buffer, 0, row));
      this.#rows = new DataView(larger.buffer);
    }
    this.#rows.setUint32(row, value);
    this.#rows.setUint32(row + 4, key.length);
    for (const [at, byte] of key.entries()) this.#rows.setUint8(start + at, byte);
    this.#rowBytes = end;
    this.#table.add(hashOf(this.#rows, start, end), row);
    return row;
  }

  /** Writes the key of a row so that it ends at `end`; answers where it begins. */
  writeBefore(into: DataView, end: number, row: number): number {
    this.#lastRow = row;
    const rows = this.#rows;
    const length = rows.getUint32(row + 4);
    const start = end - length;
    copyBytes(into, start, rows, row + HEAD_BYTES, length);
    return start;
  }

  /** The row of a key, or undefined. */
  #find(bytes: DataView, start: number, end: number): number | undefined {
    const hash = hashOf(bytes, start, end);
    for (let place = this.#table.first(hash); place >= 0; place = this.#table.next(hash, place)) {
      const row = this.#table.rowAt(place);
      if (this.#isKey(row, bytes, start, end)) return row;
    }
    return undefined;
  }

  #isKey(row: number, bytes: DataView, start: number, end: number): boolean {
    const length = end - start;
    return (
      this.#rows.getUint32(row + 4) === length &&
      sameBytes(this.#rows, row + HEAD_BYTES, bytes, start, length)
    );
  }
}

/** Never 0, which stands for a free place. */
function hashOf(bytes: DataView, start: number, end: number): number {
  let hash = end - start;
  for (let at = Math.max(start, end - HASHED_BYTES); at < end; at += 1) {
    hash = Math.imul(hash, 31) + bytes.getUint8(at);
  }
  // So that also the low bits, which are what a place is found by, come from all bytes.
  hash ^= hash >>> 15;
  return hash || 1;
}
