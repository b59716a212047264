/** Load shedding against a simulated server that works through its requests turn by turn, as an event loop does. */
import { describe, expect, it } from 'vitest';
import { Overload, SHED_CLASSES, type ShedClass, shedClassOf } from '../../src/http/overload.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { routeTable } from './route-table.ts';

const TARGET_MS = 100;
/** What it takes to refuse a request. */
const REFUSAL_MS = 0.007;

interface Arrivals {
  readonly name: ShedClass;
  readonly perSecond: number;
  readonly costMs: number;
}

interface Result {
  readonly taken: number;
  readonly refused: number;
  readonly p99Ms: number;
}

/** Lets requests come for a while, whatever becomes of them; counts those that come after `warmUpMs`. */
function serve(
  streams: readonly Arrivals[],
  {
    targetMs = TARGET_MS,
    warmUpMs = 3000,
    milliseconds = 10_000,
    stallAtMs = Number.POSITIVE_INFINITY,
    restMs = 0.5,
  } = {},
): {
  readonly of: (name: ShedClass) => Result;
  readonly highestPressure: number;
  readonly overload: Overload;
} {
  const clock = new ManualClock(0);
  let tick: { readonly dueMs: number; readonly task: () => void } | undefined;
  const overload = new Overload({ targetMs, clock, idleMs: () => idleMs, connections: () => 1 });
  overload.watch({
    after: (delayMs, task) => {
      tick = { dueMs: clock.monotonic() + delayMs, task };
      return () => {};
    },
    soon: () => {},
  });
  const tallies = streams.map((stream) => ({ stream, next: 0, refused: 0, latencies: [] as number[] }));
  let highestPressure = 0;
  let stalled = false;
  let idleMs = 0;
  while (clock.monotonic() < milliseconds) {
    // What has come by the beginning of the turn is what the turn works through, a stream after the other.
    const beganMs = clock.monotonic();
    if (!stalled && beganMs >= stallAtMs) {
      stalled = true;
      clock.step(1000);
    }
    for (const tally of tallies) {
      const { name, perSecond, costMs } = tally.stream;
      for (; tally.next * (1000 / perSecond) <= beganMs; tally.next += 1) {
        const cameMs = tally.next * (1000 / perSecond);
        const refused = overload.gates.get(name)?.sheds === true;
        clock.step(refused ? REFUSAL_MS : costMs);
        highestPressure = Math.max(highestPressure, overload.pressure);
        if (cameMs < warmUpMs) continue;
        if (refused) tally.refused += 1;
        else tally.latencies.push(clock.monotonic() - cameMs);
      }
    }
    if (clock.monotonic() === beganMs) {
      clock.step(restMs);
      idleMs += restMs;
    }
    if (tick !== undefined && tick.dueMs <= clock.monotonic()) {
      const { task } = tick;
      tick = undefined;
      task();
    }
    highestPressure = Math.max(highestPressure, overload.pressure);
  }
  const of = (name: ShedClass) => {
    const tally = tallies.find(({ stream }) => stream.name === name);
    if (tally === undefined) throw new Error(`no stream of ${name}`);
    const sorted = tally.latencies.sort((a, b) => a - b);
    const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    return { taken: sorted.length, refused: tally.refused, p99Ms };
  };
  return { of, highestPressure, overload };
}

/** The pressure of callers who ask again as soon as they are answered, where the timer waits for 48 rounds of them. */
function askedAgainAtOnce(name: ShedClass, connections: number, costMs: number): number {
  const clock = new ManualClock(0);
  let task = () => {};
  const overload = new Overload({
    targetMs: TARGET_MS,
    clock,
    idleMs: () => 0,
    connections: () => connections,
  });
  overload.watch({
    after: (_, next) => {
      task = next;
      return () => {};
    },
    soon: () => {},
  });
  let highest = 0;
  while (clock.monotonic() < 10_000) {
    for (let n = 0; n < 48 * connections; n += 1) {
      clock.step(overload.gates.get(name)?.sheds === true ? REFUSAL_MS : costMs);
      highest = Math.max(highest, overload.pressure);
    }
    task();
    highest = Math.max(highest, overload.pressure);
  }
  return highest;
}

/** Of half a millisecond each, the server answers 2000 a second. */
const READ_MS = 0.5;
const COUNTED_SECONDS = 7;
const reads = (timesCapacity: number): Arrivals => ({
  name: 'read',
  perSecond: timesCapacity * 2000,
  costMs: READ_MS,
});
const writes: Arrivals = { name: 'write', perSecond: 500, costMs: 0.012 };

describe('a server that is asked for more than it can do', () => {
  it.each([2, 4, 8])('answers in bounded time nearly as much as it can, at %i times that', (times) => {
    const { of } = serve([reads(times), writes]);
    const { taken, p99Ms, refused } = of('read');
    expect(p99Ms).toBeLessThan(6 * TARGET_MS);
    expect(refused).toBeGreaterThan(0);
    // Refusing has its price too.
    const spareShare = 1 - times * 2000 * (REFUSAL_MS / 1000) - 500 * 0.000012;
    expect(taken / (COUNTED_SECONDS * 2000)).toBeGreaterThan(0.85 * spareShare);
  });

  it.each([2, 4, 8])('goes on taking single events, at %i times that', (times) => {
    const { of } = serve([reads(times), writes]);
    expect(of('write').refused).toBe(0);
    expect(of('write').p99Ms).toBeLessThan(6 * TARGET_MS);
  });

  it('takes single writes for longer, and then sheds them too', () => {
    // Twenty thousand a second are as many as can be taken, and half of that again is asked for.
    const { of } = serve([{ name: 'write', perSecond: 30_000, costMs: 0.05 }]);
    expect(of('write').refused).toBeGreaterThan(0);
    expect(of('write').p99Ms).toBeGreaterThan(TARGET_MS);
    expect(of('write').p99Ms).toBeLessThan(10 * TARGET_MS);
  });

  it('lets everybody wait ever longer where it may shed nothing', () => {
    const { of } = serve([reads(2), writes], { targetMs: 0 });
    expect(of('read')).toMatchObject({ refused: 0 });
    expect(of('write').p99Ms).toBeGreaterThan(2000);
  });

  it('sheds lists before batches, batches before reads, and events only where that is not enough', () => {
    const perSecond = 4000;
    const all = SHED_CLASSES.slice(0, 4).map((name) => ({ name, perSecond, costMs: 0.2 }));
    const { of } = serve(all);
    const taken = SHED_CLASSES.slice(0, 4).map((name) => of(name).taken);
    expect(taken[0]).toBeLessThan(100);
    expect(taken.toSorted((a, b) => a - b)).toEqual(taken);
    expect(of('write').taken).toBeGreaterThan(0.8 * COUNTED_SECONDS * perSecond);
  });
});

describe('a server that has enough time', () => {
  it('sheds nothing, however near to what it can do', () => {
    const { of, highestPressure } = serve([reads(0.95), writes]);
    expect([of('read').refused, highestPressure]).toEqual([0, 0]);
  });

  it('sheds nothing for having stood still once', () => {
    // Nothing comes while it stands still: what a pause of the garbage collector looks like to few callers.
    const { highestPressure } = serve([{ ...writes, perSecond: 5 }], { stallAtMs: 5000 });
    expect(highestPressure).toBe(0);
  });

  it('sheds nothing of a few requests, however long each takes', () => {
    const { highestPressure } = serve([{ name: 'read', perSecond: 10, costMs: 200 }], { milliseconds: 2000 });
    expect(highestPressure).toBe(0);
  });

  it('sheds nothing because its timers wait for many sockets, each of which is answered soon', () => {
    // Two thousand callers, answered every forty milliseconds, and those of what is dear every second.
    expect(askedAgainAtOnce('write', 2000, 0.02)).toBe(0);
    expect(askedAgainAtOnce('read', 2000, 0.5)).toBeGreaterThan(0);
    // Of few sockets a late timer says all: they wait with a thousand requests each.
    expect(askedAgainAtOnce('read', 256, 0.5)).toBeGreaterThan(0);
  });

  it('sheds nothing where it is late for want of a processor, with little to do', () => {
    // Woken 300 ms late each time.
    const { highestPressure } = serve([{ ...reads(1), perSecond: 20 }], { restMs: 300 });
    expect(highestPressure).toBe(0);
  });

  it('sheds no more once the overload is over', () => {
    const { overload } = serve([reads(4)]);
    expect(overload.pressure).toBeGreaterThan(2);
    const clock = new ManualClock(0);
    // The same gates, looked through by nobody: the timer alone brings the pressure down.
    const calm = new Overload({ targetMs: TARGET_MS, clock, idleMs: () => 0, connections: () => 1 });
    calm.pressure = overload.pressure;
    let task = () => {};
    calm.watch({
      after: (_, next) => {
        task = next;
        return () => {};
      },
      soon: () => {},
    });
    for (let n = 0; n < 1000 && calm.pressure > 0; n += 1) {
      clock.step(20);
      task();
    }
    expect(calm.pressure).toBe(0);
    expect(clock.monotonic()).toBeLessThan(15_000);
  });
});

describe('the routes', () => {
  it('are shed unless they are for everybody, and each as what it is', () => {
    const classes = routeTable().map(
      (route) => [`${route.method} ${route.path}`, shedClassOf(route)] as const,
    );
    const of = new Map(classes);
    expect(
      routeTable().filter((route) => (shedClassOf(route) === undefined) !== (route.access === 'public')),
    ).toEqual([]);
    expect(of.get('GET /v1/services')).toBe('list');
    expect(of.get('POST /v1/events/batch')).toBe('batch');
    expect(of.get('GET /v1/services/:id/context')).toBe('read');
    expect(of.get('POST /v1/events')).toBe('write');
    expect(of.get('POST /webhooks/:type/:token')).toBe('webhook');
    expect(of.get('GET /healthz')).toBeUndefined();
  });
});
