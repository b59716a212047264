/** The schemas that the API's description names, each once: documentation, tests and clients share them. */
import { z } from 'zod';

export const components = z.registry<{ readonly id: string }>();

/** Gives a schema its name in the description. */
export function component<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  components.add(schema, { id });
  return schema;
}

/** ISO 8601 in UTC, with milliseconds. */
export const time = z.iso.datetime();
export const count = z.int().nonnegative();
export const textOrNull = z.string().nullable();
