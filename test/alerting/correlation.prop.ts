import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { type Alert, causesOf, happened, LOOKBACK_MS, MINUTE_MS, STARTED_AT_MS, type Told } from './past.ts';

const SERVICES = ['checkout-api', 'payments-api', 'ledger', 'orders-db'] as const;
const ENTITIES = [...SERVICES, 'pod-a', 'pod-b', 'http://ledger:80/x', 'no route to payments-api:443'];

const told = fc.record({
  id: fc.uuid(),
  serviceName: fc.constantFrom(...SERVICES),
  eventType: fc.constantFrom(...EVENT_TYPES),
  entity: fc.constantFrom(...ENTITIES),
  oldValue: fc.constantFrom(null, '3', '1f2e9a40'),
  newValue: fc.constantFrom(null, '5', '1f2e9a40', '9a8b77c1', 'orders-db.shop.svc'),
  sha: fc.constantFrom(null, '1f2e9a40'),
  actor: fc.constantFrom(null, 'hpa', 'anna'),
  confidence: fc.oneof(fc.constantFrom(1, 0.5, 5e-324), fc.double({ min: 0.01, max: 1, noNaN: true })),
  minutesBefore: fc.oneof(fc.integer({ min: -3, max: 90 }), fc.double({ min: -2, max: 20, noNaN: true })),
  liveMinutes: fc.integer({ min: 1, max: 200 }),
}) satisfies fc.Arbitrary<Told>;

/** Some of it happens again and again, at times at the same moment. */
const again = fc.record({
  id: fc.uuid(),
  minutesBefore: fc.integer({ min: -1, max: 20 }),
  confidence: fc.constantFrom(0.3, 0.7, 1),
  liveMinutes: fc.constantFrom(1, 30),
});
const past = fc
  .tuple(fc.array(told, { maxLength: 25 }), told, fc.array(again, { maxLength: 15 }))
  .map(([story, event, times]) => [...story, ...times.map((time) => ({ ...event, ...time }))])
  .map((story) => [...new Map(story.map((event) => [event.id, event])).values()]);
const alert: fc.Arbitrary<Alert> = fc.record({
  serviceName: fc.constantFrom(...SERVICES),
  entities: fc.subarray(['pod-a', 'pod-b', 'orders-db']),
  title: fc.constantFrom('', 'pod-b restarts', 'checkout-api: ledger is slow'),
});

const candidatesOf = (story: readonly Told[], about: Alert) => causesOf(story.map(happened), about);

describe('any past of any alert', () => {
  it('gives candidates of a score over 0 and up to 1, best first, each once, each of them in sight', () => {
    let given = 0;
    fc.assert(
      fc.property(past, alert, (story, about) => {
        const candidates = candidatesOf(story, about);
        given += candidates.length;
        expect(candidates.length).toBeLessThanOrEqual(20);
        expect(candidates.every(({ score }) => score > 0 && score <= 1)).toBe(true);
        const scores = candidates.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(new Set(candidates.map(({ event }) => event.id)).size).toBe(candidates.length);
        for (const { event, reasons, minutesBefore, occurrences } of candidates) {
          expect(event.timestampMs).toBeLessThanOrEqual(STARTED_AT_MS + MINUTE_MS);
          expect(reasons.includes('still_live') || event.expiresAtMs <= STARTED_AT_MS).toBe(true);
          expect(reasons.includes('changed_before_start')).toBe(event.timestampMs <= STARTED_AT_MS);
          expect(reasons.includes('same_service')).toBe(event.serviceName === about.serviceName);
          expect(reasons.includes('dependency')).toBe(event.serviceName !== about.serviceName);
          expect(reasons.includes('repeated')).toBe(occurrences > 1);
          expect(Math.abs(minutesBefore * MINUTE_MS - (STARTED_AT_MS - event.timestampMs))).toBeLessThan(
            3001,
          );
          expect(Object.is(minutesBefore, -0)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
    expect(given).toBeGreaterThan(500);
  });

  it('gives the same candidates in whatever order its events come', () => {
    const shuffled = past.chain((story) =>
      fc.tuple(fc.constant(story), fc.shuffledSubarray(story, { minLength: story.length })),
    );
    fc.assert(
      fc.property(shuffled, alert, ([story, otherwise], about) => {
        expect(candidatesOf(otherwise, about)).toEqual(candidatesOf(story, about));
      }),
      { numRuns: 500 },
    );
  });

  it('accounts for every event of the service that is in sight, once', () => {
    const few = fc.uniqueArray(told, { maxLength: 15, selector: ({ id }) => id });
    fc.assert(
      fc.property(few, alert, (story, about) => {
        const inSight = story
          .map(happened)
          .filter(
            (event) =>
              event.serviceName === about.serviceName &&
              event.timestampMs <= STARTED_AT_MS + MINUTE_MS &&
              event.expiresAtMs >= STARTED_AT_MS - LOOKBACK_MS,
          );
        const occurrences = candidatesOf(story, about)
          .filter(({ event }) => event.serviceName === about.serviceName)
          .map((candidate) => candidate.occurrences);
        expect(occurrences.reduce((sum, count) => sum + count, 0)).toBe(inSight.length);
      }),
      { numRuns: 500 },
    );
  });

  it('is not changed by a service that nothing leads to', () => {
    const unrelated = fc.array(told.map((event) => ({ ...event, serviceName: 'billing' })));
    fc.assert(
      fc.property(past, unrelated, alert, (story, more, about) => {
        expect(candidatesOf([...more, ...story], about)).toEqual(candidatesOf(story, about));
      }),
      { numRuns: 300 },
    );
  });

  it('is not changed by what comes later', () => {
    const later = fc.array(told.map((event) => ({ ...event, minutesBefore: -1.1 - event.liveMinutes })));
    fc.assert(
      fc.property(past, later, alert, (story, more, about) => {
        expect(candidatesOf([...story, ...more], about)).toEqual(candidatesOf(story, about));
      }),
      { numRuns: 300 },
    );
  });
});

describe('one event', () => {
  const own = told.map((event) => ({ ...event, serviceName: 'checkout-api' }));
  const scoreOf = (event: Told, about: Alert = {}) => candidatesOf([event], about)[0]?.score ?? 0;

  it('never counts less for being closer to the start', () => {
    const distance = fc.double({ min: 0, max: 90, noNaN: true });
    fc.assert(
      fc.property(own, distance, distance, (event, a, b) => {
        const [near, far] = [Math.min(a, b), Math.max(a, b)];
        const at = (minutesBefore: number) => scoreOf({ ...event, minutesBefore });
        expect(at(near)).toBeGreaterThanOrEqual(at(far));
        // Within the grace, on both sides of the start.
        const [closer, further] = [near / 90, far / 90];
        expect(at(closer)).toBeGreaterThanOrEqual(at(-closer));
        expect(at(-closer)).toBeGreaterThanOrEqual(at(-further));
      }),
    );
  });

  it('never counts less for being surer, longer live, or named by the alert', () => {
    fc.assert(
      fc.property(own, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(500), (event, more, longer) => {
        const { confidence, liveMinutes, entity } = event;
        const score = scoreOf(event);
        expect(scoreOf({ ...event, confidence: Math.max(more, confidence) })).toBeGreaterThanOrEqual(score);
        expect(scoreOf({ ...event, liveMinutes: liveMinutes + longer })).toBeGreaterThanOrEqual(score);
        expect(scoreOf(event, { entities: [entity] })).toBeGreaterThanOrEqual(score);
      }),
    );
  });

  it('never counts more for having happened to a dependency', () => {
    const link = {
      id: 'link',
      eventType: 'circuit_open',
      entity: 'ledger',
      vendor: 'proxy',
      minutesBefore: 1,
    } as const;
    fc.assert(
      fc.property(own, (event) => {
        const ofDependency = candidatesOf([link, { ...event, serviceName: 'ledger' }], {});
        const candidate = ofDependency.find(({ event: { id } }) => id === event.id);
        expect(candidate?.score ?? 0).toBeLessThanOrEqual(Math.max(scoreOf(event), 0.001));
      }),
    );
  });
});
