/**
 * Answers about windows, kept while they hold: until an event is inserted, or the first of what is shown expires.
 * Expiry stays a fact: an answer is kept with the time until which it is true, and compared with the present
 * like the events themselves. Fifty events take 30 to 60 µs to write, and 0.3 to find here.
 *
 * Kept as bytes: of 15.6 µs to answer with 17 kB of text, 3 went into finding how long that is in UTF-8 and writing it so.
 * Bytes lie beside the heap, which is the smaller for it and collected the sooner: with an event before each of 10 000 reads,
 * no slower a read, 6 full collections for 3, and 40 MB less.
 */
import type { LiveEvents, Window } from '../windows/live-events.ts';

/** What all that are kept may take; one that takes more than its share is not kept. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_SHARE = 1 / 16;
/** What an answer takes beside its text: 460 to 570 bytes, of 60 000 short ones. */
const ENTRY_BYTES = 512;

/** What a window shows, from when until, exclusively, when. */
export interface WindowAnswer {
  /** UTF-8. */
  readonly json: Buffer;
  /** The window's count of insertions. */
  readonly inserted: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

export class WindowCache {
  /** The one used last is last. */
  readonly #kept = new Map<Window, WindowAnswer>();
  readonly #live: LiveEvents<unknown>;
  #bytes = 0;

  /** @param live whose windows these are */
  constructor(live: LiveEvents<unknown>) {
    this.#live = live;
  }

  find(window: Window, nowMs: number): Buffer | undefined {
    const kept = this.#kept.get(window);
    if (kept === undefined) return undefined;
    if (kept.inserted === this.#live.insertedInto(window) && nowMs >= kept.fromMs && nowMs < kept.untilMs) {
      this.#kept.delete(window);
      this.#kept.set(window, kept);
      return kept.json;
    }
    this.#forget(window, kept);
    return undefined;
  }

  keep(window: Window, answer: WindowAnswer): void {
    const bytes = bytesOf(answer);
    if (bytes > MAX_BYTES * MAX_SHARE) return;
    const before = this.#kept.get(window);
    if (before !== undefined) this.#forget(window, before);
    this.#kept.set(window, answer);
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#forget(oldest, kept);
    }
  }

  #forget(window: Window, kept: WindowAnswer): void {
    this.#kept.delete(window);
    this.#bytes -= bytesOf(kept);
  }
}

function bytesOf({ json }: WindowAnswer): number {
  return json.length + ENTRY_BYTES;
}
