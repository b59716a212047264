const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const VALUES: ReadonlyMap<string, number> = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** A big-endian number in base 62, padded with zeros to `length` digits. */
export function toBase62(bytes: Uint8Array, length: number): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (; value > 0n; value /= 62n) text = (DIGITS[Number(value % 62n)] ?? '') + text;
  return text.padStart(length, '0');
}

/** The number that digits in base 62 spell; NaN where one is no digit. */
export function fromBase62(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 62 + (VALUES.get(digit) ?? Number.NaN);
  return value;
}
