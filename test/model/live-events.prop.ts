/** The windows of services, over the memory they share, equal lists that are filtered on every look. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { type TimerHandle, TimerWheel } from '../../src/timers/wheel.ts';
import { Arena, type Chunk, type EventRef, MAX_DETAILS_BYTES } from '../../src/windows/arena.ts';
import {
  type ChunkTimers,
  LiveEvents,
  type Window,
  type WindowLimits,
} from '../../src/windows/live-events.ts';

const START_MS = 1_760_000_000_000;
const DAY_MS = 86_400_000;
const YEAR_SECONDS = 365 * 24 * 3600;
const CHUNK_BYTES = 64 * 1024;
/** What an event takes beside its details. */
const HEAD_BYTES = 16;

interface Event {
  readonly type: number;
  readonly timestampMs: number;
  readonly expiresAtMs: number;
  readonly confidence: number;
  readonly details: Buffer;
}

interface Look {
  /** The one received last first. */
  readonly events: readonly Event[];
  readonly truncated: boolean;
}

/** What a window receives: all of it, in order. */
class ListOfEvents {
  readonly #limits: WindowLimits;
  #held: Event[] = [];
  readonly #evicted: Event[] = [];

  constructor(limits: WindowLimits) {
    this.#limits = limits;
  }

  insert(event: Event, nowMs: number): void {
    this.#held = this.#held.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
    while (this.#held.length > 0 && this.#isFull(event)) this.#evicted.push(...this.#held.splice(0, 1));
    this.#held.push(event);
  }

  look(nowMs: number): Look {
    const isLive = ({ expiresAtMs }: Event): boolean => nowMs < expiresAtMs;
    return { events: this.#held.filter(isLive).reverse(), truncated: this.#evicted.some(isLive) };
  }

  #isFull(event: Event): boolean {
    const bytes = [...this.#held, event].reduce((sum, { details }) => sum + details.length, 0);
    return this.#held.length >= this.#limits.maxEvents || bytes > this.#limits.maxBytes;
  }
}

/** Timers in a list, of which those fire that are told to, in any order, however late. */
class UnorderedTimers implements ChunkTimers<number> {
  #made = 0;
  readonly waiting = new Map<number, { readonly atMs: number; readonly chunk: Chunk }>();

  schedule(atMs: number, chunk: Chunk): number {
    this.#made += 1;
    this.waiting.set(this.#made, { atMs, chunk });
    return this.#made;
  }

  /** Only what waits can be cancelled: what has fired, or was cancelled, is nobody's any more. */
  cancel(handle: number): void {
    expect(this.waiting.delete(handle)).toBe(true);
  }

  /** Takes one of the timers that are due, whichever. */
  take(nowMs: number, pick: number): Chunk | undefined {
    const due = [...this.waiting].filter(([, { atMs }]) => atMs <= nowMs);
    const [handle, timer] = due[pick % Math.max(1, due.length)] ?? [];
    if (handle !== undefined) this.waiting.delete(handle);
    return timer?.chunk;
  }

  /** Nobody is watched twice. */
  get chunks(): Chunk[] {
    const chunks = [...this.waiting.values()].map(({ chunk }) => chunk);
    expect(new Set(chunks).size).toBe(chunks.length);
    return chunks;
  }
}

type Step =
  | {
      readonly type: 'insert';
      readonly window: number;
      readonly ttlSeconds: number;
      readonly timestampMs: number;
      readonly kind: number;
      readonly detailsBytes: number;
      /** As many of them, one after the other. */
      readonly times: number;
    }
  | { readonly type: 'wait'; readonly forMs: number }
  | { readonly type: 'fire'; readonly picks: readonly number[] };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('insert' as const),
      window: fc.nat(2),
      ttlSeconds: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(1, 2, 3, 60, 3600) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: YEAR_SECONDS }) },
        { weight: 1, arbitrary: fc.constant(YEAR_SECONDS) },
      ),
      timestampMs: fc.oneof(fc.constantFrom(-1, 0, START_MS, START_MS + 1), fc.maxSafeInteger()),
      kind: fc.nat(EVENT_TYPES.length - 1),
      detailsBytes: fc.oneof(
        { weight: 16, arbitrary: fc.nat(200) },
        // Some to a chunk, one to a chunk, and the largest that fit one.
        { weight: 2, arbitrary: fc.constantFrom(0, 1, 7, 8, 9, 20_000, 32_767, 32_768, 40_000) },
        { weight: 1, arbitrary: fc.integer({ min: MAX_DETAILS_BYTES - 9, max: MAX_DETAILS_BYTES }) },
      ),
      times: fc.oneof({ weight: 8, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(40) }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      forMs: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(0, 1, 999, 1000, 2000, 60_000) },
        { weight: 2, arbitrary: fc.nat(100_000) },
        { weight: 1, arbitrary: fc.constantFrom(3_600_000, DAY_MS, 100 * DAY_MS, 400 * DAY_MS) },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('fire' as const),
      picks: fc.array(fc.nat(), { maxLength: 20, size: 'max' }),
    }),
  },
);

const steps = fc.array(step, { maxLength: 120, size: 'max' });
const limits: fc.Arbitrary<WindowLimits> = fc.record({
  maxEvents: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(33, 40, 10_000, 10_000)),
  maxBytes: fc.constantFrom(1, 50, 300, 2000, 70_000, 8 * 1024 * 1024, 8 * 1024 * 1024),
});

type Insert = Extract<Step, { type: 'insert' }>;

/** Bytes that stand at no edge of a buffer, each event's different. */
function detailsOf({ detailsBytes }: Insert, n: number): Buffer {
  return Buffer.alloc(detailsBytes, `${n} `);
}

function eventOf(step: Insert, nowMs: number, n: number): Event {
  return {
    type: step.kind,
    timestampMs: step.timestampMs,
    expiresAtMs: nowMs + step.ttlSeconds * 1000,
    confidence: 1 / (n + 1),
    details: detailsOf(step, n),
  };
}

/** Windows and their lists side by side. */
class Pairs<Handle> {
  readonly live: LiveEvents<Handle>;
  readonly #limits: WindowLimits;
  readonly #pairs: readonly { readonly window: Window; readonly list: ListOfEvents }[];
  #inserted = 0;

  constructor(timers: ChunkTimers<Handle>, limits: WindowLimits, lists?: readonly ListOfEvents[]) {
    this.#limits = limits;
    this.live = new LiveEvents(timers, limits);
    this.#pairs = [0, 1, 2].map((n) => ({
      window: this.live.newWindow(),
      list: lists?.[n] ?? new ListOfEvents(limits),
    }));
  }

  /** The same windows, made anew of what they show; the lists know nothing of it. */
  restoredOver<Other>(timers: ChunkTimers<Other>, nowMs: number): Pairs<Other> {
    const lists = this.#pairs.map(({ list }) => list);
    const restored = new Pairs(timers, this.#limits, lists);
    for (const [n, { window }] of restored.#pairs.entries()) {
      const from = this.#pairs[n]?.window;
      if (from === undefined) throw new Error('a window without its like');
      restored.live.truncate(window, this.live.truncatedUntilMs(from));
      for (const event of this.look(from, nowMs).events.toReversed()) {
        const place = { detailsStart: 0, detailsEnd: event.details.length };
        restored.live.restore(window, { ...event, ...place }, event.expiresAtMs - nowMs, event.expiresAtMs);
      }
    }
    return restored;
  }

  insert(step: Insert, nowMs: number): void {
    const pair = this.#pairs[step.window];
    if (pair === undefined) throw new Error('no such window');
    for (let time = 0; time < step.times; time += 1) {
      this.#inserted += 1;
      const event = eventOf(step, nowMs, this.#inserted);
      const before = Buffer.from('before');
      this.live.insert(pair.window, {
        ...event,
        type: step.kind,
        ttlSeconds: step.ttlSeconds,
        receivedAtMs: nowMs,
        details: Buffer.concat([before, event.details, Buffer.from('after')]),
        detailsStart: before.length,
        detailsEnd: before.length + event.details.length,
      });
      pair.list.insert(event, nowMs);
    }
  }

  check(nowMs: number): void {
    for (const { window, list } of this.#pairs) {
      const look = this.look(window, nowMs);
      const expected = list.look(nowMs);
      if (!isDeepStrictEqual(look, expected)) expect(look).toEqual(expected);
      const { maxEvents, maxBytes } = this.#limits;
      expect(this.live.sizeOf(window)).toBeLessThanOrEqual(maxEvents);
      if (this.live.sizeOf(window) > 1) expect(this.live.bytesOf(window)).toBeLessThanOrEqual(maxBytes);
    }
    expect(this.live.held).toBe(this.#pairs.reduce((sum, { window }) => sum + this.live.sizeOf(window), 0));
  }

  /** Nothing is left of anything. */
  checkEmpty(nowMs: number): void {
    this.check(nowMs);
    expect(this.live.held).toBe(0);
    for (const { window } of this.#pairs)
      expect([this.live.sizeOf(window), this.live.bytesOf(window)]).toEqual([0, 0]);
    expect(this.live.blockCount).toBe(0);
    expect(this.live.chunkCount).toBe(0);
  }

  look(window: Window, nowMs: number): Look {
    const events = [...this.live.live(window, nowMs)].map((event) => ({
      ...event,
      details: Buffer.from(event.details),
    }));
    return { events, truncated: nowMs < this.live.truncatedUntilMs(window) };
  }
}

describe('windows equal lists', () => {
  it('whichever of the timers that are due fire, in any order, and however late', () => {
    fc.assert(
      fc.property(limits, steps, fc.integer({ min: 1, max: 8 }), (max, script, every) => {
        const timers = new UnorderedTimers();
        const pairs = new Pairs(timers, max);
        let nowMs = START_MS;
        const fire = (pick: number): boolean => {
          const chunk = timers.take(nowMs, pick);
          if (chunk !== undefined) pairs.live.reclaim(chunk, nowMs);
          return chunk !== undefined;
        };
        for (const [n, each] of script.entries()) {
          if (each.type === 'insert') pairs.insert(each, nowMs);
          if (each.type === 'wait') nowMs += each.forMs;
          if (each.type === 'fire') {
            for (const pick of each.picks) fire(pick);
            pairs.live.sweep(nowMs, each.picks.length);
          }
          if (n % every === 0) pairs.check(nowMs);
          // What is held stands in a chunk that a timer will come for, or is to be swept out.
          const awaited = timers.chunks.reduce((sum, { held }) => sum + held, 0);
          expect(awaited + pairs.live.stale).toBe(pairs.live.held);
        }
        pairs.check(nowMs);
        nowMs += 2 * YEAR_SECONDS * 1000;
        pairs.check(nowMs);
        while (fire(script.length));
        while (!pairs.live.sweep(nowMs, 2));
        pairs.checkEmpty(nowMs);
        expect(timers.waiting.size).toBe(0);
      }),
      { numRuns: 400 },
    );
  });

  it('with the timer wheel, advanced in slices of any size', () => {
    fc.assert(
      fc.property(limits, steps, (max, script) => {
        const wheel = new TimerWheel<Chunk>(0);
        const pairs = new Pairs<TimerHandle>(
          {
            schedule: (atMs, chunk) => wheel.schedule(atMs, chunk),
            cancel: (handle) => expect(wheel.cancel(handle)).toBe(true),
          },
          max,
        );
        let nowMs = START_MS;
        const advance = (limit: number) =>
          wheel.advance(nowMs, (chunk) => pairs.live.reclaim(chunk, nowMs), limit);
        for (const each of script) {
          if (each.type === 'insert') pairs.insert(each, nowMs);
          if (each.type === 'wait') nowMs += each.forMs;
          if (each.type === 'fire') {
            advance(each.picks.length);
            pairs.live.sweep(nowMs, each.picks.length);
          }
          pairs.check(nowMs);
        }
        nowMs += 2 * YEAR_SECONDS * 1000;
        while (!advance(7));
        while (!pairs.live.sweep(nowMs, 7));
        pairs.checkEmpty(nowMs);
        expect(wheel.size).toBe(0);
      }),
      { numRuns: 250 },
    );
  });

  it('with no timer ever: what a window may hold is all that it keeps from the others', () => {
    const never: ChunkTimers<null> = { schedule: () => null, cancel: () => {} };
    fc.assert(
      fc.property(limits, steps, (max, script) => {
        const pairs = new Pairs(never, max);
        let nowMs = START_MS;
        for (const each of script) {
          if (each.type === 'insert') pairs.insert(each, nowMs);
          if (each.type === 'wait') nowMs += each.forMs;
          if (each.type !== 'fire') pairs.check(nowMs);
        }
      }),
      { numRuns: 250 },
    );
  });

  it('that were put back, event by event, as a checkpoint does', () => {
    fc.assert(
      fc.property(limits, steps, steps, (max, script, more) => {
        const pairs = new Pairs(new UnorderedTimers(), max);
        let nowMs = START_MS;
        for (const each of script) {
          if (each.type === 'insert') pairs.insert(each, nowMs);
          if (each.type === 'wait') nowMs += each.forMs;
        }
        const timers = new UnorderedTimers();
        const restored = pairs.restoredOver(timers, nowMs);
        for (const each of more) {
          if (each.type === 'insert') restored.insert(each, nowMs);
          if (each.type === 'wait') nowMs += each.forMs;
          if (each.type === 'fire') {
            for (const pick of each.picks) {
              const chunk = timers.take(nowMs, pick);
              if (chunk !== undefined) restored.live.reclaim(chunk, nowMs);
            }
          }
          restored.check(nowMs);
        }
      }),
      { numRuns: 250 },
    );
  });
});

describe('the memory of events', () => {
  interface Held {
    readonly ref: EventRef;
    readonly details: Buffer;
  }

  it('is in as many chunks as what is held needs, and all of it comes back', () => {
    fc.assert(
      fc.property(steps, (script) => {
        const open = new Set<Chunk>();
        const arena = new Arena({
          onOpened: (chunk) => open.add(chunk),
          onFreed: (chunk) => expect(open.delete(chunk)).toBe(true),
        });
        const held: Held[] = [];
        let nowMs = START_MS;
        let n = 0;
        const isWhole = ({ ref, details }: Held): boolean =>
          arena.details(ref, details.length).equals(details);
        const leave = (pick: number): void => {
          const [leaving] = held.splice(pick % Math.max(1, held.length), 1);
          if (leaving === undefined) return;
          if (arena.has(leaving.ref)) expect(isWhole(leaving)).toBe(true);
          arena.leave(leaving.ref);
        };
        const expire = (chunk: Chunk): void => {
          open.delete(chunk);
          arena.expire(chunk);
        };
        for (const each of script) {
          if (each.type === 'insert') {
            for (let time = 0; time < each.times; time += 1) {
              n += 1;
              const event = eventOf(each, nowMs, n);
              const place = { detailsStart: 0, detailsEnd: event.details.length };
              const ref = arena.add({ ...event, ...place }, each.ttlSeconds * 1000, event.expiresAtMs);
              held.push({ ref, details: event.details });
            }
          }
          if (each.type === 'wait') nowMs += each.forMs;
          // Any of them may leave, at any time, also long after its chunk.
          if (each.type === 'fire') {
            for (const pick of each.picks) leave(pick);
            for (const chunk of [...open]) if (chunk.lastExpiryMs <= nowMs) expire(chunk);
          }
          expect(arena.chunkCount).toBe(open.size);
          expect(new Set(held.map(({ ref }) => ref)).size).toBe(held.length);
          expect(arena.stale).toBe(held.filter(({ ref }) => !arena.has(ref)).length);
        }
        for (const each of held) if (arena.has(each.ref)) expect(isWhole(each)).toBe(true);
        for (const chunk of [...open]) expire(chunk);
        expect(arena.stale).toBe(held.length);
        while (held.length > 0) leave(n);
        expect(arena).toMatchObject({ stale: 0, chunkCount: 0 });
      }),
      { numRuns: 250 },
    );
  });

  it('holds small events without waste, where they live for as long as each other', () => {
    const open = new Set<Chunk>();
    const arena = new Arena({ onOpened: (chunk) => open.add(chunk), onFreed: (chunk) => open.delete(chunk) });
    const details = Buffer.alloc(72, 'x');
    const count = 10_000;
    for (let n = 0; n < count; n += 1) {
      const record = { timestampMs: 0, confidence: 1, details, detailsStart: 0, detailsEnd: details.length };
      arena.add(record, 3_600_000, START_MS + n);
    }
    const perChunk = Math.floor(CHUNK_BYTES / (HEAD_BYTES + details.length));
    expect(open.size).toBe(Math.ceil(count / perChunk));
  });
});
