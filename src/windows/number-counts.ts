/**
 * How often each of some numbers is used. Made for many of its kind that hold a few each: all of one lies in one array,
 * and in none of typed numbers, each of which is three objects, and memory beside them.
 *
 * Open addressing with linear probing, at most three quarters full; what is taken out leaves no mark, for what stands
 * behind it moves up (Knuth, The Art of Computer Programming 6.4, algorithm R).
 */
import { systemEntropy } from '../lib/entropy.ts';

const FIRST_PLACES = 4;

/**
 * Multiplicative hashing. By a number that nobody knows: who can choose what is counted could otherwise have it all
 * stand in one row, and each look take microseconds. No answer depends on it.
 */
const MULTIPLIER = Buffer.from(systemEntropy.bytes(4)).readUInt32LE() | 1;

export class NumberCounts {
  /** Of each place: one more than the number, 0 where it is free; its count. */
  #places: number[] = new Array<number>(2 * FIRST_PLACES).fill(0);
  /** Less one, the number of places; and what a hash is shifted by to be one of them. */
  #mask = FIRST_PLACES - 1;
  #shift = Math.clz32(FIRST_PLACES) + 1;
  #size = 0;

  /** Counts one more use of a number from 0 to 2^31 - 2. */
  add(number: number): void {
    const at = 2 * this.#placeOf(number);
    const places = this.#places;
    if (places[at] === 0) this.#insert(number, 1);
    else places[at + 1] = (places[at + 1] ?? 0) + 1;
  }

  /** Counts one use less of a number in use. */
  remove(number: number): void {
    const place = this.#placeOf(number);
    const places = this.#places;
    const count = (places[2 * place + 1] ?? 0) - 1;
    places[2 * place + 1] = count;
    if (count > 0) return;
    this.#size -= 1;
    this.#close(place);
  }

  has(number: number): boolean {
    return this.#places[2 * this.#placeOf(number)] !== 0;
  }

  /** Those in use, in no order. */
  numbers(): number[] {
    const numbers: number[] = [];
    for (let at = 0; at < this.#places.length; at += 2) {
      const known = this.#places[at] ?? 0;
      if (known !== 0) numbers.push(known - 1);
    }
    return numbers;
  }

  /** Where a number is, or would be. */
  #placeOf(number: number): number {
    const places = this.#places;
    for (let place = this.#homeOf(number); ; place = (place + 1) & this.#mask) {
      const known = places[2 * place];
      if (known === number + 1 || known === 0) return place;
    }
  }

  #homeOf(number: number): number {
    return Math.imul(number, MULTIPLIER) >>> this.#shift;
  }

  #insert(number: number, count: number): void {
    if (4 * (this.#size + 1) > 3 * (this.#mask + 1)) this.#grow();
    this.#occupy(number, count);
    this.#size += 1;
  }

  #occupy(number: number, count: number): void {
    const at = 2 * this.#placeOf(number);
    this.#places[at] = number + 1;
    this.#places[at + 1] = count;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Array<number>(2 * before.length).fill(0);
    this.#mask = 2 * this.#mask + 1;
    this.#shift -= 1;
    for (let at = 0; at < before.length; at += 2) {
      const known = before[at] ?? 0;
      if (known !== 0) this.#occupy(known - 1, before[at + 1] ?? 0);
    }
  }

  /** Frees a place, into which whatever is found by way of it moves. */
  #close(freed: number): void {
    const places = this.#places;
    let gap = freed;
    for (let place = (gap + 1) & this.#mask; places[2 * place] !== 0; place = (place + 1) & this.#mask) {
      const home = this.#homeOf((places[2 * place] ?? 0) - 1);
      // One whose way from its home to here does not lead over the gap stays.
      if (((place - home) & this.#mask) < ((place - gap) & this.#mask)) continue;
      places[2 * gap] = places[2 * place] ?? 0;
      places[2 * gap + 1] = places[2 * place + 1] ?? 0;
      gap = place;
    }
    places[2 * gap] = 0;
    places[2 * gap + 1] = 0;
  }
}
