const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A big-endian number in base 62, padded with zeros to `length` digits. */
export function toBase62(bytes: Uint8Array, length: number): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (; value > 0n; value /= 62n) text = (DIGITS[Number(value % 62n)] ?? '') + text;
  return text.padStart(length, '0');
}

/** The same of a safe integer: a key's check part is computed on every request. */
export function numberToBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = (DIGITS[rest % 62] ?? '') + text;
  return text.padStart(length, '0');
}
