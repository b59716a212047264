/** How long is waited before something is tried again: whoever looks on waits, and had better be told soon. */
export const WAITS = { baseMs: 500, maxMs: 8000 };
