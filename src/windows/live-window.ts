/**
 * The live events of one service.
 *
 * An event is in the window from its receipt until, exclusively, its expiry: readers compare times, whatever
 * the timers are doing. The timers only give memory back. At the bound the events received first leave, and
 * the window says so for as long as one that left would still have been live.
 *
 * Events stand in an array in the order of receipt. One that leaves is marked, and skipped until as many
 * are marked as not: then the array is made anew. So inserting, leaving and evicting cost O(1) amortised.
 */
import type { StateWindow, WindowEvent } from '../domain/window.ts';

/** What tells a window that an event has expired; implemented over the timer wheel. */
export interface ExpiryTimers<Handle> {
  schedule(expiresAtMs: number, held: HeldEvent<Handle>): Handle;
  cancel(handle: Handle): void;
}

export interface HeldEvent<Handle> {
  readonly window: LiveWindow<Handle>;
  readonly event: WindowEvent;
  /** Undefined only until it is set, once. */
  timer: Handle | undefined;
  left: boolean;
}

/** Below this an array is not worth making anew. */
const SMALL = 32;

export class LiveWindow<Handle> {
  readonly #timers: ExpiryTimers<Handle>;
  readonly #maxEvents: number;
  #events: HeldEvent<Handle>[] = [];
  /** Every event before this one has left. */
  #first = 0;
  #size = 0;
  /** No event expires before this; a lower bound. */
  #earliestExpiryMs = Number.POSITIVE_INFINITY;
  #truncatedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(timers: ExpiryTimers<Handle>, maxEvents: number) {
    this.#timers = timers;
    this.#maxEvents = maxEvents;
  }

  /** Events held, expired ones that were not reclaimed yet among them. */
  get size(): number {
    return this.#size;
  }

  insert(event: WindowEvent, receivedAtMs: number): void {
    if (this.#size >= this.#maxEvents) this.#makeRoom(receivedAtMs);
    const held: HeldEvent<Handle> = { window: this, event, timer: undefined, left: false };
    held.timer = this.#timers.schedule(event.expiresAtMs, held);
    this.#events.push(held);
    this.#size += 1;
    if (event.expiresAtMs < this.#earliestExpiryMs) this.#earliestExpiryMs = event.expiresAtMs;
  }

  /** Gives back the memory of an event whose timer has fired. */
  reclaim(held: HeldEvent<Handle>): void {
    this.#leave(held);
    this.#tidy();
  }

  /** Until when the window says that it is truncated; -Infinity where nothing ever left for want of room. */
  get truncatedUntilMs(): number {
    return this.#truncatedUntilMs;
  }

  /** Sets it as it was; for a window that is being restored. */
  set truncatedUntilMs(untilMs: number) {
    this.#truncatedUntilMs = untilMs;
  }

  /** Live events in the order of receipt. */
  live(nowMs: number): WindowEvent[] {
    return this.#held()
      .filter((held) => nowMs < held.event.expiresAtMs)
      .map((held) => held.event);
  }

  read(nowMs: number): StateWindow {
    // Of equal times the one received last comes first: it stands last, and sorting is stable.
    const events = this.live(nowMs)
      .reverse()
      .sort((a, b) => b.timestampMs - a.timestampMs);
    return { events, truncated: nowMs < this.#truncatedUntilMs };
  }

  /** Expired events go first, so that how late the timers are never decides which live event leaves. */
  #makeRoom(nowMs: number): void {
    if (this.#earliestExpiryMs <= nowMs) {
      this.#earliestExpiryMs = Number.POSITIVE_INFINITY;
      for (const held of this.#held()) {
        if (held.event.expiresAtMs <= nowMs) this.#dismiss(held);
        else this.#earliestExpiryMs = Math.min(this.#earliestExpiryMs, held.event.expiresAtMs);
      }
    }
    while (this.#size >= this.#maxEvents) {
      const oldest = this.#events[this.#first];
      if (oldest === undefined) throw new Error('a window that is full and holds nothing');
      if (oldest.left) {
        this.#first += 1;
        continue;
      }
      this.#dismiss(oldest);
      this.#truncatedUntilMs = Math.max(this.#truncatedUntilMs, oldest.event.expiresAtMs);
    }
    this.#tidy();
  }

  #held(): HeldEvent<Handle>[] {
    return this.#events.slice(this.#first).filter((held) => !held.left);
  }

  #dismiss(held: HeldEvent<Handle>): void {
    if (held.timer !== undefined) this.#timers.cancel(held.timer);
    this.#leave(held);
  }

  #leave(held: HeldEvent<Handle>): void {
    held.left = true;
    this.#size -= 1;
  }

  #tidy(): void {
    if (this.#events.length <= Math.max(SMALL, 2 * this.#size)) return;
    this.#events = this.#held();
    this.#first = 0;
  }
}
