/**
 * A reader of plain JSON in bytes. What it takes means what JSON.parse would make of it; what it does not take may
 * be JSON all the same.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const ZERO = 0x30;
const POINT = 0x2e;

const NULL_BYTES = Buffer.from('null');

/** What the letter after a backslash stands for; `\u` is not plain. */
const ESCAPES = new Uint8Array(256);
for (const [letter, meaning] of ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t']) {
  ESCAPES[letter?.charCodeAt(0) ?? 0] = meaning?.charCodeAt(0) ?? 0;
}

/** Digits that a double holds exactly, as it does the powers of ten that they are divided by. */
const MAX_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, power) => 10 ** power);

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** `2026-01-31T12:00:00Z`, and what stands before the Z where it has milliseconds. */
const TIME_LENGTH = 20;
const LONG_TIME_LENGTH = 24;

export class JsonBytes {
  bytes: Buffer = Buffer.alloc(0);
  /** Texts that had escapes, without them. */
  unescaped: Buffer = Buffer.allocUnsafeSlow(16 * 1024);
  #unescapedLength = 0;
  at = 0;
  /** Of all bytes of texts: 128 or more where not all are ASCII. */
  seenBits = 0;
  /** Where the text that was taken last stands … */
  textStart = 0;
  textEnd = 0;
  /** … in `unescaped`, or else in `bytes`. */
  isTextUnescaped = false;

  begin(bytes: Buffer, at: number): void {
    this.bytes = bytes;
    this.at = at;
    this.seenBits = 0;
    this.#unescapedLength = 0;
  }

  get next(): number {
    return this.bytes[this.at] ?? 0;
  }

  get following(): number {
    return this.bytes[this.at + 1] ?? 0;
  }

  skipSpace(): void {
    if (this.next <= 0x20) this.at = afterSpace(this.bytes, this.at);
  }

  /** Takes a byte, space before it being let be. */
  take(byte: number): boolean {
    if (this.next !== byte) {
      this.skipSpace();
      if (this.next !== byte) return false;
    }
    this.at += 1;
    return true;
  }

  takeBytes(wanted: Buffer): boolean {
    const { bytes, at } = this;
    for (let index = 0; index < wanted.length; index += 1) {
      if (bytes[at + index] !== wanted[index]) return false;
    }
    this.at = at + wanted.length;
    return true;
  }

  takeNull(): boolean {
    return this.next === 0x6e && this.takeBytes(NULL_BYTES);
  }

  takeText(): boolean {
    const { bytes } = this;
    if (bytes[this.at] !== QUOTE) return false;
    let at = this.at + 1;
    this.textStart = at;
    this.isTextUnescaped = false;
    let bits = 0;
    for (;;) {
      // Past the end is 0: a byte that no text holds.
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) break;
      if (byte < FIRST_PRINTABLE) return false;
      if (byte === BACKSLASH) return this.#takeEscaped(at);
      bits |= byte;
      at += 1;
    }
    this.seenBits |= bits;
    this.textEnd = at;
    this.at = at + 1;
    return true;
  }

  /** Goes on with a text from its first escape, copying it. */
  #takeEscaped(firstEscape: number): boolean {
    const { bytes, textStart } = this;
    const quote = endOfText(bytes, firstEscape);
    if (quote === -1) return false;
    const to = this.#roomFor(quote - textStart);
    let out = this.#unescapedLength;
    const start = out;
    for (let at = textStart; at < quote; at += 1) {
      let byte = bytes[at] ?? 0;
      if (byte < FIRST_PRINTABLE) return false;
      if (byte === BACKSLASH) {
        at += 1;
        byte = ESCAPES[bytes[at] ?? 0] ?? 0;
        if (byte === 0) return false;
      }
      this.seenBits |= byte;
      to[out++] = byte;
    }
    this.#unescapedLength = out;
    this.isTextUnescaped = true;
    this.textStart = start;
    this.textEnd = out;
    this.at = quote + 1;
    return true;
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.#unescapedLength + bytes;
    if (needed > this.unescaped.length) {
      const grown = Buffer.allocUnsafeSlow(2 * needed);
      this.unescaped.copy(grown, 0, 0, this.#unescapedLength);
      this.unescaped = grown;
    }
    return this.unescaped;
  }

  /** A whole number from 1 of nine digits at most; NaN where there is none. */
  natural(): number {
    const start = this.at;
    const value = this.#digits(9);
    return this.bytes[start] === ZERO ? Number.NaN : value;
  }

  /** A number below ten with or without a point, `0.95`; NaN where there is none. */
  fraction(): number {
    const whole = this.#digits(1);
    if (this.next !== POINT) return whole;
    this.at += 1;
    const start = this.at;
    const part = this.#digits(MAX_DIGITS - 1);
    const power = POWERS_OF_TEN[this.at - start] ?? Number.NaN;
    // One rounding, of a quotient of two numbers that are exact: what JSON.parse gives.
    return (whole * power + part) / power;
  }

  #digits(most: number): number {
    const start = this.at;
    let value = 0;
    for (; this.at - start < most; this.at += 1) {
      const digit = this.next - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    return this.at === start ? Number.NaN : value;
  }

  /** A text that is a time in UTC, in seconds or milliseconds: since the epoch; NaN where it is not. */
  utcTime(): number {
    if (!this.takeText() || this.isTextUnescaped) return Number.NaN;
    const { textStart: at, bytes } = this;
    const length = this.textEnd - at;
    if (length !== TIME_LENGTH && length !== LONG_TIME_LENGTH) return Number.NaN;
    const isShaped =
      bytes[at + 4] === 0x2d &&
      bytes[at + 7] === 0x2d &&
      bytes[at + 10] === 0x54 &&
      bytes[at + 13] === 0x3a &&
      bytes[at + 16] === 0x3a &&
      bytes[at + length - 1] === 0x5a &&
      (length === TIME_LENGTH || bytes[at + 19] === POINT);
    if (!isShaped) return Number.NaN;
    const year = 100 * this.#pair(at) + this.#pair(at + 2);
    const month = this.#pair(at + 5);
    const day = this.#pair(at + 8);
    const hour = this.#pair(at + 11);
    const minute = this.#pair(at + 14);
    const second = this.#pair(at + 17);
    const milliseconds = length === TIME_LENGTH ? 0 : 10 * this.#pair(at + 20) + this.#digit(at + 22);
    // Date.UTC takes years below 100 for others, and days that a month has not for those of the next.
    const isDate = year >= 1000 && day >= 1 && day <= (DAYS[month - 1] ?? 0);
    if (!isDate || !(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
    return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  }

  /** NaN where they are no digits. */
  #pair(at: number): number {
    return 10 * this.#digit(at) + this.#digit(at + 1);
  }

  #digit(at: number): number {
    const digit = (this.bytes[at] ?? 0) - ZERO;
    return digit >= 0 && digit <= 9 ? digit : Number.NaN;
  }
}

/** The first byte from `from` on that is not JSON's white space. */
export function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return at;
}

/** The quote that ends a text, looked for from an escape on; -1 where none does. */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}
