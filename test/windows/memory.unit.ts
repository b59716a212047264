/** What has passed takes no memory: a server runs for months, and what it holds is what is live. */
import { describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/windows/arena.ts';
import { AgentHistory } from '../../src/windows/history.ts';
import { BLOCK_BYTES, HistoryBlocks } from '../../src/windows/history-blocks.ts';
import { HistoryRows } from '../../src/windows/history-rows.ts';
import { LiveEvents, type Window } from '../../src/windows/live-events.ts';
import { Names } from '../../src/windows/names.ts';

const START_MS = 1_760_000_000_000;
const MIB = 2 ** 20;

/** Windows over timers that fire when they are told to. */
class Timed {
  readonly watched = new Map<Chunk, number>();
  /** The highest number that a chunk ever had. */
  highestNumber = 0;
  readonly live: LiveEvents<Chunk>;

  constructor(maxEvents: number) {
    const schedule = (atMs: number, chunk: Chunk): Chunk => {
      this.highestNumber = Math.max(this.highestNumber, chunk.number);
      this.watched.set(chunk, atMs);
      return chunk;
    };
    const cancel = (chunk: Chunk): void => expect(this.watched.delete(chunk)).toBe(true);
    this.live = new LiveEvents({ schedule, cancel }, { maxEvents, maxBytes: 64 * MIB });
  }

  insert(window: Window, receivedAtMs: number, details: Buffer, ttlSeconds = 60): void {
    const times = { ttlSeconds, timestampMs: receivedAtMs, receivedAtMs };
    const place = { detailsStart: 0, detailsEnd: details.length };
    this.live.insert(window, { type: 0, confidence: 1, details, ...times, ...place });
  }

  turn(nowMs: number): void {
    for (const [chunk, atMs] of [...this.watched]) {
      if (atMs > nowMs) continue;
      this.watched.delete(chunk);
      this.live.reclaim(chunk, nowMs);
    }
    this.live.sweep(nowMs, Number.POSITIVE_INFINITY);
  }
}

describe('events that have expired', () => {
  it('leave nothing behind, however many have been', () => {
    const timed = new Timed(100_000);
    const window = timed.live.newWindow();
    const details = Buffer.alloc(20);
    for (let minute = 0; minute < 100; minute += 1) {
      for (let n = 0; n < 3000; n += 1) timed.insert(window, START_MS + minute * 60_000, details);
      timed.turn(START_MS + (minute + 1) * 60_000);
      expect(timed.live).toMatchObject({ held: 0, chunkCount: 0, blockCount: 0 });
    }
    expect(timed.highestNumber).toBeLessThan(10);
  });
});

describe('events that had to leave before', () => {
  it('give back what they filled alone, before anything expires', () => {
    const timed = new Timed(2);
    const window = timed.live.newWindow();
    const details = Buffer.alloc(40_000);
    for (let n = 0; n < 500; n += 1) timed.insert(window, START_MS + n, details);
    expect(timed.live).toMatchObject({ held: 2, chunkCount: 2, blockCount: 1 });
    expect(timed.watched.size).toBe(2);
    expect(timed.highestNumber).toBeLessThan(10);
  });
});

describe('a chunk that all events have left while it was still open', () => {
  const details = Buffer.alloc(20);

  it('is given back when the next of its kind is opened', () => {
    const timed = new Timed(1);
    const window = timed.live.newWindow();
    for (let round = 0; round < 100; round += 1) {
      timed.insert(window, START_MS + round * 10_000, details, 60);
      timed.insert(window, START_MS + round * 10_000, details, 6000);
      expect(timed.live.chunkCount).toBeLessThan(5);
    }
    expect(timed.watched.size).toBe(timed.live.chunkCount);
    expect(timed.highestNumber).toBeLessThan(10);
  });

  it('is given back when its time has come, and its number with it', () => {
    const timed = new Timed(1);
    const window = timed.live.newWindow();
    for (let round = 0; round < 100; round += 1) {
      const nowMs = START_MS + round * 200_000;
      timed.insert(window, nowMs, details, 60);
      timed.insert(window, nowMs, details, 100);
      timed.turn(nowMs + 150_000);
      expect(timed.live.chunkCount).toBe(0);
    }
    expect(timed.highestNumber).toBeLessThan(10);
  });
});

describe('a history', () => {
  it('takes no more where each event is in another segment of the log', () => {
    const names = new Names();
    const blocks = new HistoryBlocks();
    const history = new AgentHistory(1e9, new HistoryRows(blocks), names);
    const numbers = { service: names.numberOf('checkout-api'), vendor: names.numberOf('argocd') };
    for (let n = 1; n <= 300_000; n += 1) {
      names.hold(numbers.vendor);
      const place = { eventNumber: n, receivedAtMs: START_MS + n, position: n * 2 ** 32, index: 0 };
      history.append({ ...numbers, type: 0, ...place });
    }
    // 27 bytes each; a block each would be 150 MiB.
    expect(blocks.blockCount * BLOCK_BYTES).toBeLessThan(9 * MIB);
  });

  it('takes as much as what is within retention', () => {
    const retentionMs = 1000;
    const names = new Names();
    const blocks = new HistoryBlocks();
    const history = new AgentHistory(retentionMs, new HistoryRows(blocks), names);
    const numbers = { service: names.numberOf('checkout-api'), vendor: names.numberOf('argocd') };
    for (let n = 1; n <= 400_000; n += 1) {
      names.hold(numbers.vendor);
      const place = { eventNumber: n, receivedAtMs: START_MS + n, position: n, index: 0 };
      history.append({ ...numbers, type: 0, ...place });
    }
    expect(history.countWithin(retentionMs, START_MS + 400_000)).toBe(1000);
    // All together would be 10 MiB.
    expect(blocks.blockCount * BLOCK_BYTES).toBeLessThan(MIB / 16);
  });
});
