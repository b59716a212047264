/** Short texts that are looked for in bytes, compared four bytes at a time. */
export interface Word {
  readonly lengthBytes: number;
  /** Its first four bytes, as a little-endian number. */
  readonly first: number;
  /**
   * All of it so; of the last four, `lastMask` has what is not the word's as zero. An array of numbers: to look into one
   * takes less than into an Int32Array, which could have been taken back.
   */
  readonly quads: readonly number[];
  readonly lastMask: number;
}

/** @param text at least four bytes */
export function wordOf(text: string): Word {
  const bytes = Buffer.from(text);
  const padded = Buffer.concat([bytes, Buffer.alloc(3)]);
  const quads = Array.from({ length: Math.ceil(bytes.length / 4) }, (_, n) => padded.readInt32LE(4 * n));
  const lastMask = -1 >>> (8 * (4 * quads.length - bytes.length));
  return { lengthBytes: bytes.length, first: quads[0] ?? 0, quads, lastMask: lastMask | 0 };
}

/** Whether a word stands at `at`; up to three bytes behind it are read too. */
export function isWordAt(view: DataView, at: number, { quads, lastMask }: Word): boolean {
  const last = quads.length - 1;
  for (let n = 0; n < last; n += 1) {
    if (view.getInt32(at + 4 * n, true) !== quads[n]) return false;
  }
  return (view.getInt32(at + 4 * last, true) & lastMask) === quads[last];
}
