/**
 * The live events of all services: a window each, over one arena.
 *
 * An event is in its window from its receipt until, exclusively, its expiry: readers compare times, whatever
 * the timers are doing. The timers only give memory back. At the bound the events received first leave, and
 * the window says so for as long as one that left would still have been live.
 *
 * Memory comes back in two steps. A chunk whose events have all expired is given back as a whole, at once, with
 * no look at its events: in one second a million of them are a few thousand steps. The lists still name those
 * events; a sweep round the windows takes them out, a bounded part of it at a time, and so does an insert at the
 * bound. Taken out one by one when their chunk expired, they cost four cache misses each, and stalls of 20 ms.
 */
import { Arena, type Chunk, type EventRef } from './arena.ts';
import { EventLists } from './event-lists.ts';
import { APPENDED, BYTES, type EventList, type ListRows, SIZE, TRUNCATED_UNTIL } from './list-rows.ts';

/** Who looks at a chunk again when its events have expired; implemented over the timer wheel. */
export interface ChunkTimers<Handle> {
  schedule(atMs: number, chunk: Chunk): Handle;
  cancel(handle: Handle): void;
}

export interface NewEvent {
  /** Its place among the event types. */
  readonly type: number;
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
  /** Its place among the event types. */
  readonly type: number;
  readonly timestampMs: number;
  readonly expiresAtMs: number;
  readonly confidence: number;
  /** Good until the event leaves: to be read at once. */
  readonly details: Buffer;
}

/** One service's part: a few numbers; an empty one costs nothing else. */
export type Window = EventList;

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
  readonly #lists = new EventLists();
  readonly #arena = new Arena({
    onOpened: (chunk) => this.#watch(chunk),
    onFreed: (chunk) => this.#unwatch(chunk),
  });
  readonly #leave = (ref: EventRef): void => {
    this.#held -= 1;
    this.#arena.leave(ref);
  };
  readonly #expire = (ref: EventRef): void => {
    this.reclaimed += 1;
    this.#leave(ref);
  };
  #held = 0;
  /** The window that is swept next. */
  #cursor = 0;
  /** Events that left because they had expired, since the process began. */
  reclaimed = 0;
  /** Events that left before they expired, for their window held as many as it may. */
  truncated = 0;

  constructor(timers: ChunkTimers<Handle>, { maxEvents, maxBytes }: WindowLimits) {
    this.#timers = timers;
    this.#maxEvents = maxEvents;
    this.#maxBytes = maxBytes;
  }

  /** Events listed, expired ones that were not taken out yet among them. */
  get held(): number {
    return this.#held;
  }

  /** Those listed whose memory has been given back already. */
  get stale(): number {
    return this.#arena.stale;
  }

  /** Of windows: what is theirs, and room for what else there is to know of whoever has one. */
  get rows(): ListRows {
    return this.#lists.rows;
  }

  /** Blocks of lists that hold events. */
  get blockCount(): number {
    return this.#lists.blockCount;
  }

  /** Chunks of events that have memory. */
  get chunkCount(): number {
    return this.#arena.chunkCount;
  }

  newWindow(): Window {
    const window = this.#lists.rows.create();
    this.#windows.push(window);
    return window;
  }

  /** Until when a window says that it is truncated. */
  truncatedUntilMs(window: Window): number {
    return this.#lists.rows.get(window, TRUNCATED_UNTIL);
  }

  /** Says so of a window that is put back as it was. */
  truncate(window: Window, untilMs: number): void {
    this.#lists.rows.set(window, TRUNCATED_UNTIL, untilMs);
  }

  /** Events listed of a window, expired ones that were not taken out yet among them. */
  sizeOf(window: Window): number {
    return this.#lists.rows.get(window, SIZE);
  }

  /** Of their details. */
  bytesOf(window: Window): number {
    return this.#lists.rows.get(window, BYTES);
  }

  /** Events inserted so far: while it stands still, only time changes what the window shows. */
  insertedInto(window: Window): number {
    return this.#lists.rows.get(window, APPENDED);
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
    this.#lists.append(window, {
      ref: this.#arena.add(event, ttlMs, expiresAtMs),
      type: event.type,
      detailsBytes: event.detailsEnd - event.detailsStart,
      expiresAtMs,
    });
    this.#held += 1;
  }

  /** Live events, the one received last first. */
  *live(window: Window, nowMs: number): Iterable<LiveEvent> {
    for (const { ref, type, detailsBytes, expiresAtMs } of this.#lists.live(window, nowMs).reverse()) {
      yield {
        type,
        timestampMs: this.#arena.timestampMs(ref),
        expiresAtMs,
        confidence: this.#arena.confidence(ref),
        details: this.#arena.details(ref, detailsBytes),
      };
    }
  }

  /** A timer has come: gives back the memory of a chunk if all in it has expired, or looks again later. */
  reclaim(chunk: Chunk, nowMs: number): void {
    this.#handles.delete(chunk);
    if (chunk.lastExpiryMs > nowMs) this.#watch(chunk);
    else this.#arena.expire(chunk);
  }

  /**
   * Goes round the windows and takes out of their lists what has expired, until nothing stale is left or `limit`
   * windows and blocks of lists have been looked at; true where nothing stale is left.
   */
  sweep(nowMs: number, limit: number): boolean {
    let left = limit;
    for (let windows = this.#windows.length; windows > 0 && left > 0 && this.stale > 0; windows -= 1) {
      if (this.#cursor >= this.#windows.length) this.#cursor = 0;
      const window = this.#windows[this.#cursor];
      this.#cursor += 1;
      left -= 1;
      if (window !== undefined) left -= this.#lists.takeExpired(window, nowMs, this.#expire);
    }
    return this.stale === 0;
  }

  #hasRoom(window: Window, bytes: number): boolean {
    return this.#lists.rows.hasRoom(window, bytes, this.#maxEvents, this.#maxBytes);
  }

  /** Expired events go first, so that how late the timers are never decides which live event leaves. */
  #makeRoom(window: Window, bytes: number, nowMs: number): void {
    this.#lists.takeExpired(window, nowMs, this.#expire);
    while (this.sizeOf(window) > 0 && !this.#hasRoom(window, bytes)) {
      this.#lists.takeOldest(window, this.#leave);
      this.truncated += 1;
    }
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
