/** Names as small numbers, counted: a name is listed while something uses it, and its number is used again. */
export class NameIndex {
  readonly #indexes = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #uses: number[] = [];
  readonly #free: number[] = [];

  /** Counts one more use of a name and answers its number. */
  add(name: string): number {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = this.#free.pop() ?? this.#names.length;
      this.#indexes.set(name, index);
      this.#names[index] = name;
      this.#uses[index] = 0;
    }
    this.#uses[index] = (this.#uses[index] ?? 0) + 1;
    return index;
  }

  /** Counts one use less. */
  remove(index: number): void {
    const uses = (this.#uses[index] ?? 0) - 1;
    this.#uses[index] = uses;
    if (uses > 0) return;
    this.#indexes.delete(this.#names[index] ?? '');
    this.#free.push(index);
  }

  indexOf(name: string): number | undefined {
    return this.#indexes.get(name);
  }

  /** The name of a number in use. */
  nameOf(index: number): string {
    return this.#names[index] ?? '';
  }

  /** The names in use, sorted by code unit. */
  names(): string[] {
    return [...this.#indexes.keys()].sort();
  }
}
