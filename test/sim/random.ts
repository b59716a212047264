/** Chance that can be repeated: the same seed draws the same, on every machine. */

/** sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, a few additions a number. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Streams of one seed that have different names have nothing to do with one another. */
  constructor(seed: number, stream = '') {
    let name = 0x811c9dc5;
    for (const letter of stream) name = Math.imul(name ^ (letter.codePointAt(0) ?? 0), 0x01000193);
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = name;
    for (let n = 0; n < 12; n += 1) this.#next();
  }

  /** From 0 to just below 1. */
  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  /** From 0 to just below `count`. */
  below(count: number): number {
    return Math.floor(this.fraction() * count);
  }

  /** Both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** From 1 to `most`: a small number is as likely to be drawn as one of any other size. */
  ofAnySize(most: number): number {
    return Math.floor(Math.exp(this.fraction() * Math.log(most + 1)));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new RangeError('nothing to pick from');
    return value;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights);
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name as Name;
    }
    throw new RangeError('nothing to pick from');
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }
}
