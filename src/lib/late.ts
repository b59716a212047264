/** A value that is there later than those who will use it. */
export class Late<T> {
  #value: T | undefined;

  set(value: T): void {
    this.#value = value;
  }

  get isSet(): boolean {
    return this.#value !== undefined;
  }

  /** @throws Error before it is set, which its users must rule out */
  get value(): T {
    if (this.#value === undefined) throw new Error('used before it was there');
    return this.#value;
  }
}
