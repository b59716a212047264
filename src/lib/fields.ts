/** The fields of an array, taken one after the other, each checked to be what it must be. */
export class Fields {
  readonly #values: readonly unknown[];
  #next = 0;

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  text(): string {
    const value = this.#take();
    if (typeof value !== 'string') throw this.#wrong('text');
    return value;
  }

  textOrNull(): string | null {
    const value = this.#take();
    if (value !== null && typeof value !== 'string') throw this.#wrong('text or null');
    return value;
  }

  number(): number {
    const value = this.#take();
    if (typeof value !== 'number') throw this.#wrong('a number');
    return value;
  }

  numberOrNull(): number | null {
    const value = this.#take();
    if (value !== null && typeof value !== 'number') throw this.#wrong('a number or null');
    return value;
  }

  bytes(): Buffer {
    const value = this.#take();
    if (!Buffer.isBuffer(value)) throw this.#wrong('bytes');
    return value;
  }

  member<T extends string>(members: readonly T[]): T {
    const member = members[this.number()];
    if (member === undefined) throw this.#wrong(`an index into ${members.join(', ')}`);
    return member;
  }

  list<T>(read: (fields: Fields) => T): T[] {
    const value = this.#take();
    if (!Array.isArray(value)) throw this.#wrong('a list');
    return value.map((element: unknown) => read(this.#fieldsOf(element)));
  }

  /** A value that was written as JSON text by the one who reads it here: its type is what was written. */
  json<T>(): T {
    return JSON.parse(this.text()) as T;
  }

  jsonOrNull<T>(): T | null {
    const text = this.textOrNull();
    return text === null ? null : (JSON.parse(text) as T);
  }

  /** What has not been taken: arrays, as fields of their own. */
  rest(): Fields[] {
    return this.#values.slice(this.#next).map((value) => this.#fieldsOf(value));
  }

  #fieldsOf(value: unknown): Fields {
    if (!Array.isArray(value)) throw this.#wrong('a list of arrays');
    return new Fields(value);
  }

  #take(): unknown {
    const value = this.#values[this.#next++];
    return value === undefined ? null : value;
  }

  #wrong(expected: string): Error {
    return new Error(`field ${this.#next - 1} should be ${expected}`);
  }
}
