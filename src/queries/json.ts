/** Pieces of the JSON that answers are put together from. */

/** ISO 8601 in UTC, with milliseconds. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** A JSON object's text without its closing brace: what is appended to it completes it. */
export function openObject(fields: object): string {
  return JSON.stringify(fields).slice(0, -1);
}

/** Completes an `openObject` that has fields already. */
export function closeObject(open: string, fields: object): string {
  return `${open},${JSON.stringify(fields).slice(1)}`;
}
