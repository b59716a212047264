/**
 * Copies `length` bytes from one memory to another, eight at a time: as doubles, which are moved as they are, a NaN too,
 * where a BigInt would be made of each eight. For what is short, as ids and names are: Buffer's `copy` leaves JavaScript.
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
