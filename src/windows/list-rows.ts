/**
 * What is known of each list of events as a whole, in a row of 128 bytes, one list's behind the other's. As objects,
 * whose times are objects too, they were four cache misses of an ingest into one of 100 000 services, and as many for
 * each service that a sweep came by.
 *
 *   word  what
 *   0     u32 first block, 0 for none; u32 last block
 *   1     f64 entries, expired ones that were not taken out yet among them
 *   2     f64 bytes of their details
 *   3     f64 earliest expiry in the list; a lower bound
 *   4     f64 latest expiry of what was taken out before it had expired; before all time where nothing was
 *   5     f64 entries appended so far
 *   6 …   whoever's list it is: commands/services.ts
 */
import { Rows } from './rows.ts';

export const ROW_BYTES = 128;

/** Of a row, in halves of words … */
export const FIRST = 0;
export const LAST = 1;
/** … and in words. */
export const SIZE = 1;
export const BYTES = 2;
export const EARLIEST_EXPIRY = 3;
export const TRUNCATED_UNTIL = 4;
export const APPENDED = 5;
/** From here to the end of a row is whatever else there is to know of whoever's list it is. */
export const FIRST_FREE_WORD = 6;

declare const brand: unique symbol;
/** One window's: the number of its row. */
export type EventList = number & { readonly [brand]: 'EventList' };

export class ListRows extends Rows<EventList> {
  constructor() {
    super(ROW_BYTES);
  }

  /** The row of an empty list. */
  override create(): EventList {
    const list = super.create();
    this.set(list, EARLIEST_EXPIRY, Number.POSITIVE_INFINITY);
    this.set(list, TRUNCATED_UNTIL, Number.NEGATIVE_INFINITY);
    return list;
  }

  /** Whether an entry of so many bytes leaves a list within its bounds. */
  hasRoom(list: EventList, bytes: number, maxSize: number, maxBytes: number): boolean {
    const { words } = this.spanOf(list);
    const row = this.wordOf(list);
    return (words[row + SIZE] ?? 0) < maxSize && (words[row + BYTES] ?? 0) + bytes <= maxBytes;
  }
}
