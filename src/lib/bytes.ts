/** Few bytes, as ids and names are, handled through views: what Buffer has for them leaves JavaScript. */

/**
 * Of the buffer that was asked for last: nearly all who write an event write to the same one. Known by the buffer itself,
 * since to ask one for its memory is a call out of JavaScript.
 */
let lastBytes: Buffer = Buffer.alloc(0);
let lastView: DataView = new DataView(lastBytes.buffer);

/** The memory of a buffer, from its first byte on: numbers are read and written through it in a third of the time. */
export function viewOf(bytes: Buffer): DataView {
  if (lastBytes !== bytes) {
    lastBytes = bytes;
    lastView = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  return lastView;
}

/**
 * Copies `length` bytes from one memory to another, eight at a time: as doubles, which are moved as they are, a NaN too,
 * where a BigInt would be made of each eight.
 */
export function copyBytes(to: DataView, at: number, from: DataView, start: number, length: number): void {
  const last = length - 8;
  if (last < 0) {
    for (let done = 0; done < length; done += 1) to.setUint8(at + done, from.getUint8(start + done));
    return;
  }
  for (let done = 0; done < last; done += 8)
    to.setFloat64(at + done, from.getFloat64(start + done, true), true);
  // The last eight, some of them for the second time.
  to.setFloat64(at + last, from.getFloat64(start + last, true), true);
}

/** Whether `length` bytes are the same in both, four at a time; from the end, where ids and names differ. */
export function sameBytes(
  one: DataView,
  at: number,
  other: DataView,
  start: number,
  length: number,
): boolean {
  let left = length;
  while (left >= 4) {
    left -= 4;
    if (one.getInt32(at + left, true) !== other.getInt32(start + left, true)) return false;
  }
  while (left > 0) {
    left -= 1;
    if (one.getUint8(at + left) !== other.getUint8(start + left)) return false;
  }
  return true;
}
