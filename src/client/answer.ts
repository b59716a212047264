/**
 * What an answer must have to be taken for one: that it is JSON, and the fields that callers build on. The server holds
 * its answers to the schemas; here it is enough that a wrong address is a clear error, and not an `undefined` inside the
 * next request. What a newer server adds is kept.
 */

/** Reads an object with these fields. */
export function object<Answer extends object>(
  ...fields: readonly (keyof Answer & string)[]
): (body: string) => Answer {
  return (body) => {
    const value: Answer = JSON.parse(body);
    expectFields(value, fields);
    return value;
  };
}

/** Reads an array of objects with these fields. */
export function list<Entry extends object>(
  ...fields: readonly (keyof Entry & string)[]
): (body: string) => readonly Entry[] {
  return (body) => {
    const value: readonly Entry[] = JSON.parse(body);
    if (!Array.isArray(value)) throw new Error('no array');
    for (const entry of value) expectFields(entry, fields);
    return value;
  };
}

export function nothing(): void {}

export function text(body: string): string {
  return body;
}

function expectFields(value: object, fields: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
  for (const field of fields) if (!Object.hasOwn(value, field)) throw new Error(`no ${field}`);
}
