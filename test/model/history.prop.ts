/** An agent's history equals a list that is filtered on every look, whatever others of the same names hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES, type EventType } from '../../src/domain/event.ts';
import { AgentHistory, type HistoryFilter, type NamedHistoryEntry } from '../../src/windows/history.ts';
import { HistoryBlocks } from '../../src/windows/history-blocks.ts';
import { HistoryRows } from '../../src/windows/history-rows.ts';
import { Names } from '../../src/windows/names.ts';
import { HOSTILE_TEXTS } from './hostile-text.ts';

const START_MS = 1_760_000_000_000;
const RETENTION_MS = 3_600_000;

/** A history, and the list that it equals. */
class Pair {
  readonly history: AgentHistory;
  readonly list = new ListOfEntries();
  readonly #names: Names;

  constructor(names: Names, rows = new HistoryRows(new HistoryBlocks())) {
    this.history = new AgentHistory(RETENTION_MS, rows, names);
    this.#names = names;
  }

  append(entry: NamedHistoryEntry): void {
    const [service, vendor] = [this.#names.numberOf(entry.service), this.#names.numberOf(entry.vendor)];
    // As its service, and who records it.
    this.#names.hold(service);
    this.#names.hold(vendor);
    this.history.append({ ...entry, service, vendor });
    this.list.append(entry);
  }
}

class ListOfEntries {
  readonly #entries: NamedHistoryEntry[] = [];

  append(entry: NamedHistoryEntry): void {
    this.#entries.push(entry);
  }

  countWithin(spanMs: number, nowMs: number): number {
    return this.#retained(nowMs).filter(({ receivedAtMs }) => nowMs < receivedAtMs + spanMs).length;
  }

  page(filter: HistoryFilter, offset: number, limit: number, nowMs: number) {
    const matching = this.#retained(nowMs)
      .filter(({ service }) => filter.service === null || service === filter.service)
      .filter(({ vendor }) => filter.vendor === null || vendor === filter.vendor)
      .filter(({ type }) => filter.eventType === null || EVENT_TYPES[type] === filter.eventType)
      .sort((a, b) => b.eventNumber - a.eventNumber)
      .map(({ service, vendor, type, ...entry }) => entry);
    return { total: matching.length, entries: matching.slice(offset, offset + limit) };
  }

  services(nowMs: number): string[] {
    return [...new Set(this.#retained(nowMs).map(({ service }) => service))].sort();
  }

  vendors(nowMs: number): string[] {
    return [...new Set(this.#retained(nowMs).map(({ vendor }) => vendor))].sort();
  }

  entries(nowMs: number): NamedHistoryEntry[] {
    return this.#retained(nowMs);
  }

  newestUntil(wanted: EventType, named: string, untilMs: number, limit: number, nowMs: number) {
    return this.#retained(nowMs)
      .filter(({ service, type }) => service === named && EVENT_TYPES[type] === wanted)
      .filter(({ receivedAtMs }) => receivedAtMs <= untilMs)
      .reverse()
      .slice(0, limit)
      .map(({ service, vendor, type, ...entry }) => entry);
  }

  firstNumberAt(at: number, nowMs: number): number | undefined {
    const entry = this.#retained(nowMs).find(({ position }) => position === at);
    return entry && entry.eventNumber - entry.index;
  }

  #retained(nowMs: number): NamedHistoryEntry[] {
    return this.#entries.filter(({ receivedAtMs }) => nowMs < receivedAtMs + RETENTION_MS);
  }
}

/** More names than stay in use at once, so that the numbers behind them are used again. */
const service = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', ...HOSTILE_TEXTS.slice(0, 5));
const vendor = fc.constantFrom('a', 'argocd', '__proto__');
const eventType = fc.constantFrom(...EVENT_TYPES);

/** Of which of two histories. */
type Step = { readonly whose: 0 | 1 } & Deed;

type Deed =
  | {
      readonly type: 'append';
      readonly entry: Pick<NamedHistoryEntry, 'service' | 'vendor' | 'type'>;
      /** As many of them, each so much further in the log than the one before. */
      readonly times: number;
      readonly apart: number;
    }
  | { readonly type: 'trim'; readonly limit: number }
  | { readonly type: 'wait'; readonly forMs: number }
  | {
      readonly type: 'look';
      readonly filter: HistoryFilter;
      readonly offset: number;
      readonly limit: number;
      readonly spanMs: number;
    };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('append' as const),
      entry: fc.record({ service, vendor, type: fc.nat(EVENT_TYPES.length - 1) }),
      times: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat(50) }),
      // A segment apart, positions are 2^32 apart; so may the numbers of a tenant's events be.
      apart: fc.constantFrom(1, 1, 1, 300, 2 ** 32 - 1, 2 ** 32, 2 ** 33),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('trim' as const), limit: fc.nat(30) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      forMs: fc.constantFrom(0, 1, 1000, 600_000, RETENTION_MS - 1, RETENTION_MS, 3 * RETENTION_MS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('look' as const),
      filter: fc.record({
        service: fc.option(fc.oneof(service, fc.constant('never')), { freq: 2 }),
        vendor: fc.option(vendor, { freq: 2 }),
        eventType: fc.option(eventType, { freq: 2 }),
      }),
      offset: fc.oneof(fc.constant(0), fc.nat(30)),
      limit: fc.constantFrom(1, 3, 10, 100),
      spanMs: fc.constantFrom(1, 1000, 600_000, RETENTION_MS, 10 * RETENTION_MS),
    }),
  },
);

const step: fc.Arbitrary<Step> = fc
  .tuple(fc.constantFrom(0 as const, 1 as const), deed)
  .map(([whose, deed]) => ({ whose, ...deed }));

describe('a history equals a list', () => {
  it('whatever is appended and asked, and whenever it is trimmed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), (script) => {
        const names = new Names();
        const rows = new HistoryRows(new HistoryBlocks());
        const pairs = [new Pair(names, rows), new Pair(names, rows)] as const;
        let nowMs = START_MS;
        let eventNumber = 0;
        let position = 2 ** 51;
        const positions: number[] = [];
        for (const each of script) {
          const { history, list } = pairs[each.whose];
          if (each.type === 'append') {
            for (let time = 0; time < each.times; time += 1) {
              eventNumber += each.apart;
              position += each.apart;
              positions.push(position);
              const place = { eventNumber, receivedAtMs: nowMs, position, index: 65_535 - time };
              pairs[each.whose].append({ ...each.entry, ...place });
            }
          }
          if (each.type === 'trim') history.trim(nowMs, each.limit);
          if (each.type === 'wait') nowMs += each.forMs;
          if (each.type === 'look') {
            const { filter, offset, limit, spanMs } = each;
            expect(history.countWithin(spanMs, nowMs)).toBe(list.countWithin(spanMs, nowMs));
            const known = [positions[offset], positions.at(-1 - offset)].filter((at) => at !== undefined);
            for (const at of [0, ...known.flatMap((each) => [each - 1, each, each + 1])]) {
              expect(history.firstNumberAt(at, nowMs)).toBe(list.firstNumberAt(at, nowMs));
            }
            expect(history.page(filter, offset, limit, nowMs)).toEqual(
              list.page(filter, offset, limit, nowMs),
            );
            const { service, eventType } = {
              service: filter.service ?? 'a',
              eventType: filter.eventType ?? 'deploy',
            };
            const untilMs = nowMs - spanMs + 1000;
            expect(
              history.newestUntil({ service, untilMs, wanted: (type) => type === eventType, limit }),
            ).toEqual(list.newestUntil(eventType, service, untilMs, limit, nowMs));
            expect([...history.entries(nowMs)]).toEqual(list.entries(nowMs));
            expect(history.services(nowMs)).toEqual(list.services(nowMs));
            expect(history.vendors(nowMs)).toEqual(list.vendors(nowMs));
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('counts without trimming: looking at the count alone changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 1, 1000, RETENTION_MS / 2, RETENTION_MS), { minLength: 1 }),
        fc.constantFrom(1, 1000, RETENTION_MS, 2 * RETENTION_MS),
        (waits, spanMs) => {
          const pair = new Pair(new Names());
          let nowMs = START_MS;
          for (const [n, waitMs] of waits.entries()) {
            const entry = {
              ...{ service: 'a', vendor: 'b', type: 0 },
              ...{ eventNumber: n + 1, receivedAtMs: nowMs, position: n, index: 0 },
            };
            pair.append(entry);
            nowMs += waitMs;
            expect(pair.history.countWithin(spanMs, nowMs)).toBe(pair.list.countWithin(spanMs, nowMs));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
