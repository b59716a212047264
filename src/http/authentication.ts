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

/** Headers remembered. Only good ones are, so that nobody can drive out those of others by guessing. */
const MAX_REMEMBERED = 4096;

/**
 * Who calls, from the Authorization header. Looking a key up by its hash leaves no time to measure: whoever can make
 * two hashes share a prefix already knows the key.
 *
 * An agent sends the same header with every request: what it hashes to is remembered, in memory alone, which holds
 * every header that comes in for a while anyway. Whether the key of that hash is good is asked each time. Reading,
 * checking and hashing took 0.55 µs of an ingest; this takes 0.1.
 */
export class Authenticator {
  readonly #keys: KeyDirectory;
  readonly #hashes = new Map<string, string>();

  constructor(keys: KeyDirectory) {
    this.#keys = keys;
  }

  authenticate(authorization: string, access: KeyAccess): ApiKey | Rejection {
    const hash = this.#hashes.get(authorization);
    const key = hash === undefined ? this.#read(authorization) : this.#keys.get(hash);
    if (key === undefined) {
      this.#hashes.delete(authorization);
      return BAD_KEY;
    }
    if ('type' in key) return key;
    if (access !== 'any-key' && key.kind !== access) return WRONG_KIND[access];
    return key;
  }

  #read(authorization: string): ApiKey | Rejection | undefined {
    if (authorization === '') return NO_KEY;
    const text = BEARER.exec(authorization)?.[1];
    if (text === undefined) return NO_KEY;
    if (!looksLikeApiKey(text)) return BAD_KEY;
    const hash = sha256Hex(text);
    const key = this.#keys.get(hash);
    if (key === undefined) return BAD_KEY;
    if (this.#hashes.size >= MAX_REMEMBERED) this.#hashes.clear();
    this.#hashes.set(authorization, hash);
    return key;
  }
}
