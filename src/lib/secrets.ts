/**
 * Secrets that Foreshock gives out.
 *
 * An API key is `fsk_ing_` or `fsk_ro_`, 32 random bytes in base 62 (43 digits), and the CRC-32 of all that
 * in base 62 (6 digits): the layout of GitHub's tokens, which secret scanners recognise. The check part
 * refuses a mistyped key before any hash is computed.
 */
import { createHash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { fromBase62, toBase62 } from './base62.ts';
import type { Entropy } from './entropy.ts';

const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECK_DIGITS = 6;
const API_KEY = /^fsk_(?:ing|ro)_[0-9A-Za-z]{49}$/;

export type KeyPrefix = 'fsk_ing_' | 'fsk_ro_';

export function newApiKey(prefix: KeyPrefix, entropy: Entropy): string {
  const body = prefix + toBase62(entropy.bytes(SECRET_BYTES), SECRET_DIGITS);
  return body + checkPart(body);
}

/** Whether the text can be a key at all: its form and its check part, not whether anybody holds it. */
export function looksLikeApiKey(text: string): boolean {
  if (!API_KEY.test(text)) return false;
  const body = text.slice(0, -CHECK_DIGITS);
  return fromBase62(text.slice(-CHECK_DIGITS)) === crc32(body);
}

/** Lower-case hex. A fast hash is right for a secret of 256 random bits: there is nothing to guess. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

/** A webhook token: 32 random bytes in base 62. */
/** Half a SHA-256, lower-case hex, of a body and what it is taken for: nobody finds another that has the same. */
export function fingerprintOf(kind: string, body: Buffer): string {
  return createHash('sha256').update(`${kind}\n`).update(body).digest('hex').slice(0, 32);
}

export function newWebhookToken(entropy: Entropy): string {
  return toBase62(entropy.bytes(SECRET_BYTES), SECRET_DIGITS);
}

function checkPart(body: string): string {
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return toBase62(check, CHECK_DIGITS);
}
