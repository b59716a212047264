/**
 * Strings that are read from bytes over and over: names and ids. A string found here costs no allocation, and its
 * hash is computed already, which every map that it is looked up in wants.
 *
 * Direct-mapped: a text has one place, and whoever comes last has it. What was asked for is compared as bytes, four at a
 * time, with those that the string was read from: against its characters that took three times as long.
 */
import { copyBytes, sameBytes } from './bytes.ts';

/** Of a place: the length of its text in bytes, u8, and the bytes. */
const ROW_BYTES = 64;
const LONGEST = ROW_BYTES - 1;

/** The text of `length` bytes from `start` on. */
export type Decode = (view: DataView, start: number, length: number) => string;

export class TextCache {
  readonly #decode: Decode;
  readonly #texts: string[];
  /** One after the other. */
  readonly #rows: DataView;
  readonly #mask: number;

  /** @param places a power of two */
  constructor(places: number, decode: Decode) {
    this.#decode = decode;
    this.#texts = new Array<string>(places).fill('');
    this.#rows = new DataView(new ArrayBuffer(places * ROW_BYTES));
    this.#mask = places - 1;
  }

  /** The text whose bytes stand from `start` to `end`. */
  read(view: DataView, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST) return this.#decode(view, start, length);
    const place = hashOf(view, start, end) & this.#mask;
    const row = place * ROW_BYTES;
    const isKnown =
      this.#rows.getUint8(row) === length && sameBytes(this.#rows, row + 1, view, start, length);
    if (isKnown) return this.#texts[place] ?? '';
    const text = this.#decode(view, start, length);
    this.#texts[place] = text;
    this.#rows.setUint8(row, length);
    copyBytes(this.#rows, row + 1, view, start, length);
    return text;
  }
}

export function utf8Text(view: DataView, start: number, length: number): string {
  return Buffer.from(view.buffer, view.byteOffset + start, length).toString();
}

/** Names differ at their ends, ids everywhere. */
function hashOf(view: DataView, start: number, end: number): number {
  let hash = end - start;
  if (hash >= 8)
    hash = Math.imul(hash ^ view.getInt32(end - 8, true), 0x2c1b3c6d) ^ view.getInt32(end - 4, true);
  else for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + view.getUint8(at);
  hash = Math.imul(hash, 0x2c1b3c6d);
  // So that the low bits, which are what a place is found by, come from all bytes.
  return hash ^ (hash >>> 16);
}
