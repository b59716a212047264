import { describe, expect, it } from 'vitest';
import { WindowCache } from '../../src/queries/window-cache.ts';
import { LiveEvents, type Window } from '../../src/windows/live-events.ts';

const live = new LiveEvents({ schedule: () => null, cancel: () => {} }, { maxEvents: 10, maxBytes: 1000 });

const ANSWER = Buffer.from('answer');
/** The longest that is kept, with what it takes besides. */
const LONGEST = 1024 * 1024 - 512;

function insertInto(window: Window): void {
  const details = Buffer.from('details');
  const event = {
    type: 0,
    ttlSeconds: 1,
    timestampMs: 0,
    receivedAtMs: 0,
    confidence: 1,
  } as const;
  live.insert(window, { ...event, details, detailsStart: 0, detailsEnd: details.length });
}

describe('an answer about a window', () => {
  it('holds from when it was made until, exclusively, the first of it expires', () => {
    const cache = new WindowCache(live);
    const window = live.newWindow();
    cache.keep(window, { json: ANSWER, inserted: 0, fromMs: 100, untilMs: 200 });
    expect(cache.find(window, 100)).toBe(ANSWER);
    expect(cache.find(window, 199)).toBe(ANSWER);
    expect(cache.find(window, 200)).toBeUndefined();
    cache.keep(window, { json: ANSWER, inserted: 0, fromMs: 100, untilMs: 200 });
    expect(cache.find(window, 99)).toBeUndefined();
  });

  it('holds no longer when an event has come', () => {
    const cache = new WindowCache(live);
    const [window, other] = [live.newWindow(), live.newWindow()];
    for (const each of [window, other])
      cache.keep(each, { json: ANSWER, inserted: 0, fromMs: 0, untilMs: 1000 });
    insertInto(window);
    expect(cache.find(window, 1)).toBeUndefined();
    expect(cache.find(other, 1)).toBe(ANSWER);
  });

  it('that took its time holds only where no event has come since it was begun', () => {
    const cache = new WindowCache(live);
    const window = live.newWindow();
    insertInto(window);
    cache.keep(window, { json: ANSWER, inserted: 0, fromMs: 0, untilMs: 1000 });
    expect(cache.find(window, 1)).toBeUndefined();
  });

  it('takes the place of one that was kept before it', () => {
    const cache = new WindowCache(live);
    const window = live.newWindow();
    const json = Buffer.alloc(LONGEST, 'x');
    for (let n = 0; n < 100; n += 1) cache.keep(window, { json, inserted: 0, fromMs: 0, untilMs: 1000 });
    const other = live.newWindow();
    cache.keep(other, { json, inserted: 0, fromMs: 0, untilMs: 1000 });
    expect([cache.find(window, 1), cache.find(other, 1)]).toEqual([json, json]);
  });

  it('is kept while it is used, and the memory of all is bounded', () => {
    const cache = new WindowCache(live);
    const windows = Array.from({ length: 40 }, () => live.newWindow());
    const json = Buffer.alloc(LONGEST, 'x');
    for (const window of windows) {
      cache.keep(window, { json, inserted: 0, fromMs: 0, untilMs: 1000 });
      expect(cache.find(windows[0] ?? window, 1)).toBe(json);
    }
    const kept = windows.filter((window) => cache.find(window, 1) !== undefined);
    expect(kept).toEqual([windows[0], ...windows.slice(-15)]);
    // What does not hold any more takes no room either.
    for (const window of kept) expect(cache.find(window, 1000)).toBeUndefined();
    for (const window of windows.slice(0, 16))
      cache.keep(window, { json, inserted: 0, fromMs: 0, untilMs: 1000 });
    expect(windows.filter((window) => cache.find(window, 1) !== undefined)).toEqual(windows.slice(0, 16));
  });

  it('counts for more than its text, which may be short', () => {
    const cache = new WindowCache(live);
    const windows = Array.from({ length: 70_000 }, () => live.newWindow());
    for (const window of windows) cache.keep(window, { json: ANSWER, inserted: 0, fromMs: 0, untilMs: 1000 });
    const kept = windows.filter((window) => cache.find(window, 1) !== undefined);
    // Of 16 MiB, each takes some five hundred bytes.
    expect(kept.length * 500).toBeLessThan(16 * 1024 * 1024);
    expect(kept.length * 600).toBeGreaterThan(16 * 1024 * 1024);
  });

  it('that is very long is not kept: it would push out all others', () => {
    const cache = new WindowCache(live);
    const window = live.newWindow();
    cache.keep(window, { json: Buffer.alloc(LONGEST + 1, 'x'), inserted: 0, fromMs: 0, untilMs: 1000 });
    expect(cache.find(window, 1)).toBeUndefined();
  });
});
