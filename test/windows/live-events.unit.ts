/** What becomes of the memory of live events, step by step. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type Chunk, MAX_DETAILS_BYTES } from '../../src/windows/arena.ts';
import { LiveEvents, type Window } from '../../src/windows/live-events.ts';

const START_MS = 1_760_000_000_000;

/** The chunks that are watched, and until when. */
const watched = new Map<Chunk, number>();
const timers = {
  schedule: (atMs: number, chunk: Chunk): Chunk => {
    watched.set(chunk, atMs);
    return chunk;
  },
  cancel: (chunk: Chunk): void => {
    expect(watched.delete(chunk)).toBe(true);
  },
};

let live: LiveEvents<Chunk>;

beforeEach(() => {
  watched.clear();
  live = new LiveEvents(timers, { maxEvents: 1000, maxBytes: 1_000_000 });
});

function insert(window: Window, receivedAtMs: number, ttlSeconds = 60, detailsBytes = 10): void {
  live.insert(window, {
    type: 0,
    ttlSeconds,
    timestampMs: receivedAtMs,
    receivedAtMs,
    confidence: 1,
    details: Buffer.alloc(detailsBytes),
    detailsStart: 0,
    detailsEnd: detailsBytes,
  });
}

/** Fires what is due, as the timers would. */
function fire(nowMs: number): void {
  for (const [chunk, atMs] of [...watched]) {
    if (atMs > nowMs) continue;
    watched.delete(chunk);
    live.reclaim(chunk, nowMs);
  }
}

describe('the memory of a chunk', () => {
  it('is kept until the last event in it has expired, and then comes back at once', () => {
    const window = live.newWindow();
    insert(window, START_MS);
    insert(window, START_MS + 900);
    // It was watched for its first event; now it is seen that another lives on.
    fire(START_MS + 60_000);
    expect([...watched.values()]).toEqual([START_MS + 60_900]);
    expect([...live.live(window, START_MS + 60_899)]).toHaveLength(1);
    fire(START_MS + 60_899);
    expect(live.chunkCount).toBe(1);
    fire(START_MS + 60_900);
    expect({ chunks: live.chunkCount, stale: live.stale, held: live.held }).toEqual({
      chunks: 0,
      stale: 2,
      held: 2,
    });
    expect(watched.size).toBe(0);
  });

  it('is shared by events that expire within an eighth of their time to live, and by no others', () => {
    const window = live.newWindow();
    insert(window, START_MS, 80);
    insert(window, START_MS + 10_000, 80);
    expect(live.chunkCount).toBe(1);
    insert(window, START_MS + 10_001, 80);
    expect(live.chunkCount).toBe(2);
    // Of another class: an event that lives longer would keep all the others' memory.
    insert(window, START_MS + 10_001, 90);
    expect(live.chunkCount).toBe(3);
  });

  it('is shared within a second, however short their time to live', () => {
    const window = live.newWindow();
    insert(window, START_MS, 1);
    insert(window, START_MS + 1000, 1);
    expect(live.chunkCount).toBe(1);
    insert(window, START_MS + 1001, 1);
    expect(live.chunkCount).toBe(2);
  });

  it('takes an event that fills it to the last word', () => {
    const window = live.newWindow();
    insert(window, START_MS, 60, MAX_DETAILS_BYTES);
    expect(live.chunkCount).toBe(1);
    insert(window, START_MS, 60, MAX_DETAILS_BYTES / 2 - 8);
    insert(window, START_MS, 60, MAX_DETAILS_BYTES / 2 - 8);
    expect(live.chunkCount).toBe(2);
    expect(() => insert(window, START_MS, 60, MAX_DETAILS_BYTES + 1)).toThrow(
      `${MAX_DETAILS_BYTES + 1} bytes`,
    );
  });
});

describe('a sweep', () => {
  it('takes out what has expired, a bounded part of it at a time, and counts it', () => {
    const windows = Array.from({ length: 10 }, () => live.newWindow());
    for (const window of windows) insert(window, START_MS);
    fire(START_MS + 60_000);
    expect(live.stale).toBe(10);
    // A window and the one block of its list: two steps.
    expect(live.sweep(START_MS + 60_000, 6)).toBe(false);
    expect({ stale: live.stale, reclaimed: live.reclaimed }).toEqual({ stale: 7, reclaimed: 3 });
    expect(live.sweep(START_MS + 60_000, 2)).toBe(false);
    expect(live.stale).toBe(6);
    expect(live.sweep(START_MS + 60_000, 1000)).toBe(true);
    expect({ held: live.held, reclaimed: live.reclaimed }).toEqual({ held: 0, reclaimed: 10 });
  });

  it('looks at nothing where nothing is stale', () => {
    const window = live.newWindow();
    insert(window, START_MS);
    expect(live.sweep(START_MS + 60_000, 100)).toBe(true);
    expect(live.held).toBe(1);
  });

  it('goes round: what came after it began is swept in the next round', () => {
    const windows = [live.newWindow(), live.newWindow()];
    for (const startMs of [START_MS, START_MS + 120_000]) {
      for (const window of windows) insert(window, startMs);
      fire(startMs + 60_000);
      while (!live.sweep(startMs + 60_000, 2));
      expect(live.held).toBe(0);
    }
  });
});

describe('what a window counts', () => {
  it('is what was inserted, and what left before it had expired', () => {
    live = new LiveEvents(timers, { maxEvents: 3, maxBytes: 1_000_000 });
    const window = live.newWindow();
    for (let n = 0; n < 5; n += 1) insert(window, START_MS + n, 60 - n);
    expect({ inserted: live.insertedInto(window), truncated: live.truncated, held: live.held }).toEqual({
      inserted: 5,
      truncated: 2,
      held: 3,
    });
    // It says so for as long as one that left would still have been live.
    expect(live.truncatedUntilMs(window)).toBe(START_MS + 60_000);
  });
});
