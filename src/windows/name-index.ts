/**
 * Names as small numbers, counted: a name is listed while something uses it, and its number is used again.
 *
 * Most agents see a few names, and there may be as many agents as there are services: a map is made only where
 * names have become too many to be looked through, which saves 500 bytes and four cache misses an event.
 */
const MAX_LOOKED_THROUGH = 8;

export class NameIndex {
  /** The names by their numbers; one that is not used has undefined in its place. */
  readonly #names: (string | undefined)[] = [];
  readonly #uses: number[] = [];
  readonly #free: number[] = [];
  #indexes: Map<string, number> | undefined;

  /** Counts one more use of a name and answers its number. */
  add(name: string): number {
    const index = this.indexOf(name) ?? this.#take(name);
    this.#uses[index] = (this.#uses[index] ?? 0) + 1;
    return index;
  }

  /** Counts one use less. */
  remove(index: number): void {
    const uses = (this.#uses[index] ?? 0) - 1;
    this.#uses[index] = uses;
    if (uses > 0) return;
    this.#indexes?.delete(this.#names[index] ?? '');
    this.#names[index] = undefined;
    this.#free.push(index);
  }

  indexOf(name: string): number | undefined {
    if (this.#indexes !== undefined) return this.#indexes.get(name);
    const index = this.#names.indexOf(name);
    return index === -1 ? undefined : index;
  }

  /** The name of a number in use. */
  nameOf(index: number): string {
    return this.#names[index] ?? '';
  }

  /** The names in use, sorted by code unit. */
  names(): string[] {
    return this.#names.filter((name) => name !== undefined).sort();
  }

  #take(name: string): number {
    const index = this.#free.pop() ?? this.#names.length;
    this.#names[index] = name;
    this.#uses[index] = 0;
    if (this.#indexes !== undefined) this.#indexes.set(name, index);
    else if (this.#names.length > MAX_LOOKED_THROUGH) this.#indexes = this.#mapped();
    return index;
  }

  #mapped(): Map<string, number> {
    const indexes = new Map<string, number>();
    for (const [index, name] of this.#names.entries()) if (name !== undefined) indexes.set(name, index);
    return indexes;
  }
}
