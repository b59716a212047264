/**
 * The id of a request, told in every answer and beside what went wrong: 24 hex digits, cut from a pool of random ones,
 * since the kernel's generator costs a microsecond a call, and turning bytes into digits a tenth of one.
 */
import { copyBytes } from '../lib/bytes.ts';
import type { Entropy } from '../lib/entropy.ts';

const POOL_BYTES = 8192;
export const REQUEST_ID_DIGITS = 24;

/** Made a text where one is asked for, which most requests do without. */
export class RequestId {
  readonly #digits: DataView;
  readonly #at: number;

  constructor(digits: DataView, at: number) {
    this.#digits = digits;
    this.#at = at;
  }

  /** Writes its digits at `at`. */
  writeTo(view: DataView, at: number): void {
    copyBytes(view, at, this.#digits, this.#at, REQUEST_ID_DIGITS);
  }

  toString(): string {
    return Buffer.from(this.#digits.buffer, this.#at, REQUEST_ID_DIGITS).toString('latin1');
  }
}

/** Ids that say nothing of how many there were: every caller sees its own. */
export function requestIds(entropy: Entropy): () => RequestId {
  let digits = new DataView(new ArrayBuffer(0));
  let at = 0;
  return () => {
    if (at + REQUEST_ID_DIGITS > digits.byteLength) {
      const text = Buffer.from(entropy.bytes(POOL_BYTES)).toString('hex');
      digits = new DataView(new Uint8Array(Buffer.from(text)).buffer);
      at = 0;
    }
    at += REQUEST_ID_DIGITS;
    return new RequestId(digits, at - REQUEST_ID_DIGITS);
  };
}
