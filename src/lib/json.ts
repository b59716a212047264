/**
 * JSON from strangers. `JSON.parse` lets pass what would later mean something else than it said: of a key
 * given twice it keeps the last, `1e999` becomes Infinity, and escapes can spell half a surrogate pair, which
 * no UTF-8 can hold. All of that is refused here, so that what is read is what was meant.
 */
import { isUtf8 } from 'node:buffer';

export type JsonReading =
  | { readonly type: 'json'; readonly value: unknown; readonly text: string }
  | { readonly type: 'refused'; readonly detail: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads a body that must be JSON and nothing but JSON, `maxDepth` objects or arrays deep at most. */
export function readStrictJson(bytes: Buffer, maxDepth: number): JsonReading {
  const reading = readJson(bytes);
  if (reading.type === 'refused') return reading;
  // Valid UTF-8 holds no half pairs: only an escape can spell one.
  const census: Census = { strings: 0, mayBeIllFormed: reading.text.includes('\\u'), problem: undefined };
  take(census, reading.value, maxDepth);
  if (census.problem !== undefined) return refused(census.problem);
  // Every key and every string stands between two quotes. What was parsed holds fewer where a key was repeated.
  if (countStrings(bytes) !== census.strings) return refused('a key is repeated in an object of the JSON');
  return reading;
}

/** Reads a body that must parse as JSON; what it says is kept as it is. */
export function readJson(bytes: Buffer): JsonReading {
  if (!isUtf8(bytes)) return refused('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  try {
    return { type: 'json', value: JSON.parse(text), text };
  } catch (error) {
    return refused(`the body is not valid JSON${placeOf(error)}`);
  }
}

/** Where reading ended, if V8 says so: nothing of its sentence else, which quotes the body. */
function placeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return `, at character ${Number(position) + 1}`;
  return message.includes('end of JSON') ? ': it ends too early' : '';
}

function refused(detail: string): JsonReading {
  return { type: 'refused', detail };
}

/** Strings, keys among them, in valid JSON. */
function countStrings(bytes: Buffer): number {
  let quotes = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) quotes += 1;
    // Backslashes stand only in strings; what follows one is not the string's end.
    else if (byte === BACKSLASH) at += 1;
  }
  return quotes / 2;
}

interface Census {
  strings: number;
  readonly mayBeIllFormed: boolean;
  problem: string | undefined;
}

function take(census: Census, value: unknown, depthLeft: number): void {
  if (typeof value === 'string') {
    census.strings += 1;
    if (census.mayBeIllFormed && !value.isWellFormed()) {
      census.problem ??= 'a string of the JSON holds half a surrogate pair';
    }
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) census.problem ??= 'a number of the JSON is too large';
  } else if (typeof value === 'object' && value !== null) {
    if (depthLeft === 0) census.problem ??= 'the JSON is nested too deeply';
    else if (Array.isArray(value)) {
      for (const element of value) take(census, element, depthLeft - 1);
    } else takeObject(census, value, depthLeft);
  }
}

function takeObject(census: Census, object: object, depthLeft: number): void {
  const members = object as Readonly<Record<string, unknown>>;
  // What JSON.parse makes inherits nothing enumerable; Object.entries would allocate a pair for every member.
  for (const key in members) {
    take(census, key, depthLeft);
    take(census, members[key], depthLeft - 1);
  }
}
