import { type AllowEntry, parseAllowEntry } from '../../src/outbound/allow-entry.ts';

/** Entries of `--outbound-allow` that must be readable. */
export function entries(...texts: readonly string[]): AllowEntry[] {
  return texts.map((text) => {
    const reading = parseAllowEntry(text);
    if (reading.type === 'refused') throw new Error(`${text}: ${reading.detail}`);
    return reading.entry;
  });
}
