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
  const seen: Census = { strings: 0, problem: undefined };
  take(seen, reading.value, maxDepth);
  if (seen.problem !== undefined) return refused(seen.problem);
  // Every key and every string stands between two quotes. What was parsed holds fewer where a key was repeated.
  if (countStrings(bytes) !== seen.strings) return refused('a key is repeated in an object of the JSON');
  return reading;
}

/** Reads a body that must parse as JSON; what it says is kept as it is. */
export function readJson(bytes: Buffer): JsonReading {
  if (!isUtf8(bytes)) return refused('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  try {
    return { type: 'json', value: JSON.parse(text), text };
  } catch {
    return refused('the body is not valid JSON');
  }
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
  problem: string | undefined;
}

function take(seen: Census, value: unknown, depthLeft: number): void {
  if (typeof value === 'string') {
    seen.strings += 1;
    if (!value.isWellFormed()) seen.problem ??= 'a string of the JSON holds half a surrogate pair';
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) seen.problem ??= 'a number of the JSON is too large';
  } else if (typeof value === 'object' && value !== null) {
    if (depthLeft === 0) {
      seen.problem ??= 'the JSON is nested too deeply';
      return;
    }
    if (Array.isArray(value)) {
      for (const element of value) take(seen, element, depthLeft - 1);
      return;
    }
    for (const [key, member] of Object.entries(value)) {
      take(seen, key, depthLeft);
      take(seen, member, depthLeft - 1);
    }
  }
}
