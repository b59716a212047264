/**
 * The live events of all services: a window each, over one arena.
 *
 * An event is in its window from its receipt until, exclusively, its expiry: readers compare times, whatever
 * the timers are doing. The timers only give memory back. At the bound the events received first leave, and
 * the window says so for as long as one that left would still have been live.
 *
 * The events of a window are a list, linked through their records in the order of receipt.
 */
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { Arena, type Chunk, type EventRef, NO_EVENT } from './arena.ts';

/** Who looks at a chunk again when its events have expired; implemented over the timer wheel. */
export interface ChunkTimers<Handle> {
  schedule(atMs: number, chunk: Chunk): Handle;
  cancel(handle: Handle): void;
}

export interface NewEvent {
  readonly eventType: EventType;
  readonly ttlSeconds: number;
  readonly timestampMs: number;
  readonly receivedAtMs: number;
  readonly confidence: number;
  /** What else a window shows of an event, encoded: kept as it is. */
  readonly details: Buffer;
  readonly detailsStart: number;
  readonly detailsEnd: number;
}

export interface LiveEvent {
  readonly eventType: EventType;
  readonly timestampMs: number;
  readonly expiresAtMs: number;
  readonly confidence: number;
  /** Good until the event leaves: to be read at once. */
  readonly details: Buffer;
}

/** One service's part: a few numbers; an empty one costs nothing else. */
export interface Window {
  readonly number: number;
  oldest: EventRef;
  newest: EventRef;
  /** Events held, expired ones that were not reclaimed yet among them. */
  size: number;
  /** Of their details. */
  bytes: number;
  /** No event expires before this; a lower bound. */
  earliestExpiryMs: number;
  /** Until when it says that it is truncated. */
  truncatedUntilMs: number;
}

/** What a window holds at most. */
export interface WindowLimits {
  readonly maxEvents: number;
  /** Of details. */
  readonly maxBytes: number;
}

export class LiveEvents<Handle> {
  readonly #timers: ChunkTimers<Handle>;
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #windows: Window[] = [];
  readonly #handles = new Map<Chunk, Handle>();
  readonly #arena = new Arena({
    onOpened: (chunk) => this.#watch(chunk),
    onFreed: (chunk) => this.#unwatch(chunk),
  });
  #held = 0;
  /** Events whose memory was given back because they had expired, since the process began. */
  reclaimed = 0;
  /** Events that left before they expired, for their window held as many as it may. */
  truncated = 0;

  constructor(timers: ChunkTimers<Handle>, { maxEvents, maxBytes }: WindowLimits) {
    this.#timers = timers;
    this.#maxEvents = maxEvents;
    this.#maxBytes = maxBytes;
  }

  /** Events held, expired ones that were not reclaimed yet among them. */
  get held(): number {
    return this.#held;
  }

  /** Chunks of memory that events are in. */
  get chunks(): number {
    return this.#arena.chunkCount;
  }

  newWindow(): Window {
    const window: Window = {
      number: this.#windows.length,
      oldest: NO_EVENT,
      newest: NO_EVENT,
      size: 0,
      bytes: 0,
      earliestExpiryMs: Number.POSITIVE_INFINITY,
      truncatedUntilMs: Number.NEGATIVE_INFINITY,
    };
    this.#windows.push(window);
    return window;
  }

  insert(window: Window, event: NewEvent): void {
    const bytes = event.detailsEnd - event.detailsStart;
    if (!this.#hasRoom(window, bytes)) this.#makeRoom(window, bytes, event.receivedAtMs);
    const ttlMs = event.ttlSeconds * 1000;
    this.restore(window, event, ttlMs, event.receivedAtMs + ttlMs);
  }

  /** Inserts without looking at the bound: for a window that is put back as it was. */
  restore(
    window: Window,
    event: Omit<NewEvent, 'ttlSeconds' | 'receivedAtMs'>,
    ttlMs: number,
    expiresAtMs: number,
  ): void {
    const ref = this.#arena.add({
      window: window.number,
      eventType: EVENT_TYPES.indexOf(event.eventType),
      ttlMs,
      expiresAtMs,
      timestampMs: event.timestampMs,
      confidence: event.confidence,
      details: event.details,
      detailsStart: event.detailsStart,
      detailsEnd: event.detailsEnd,
    });
    if (window.newest === NO_EVENT) window.oldest = ref;
    else {
      this.#arena.setBefore(ref, window.newest);
      this.#arena.setAfter(window.newest, ref);
    }
    window.newest = ref;
    window.size += 1;
    window.bytes += event.detailsEnd - event.detailsStart;
    this.#held += 1;
    if (expiresAtMs < window.earliestExpiryMs) window.earliestExpiryMs = expiresAtMs;
  }

  /** Live events, the one received last first. */
  *live(window: Window, nowMs: number): Iterable<LiveEvent> {
    for (let ref = window.newest; ref !== NO_EVENT; ref = this.#arena.before(ref)) {
      const expiresAtMs = this.#arena.expiresAtMs(ref);
      if (nowMs >= expiresAtMs) continue;
      yield {
        eventType: EVENT_TYPES[this.#arena.eventType(ref)] ?? EVENT_TYPES[0],
        timestampMs: this.#arena.timestampMs(ref),
        expiresAtMs,
        confidence: this.#arena.confidence(ref),
        details: this.#arena.details(ref),
      };
    }
  }

  /** A timer has come: gives back the memory of a chunk if all in it has expired, or looks again later. */
  reclaim(chunk: Chunk, nowMs: number): void {
    this.#handles.delete(chunk);
    if (chunk.lastExpiryMs > nowMs) {
      this.#watch(chunk);
      return;
    }
    for (const ref of this.#arena.close(chunk)) {
      this.#leave(ref);
      this.reclaimed += 1;
    }
  }

  #hasRoom(window: Window, bytes: number): boolean {
    return window.size < this.#maxEvents && window.bytes + bytes <= this.#maxBytes;
  }

  /** Expired events go first, so that how late the timers are never decides which live event leaves. */
  #makeRoom(window: Window, bytes: number, nowMs: number): void {
    if (window.earliestExpiryMs <= nowMs) {
      window.earliestExpiryMs = Number.POSITIVE_INFINITY;
      let ref = window.oldest;
      while (ref !== NO_EVENT) {
        const after = this.#arena.after(ref);
        const expiresAtMs = this.#arena.expiresAtMs(ref);
        if (expiresAtMs <= nowMs) {
          this.#leave(ref);
          this.reclaimed += 1;
        } else if (expiresAtMs < window.earliestExpiryMs) window.earliestExpiryMs = expiresAtMs;
        ref = after;
      }
    }
    while (window.size > 0 && !this.#hasRoom(window, bytes)) {
      window.truncatedUntilMs = Math.max(window.truncatedUntilMs, this.#arena.expiresAtMs(window.oldest));
      this.#leave(window.oldest);
      this.truncated += 1;
    }
  }

  /** Takes an event out of its window's list. */
  #leave(ref: EventRef): void {
    const window = this.#windows[this.#arena.windowOf(ref)];
    if (window === undefined) throw new Error('an event of no window');
    const before = this.#arena.before(ref);
    const after = this.#arena.after(ref);
    if (before === NO_EVENT) window.oldest = after;
    else this.#arena.setAfter(before, after);
    if (after === NO_EVENT) window.newest = before;
    else this.#arena.setBefore(after, before);
    window.size -= 1;
    window.bytes -= this.#arena.details(ref).length;
    this.#held -= 1;
    this.#arena.leave(ref);
  }

  #watch(chunk: Chunk): void {
    this.#handles.set(chunk, this.#timers.schedule(chunk.lastExpiryMs, chunk));
  }

  #unwatch(chunk: Chunk): void {
    const handle = this.#handles.get(chunk);
    if (handle === undefined) return;
    this.#handles.delete(chunk);
    this.#timers.cancel(handle);
  }
}
