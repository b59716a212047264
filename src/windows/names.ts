/**
 * Names as numbers, one set for all histories of a tenant: a history counts numbers, and to find the one of a service takes no
 * look at its name. A number stays while anybody holds it, and is then given to another name. A service holds its own for
 * good; that of a vendor is held for each entry of a history, by who appends it.
 */
export class Names {
  readonly #texts: string[] = [];
  readonly #holders: number[] = [];
  readonly #free: number[] = [];
  readonly #numbers = new Map<string, number>();

  /** The number of a name; one that it is given now is to be held. */
  numberOf(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#texts.length;
    this.#texts[number] = text;
    this.#holders[number] = 0;
    this.#numbers.set(text, number);
    return number;
  }

  /** The number of a name, if it has one. */
  find(text: string): number | undefined {
    return this.#numbers.get(text);
  }

  /** The name of a number that is held. */
  textOf(number: number): string {
    return this.#texts[number] ?? '';
  }

  hold(number: number): void {
    this.#holders[number] = (this.#holders[number] ?? 0) + 1;
  }

  letGo(number: number): void {
    const holders = (this.#holders[number] ?? 0) - 1;
    this.#holders[number] = holders;
    if (holders > 0) return;
    this.#numbers.delete(this.textOf(number));
    this.#texts[number] = '';
    this.#free.push(number);
  }
}
