/** Texts of records where they stand: strings of msgpack, or null. */

export const NULL = 0xc0;

/** Of the buffer that was read last: nearly all read the same few, a live one the very same. */
let lastBytes: Buffer = Buffer.alloc(0);
let lastView: DataView = new DataView(new ArrayBuffer(0));

/**
 * All the memory that a buffer lies in, of which a buffer is a part: places in it count from its beginning. (To ask a buffer
 * for its memory is a call out of JavaScript.)
 */
export function memoryOf(bytes: Buffer): DataView {
  if (bytes === lastBytes) return lastView;
  lastBytes = bytes;
  const { buffer } = bytes;
  if (lastView.buffer !== buffer) lastView = new DataView(buffer);
  return lastView;
}

export function textOrNullAt(
  bytes: Buffer,
  at: number,
): { readonly text: string | null; readonly end: number } {
  if (bytes[at] === NULL) return { text: null, end: at + 1 };
  const view = memoryOf(bytes);
  const base = bytes.byteOffset;
  const end = endOfText(view, base + at) - base;
  return { text: bytes.toString('utf8', startOfText(view, base + at) - base, end), end };
}

export function startOfText(view: DataView, at: number): number {
  const head = view.getUint8(at);
  if ((head & 0xe0) === 0xa0) return at + 1;
  if (head === 0xd9) return at + 2;
  if (head === 0xda) return at + 3;
  if (head === 0xdb) return at + 5;
  throw new Error('a string was expected');
}

/** Of one that may be null. */
export function endOfText(view: DataView, at: number): number {
  const head = view.getUint8(at);
  if ((head & 0xe0) === 0xa0) return at + 1 + (head & 0x1f);
  if (head === 0xd9) return at + 2 + view.getUint8(at + 1);
  if (head === NULL) return at + 1;
  if (head === 0xda) return at + 3 + view.getUint16(at + 1);
  if (head === 0xdb) return at + 5 + view.getUint32(at + 1);
  throw new Error('a string was expected');
}
