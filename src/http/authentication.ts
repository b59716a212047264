/** From an Authorization header to who is calling. */
import type { ApiKey, KeyKind } from '../domain/key.ts';
import { forbidden, type Rejection, unauthenticated } from '../domain/rejection.ts';
import { looksLikeApiKey, sha256Hex } from '../lib/secrets.ts';

/** Which keys a route accepts. */
export type KeyAccess = KeyKind | 'any-key';

export interface KeyDirectory {
  /** Keys that are good, by the lower-case hex of their SHA-256. */
  get(hash: string): ApiKey | undefined;
}

const NO_KEY = unauthenticated('an API key is required: Authorization: Bearer <API_KEY>');
const BAD_KEY = unauthenticated('the API key is not valid');
const WRONG_KIND: { readonly [K in KeyKind]: Rejection } = {
  ingest: forbidden('an ingest key is required'),
  'read-only': forbidden('a read-only key is required'),
};

const BEARER = /^bearer +(\S+)$/i;

/**
 * Looking a key up by its hash leaves no time to measure: whoever can make two hashes share a prefix
 * already knows the key.
 */
export function authenticate(
  authorization: string,
  access: KeyAccess,
  keys: KeyDirectory,
): ApiKey | Rejection {
  if (authorization === '') return NO_KEY;
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) return NO_KEY;
  if (!looksLikeApiKey(text)) return BAD_KEY;
  const key = keys.get(sha256Hex(text));
  if (key === undefined) return BAD_KEY;
  if (access !== 'any-key' && key.kind !== access) return WRONG_KIND[access];
  return key;
}
