/** Where a record starts: its segment's ordinal and its offset there, packed into one safe integer. */

declare const brand: unique symbol;
export type LogPosition = number & { readonly [brand]: 'LogPosition' };

const OFFSET_SPAN = 2 ** 32;

/** Segments stay below this, so that an offset fits its 32 bits. */
export const MAX_SEGMENT_BYTES = 2 ** 32 - 1;

export function positionAt(ordinal: number, offset: number): LogPosition {
  return (ordinal * OFFSET_SPAN + offset) as LogPosition;
}

export function ordinalAt(position: LogPosition): number {
  return Math.floor(position / OFFSET_SPAN);
}

export function offsetAt(position: LogPosition): number {
  return position % OFFSET_SPAN;
}
