/**
 * Rows by the hashes of their keys. Open addressing with linear probing, at most half full; beside each place the hash, so
 * that a row of another hash is passed without a look at its key. Nothing is taken out.
 *
 *     for (let place = table.first(hash); place >= 0; place = table.next(hash, place)) …  table.rowAt(place)
 */
const FIRST_PLACES = 16;
/** Of a place: the hash and the row, both in one cache line. */
const FIELDS = 2;

export class RowTable {
  #places = new Int32Array(FIELDS * FIRST_PLACES);
  /** Less one, the number of places. */
  #mask = FIRST_PLACES - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param hash signed, 32 bits; not 0, which stands for a free place */
  add(hash: number, row: number): void {
    this.#size += 1;
    if (2 * this.#size > this.#mask + 1) this.#grow();
    this.#occupy(hash, row);
  }

  /** The place of the first row of a hash, or -1. */
  first(hash: number): number {
    return this.#find(hash, hash & this.#mask);
  }

  /** The place of the next one of the same hash, or -1. */
  next(hash: number, place: number): number {
    return this.#find(hash, (place + 1) & this.#mask);
  }

  rowAt(place: number): number {
    return this.#places[FIELDS * place + 1] ?? 0;
  }

  #find(hash: number, from: number): number {
    const places = this.#places;
    for (let place = from; ; place = (place + 1) & this.#mask) {
      const known = places[FIELDS * place];
      if (known === hash) return place;
      if (known === 0) return -1;
    }
  }

  #occupy(hash: number, row: number): void {
    let place = hash & this.#mask;
    while (this.#places[FIELDS * place] !== 0) place = (place + 1) & this.#mask;
    this.#places[FIELDS * place] = hash;
    this.#places[FIELDS * place + 1] = row;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(2 * before.length);
    this.#mask = this.#places.length / FIELDS - 1;
    for (let at = 0; at < before.length; at += FIELDS) {
      if (before[at] !== 0) this.#occupy(before[at] ?? 0, before[at + 1] ?? 0);
    }
  }
}
