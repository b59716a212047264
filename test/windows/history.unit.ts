import { beforeEach, describe, expect, it } from 'vitest';
import { AgentHistory } from '../../src/windows/history.ts';
import { HistoryBlocks } from '../../src/windows/history-blocks.ts';
import { HistoryRows } from '../../src/windows/history-rows.ts';
import { Names } from '../../src/windows/names.ts';

const START_MS = 1_760_000_000_000;
const RETENTION_MS = 3_600_000;

const names = new Names();
// As its service would.
names.hold(names.numberOf('checkout-api'));
let history: AgentHistory;
let recorded = 0;

beforeEach(() => {
  history = new AgentHistory(RETENTION_MS, new HistoryRows(new HistoryBlocks()), names);
  recorded = 0;
});

/** Events of one record, which have its position and are numbered through. */
function record(position: number, count: number, receivedAtMs = START_MS): void {
  for (let index = 0; index < count; index += 1) {
    recorded += 1;
    names.hold(names.numberOf('argocd'));
    const what = { service: names.numberOf('checkout-api'), vendor: names.numberOf('argocd'), type: 0 };
    history.append({ ...what, eventNumber: recorded, receivedAtMs, position, index });
  }
}

describe('the first event of a record', () => {
  it('is found by the position of the record, also of one that goes on over many blocks', () => {
    record(1000, 3);
    record(2000, 500);
    record(3000, 1);
    const first = (position: number) => history.firstNumberAt(position, START_MS);
    expect([1000, 2000, 3000].map(first)).toEqual([1, 4, 504]);
    expect([0, 999, 1001, 2001, 4000].map(first)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is told while its record is within retention, and not a millisecond longer', () => {
    record(1000, 3);
    record(2000, 1, START_MS + 1);
    expect(history.firstNumberAt(1000, START_MS + RETENTION_MS - 1)).toBe(1);
    expect(history.firstNumberAt(1000, START_MS + RETENTION_MS)).toBeUndefined();
    expect(history.firstNumberAt(2000, START_MS + RETENTION_MS)).toBe(4);
  });

  it('is none of a history without events', () => {
    expect(history.firstNumberAt(1000, START_MS)).toBeUndefined();
  });
});

describe('what a history tells', () => {
  it('is told of places in the log however far they are apart', () => {
    const positions = [0, 1, 2 ** 32, 2 ** 48 - 1, 2 ** 48, 2 ** 48 + 1, 2 ** 52, 2 ** 53 - 1];
    for (const position of positions) record(position, 1);
    expect([...history.entries(START_MS)].map(({ position }) => position)).toEqual(positions);
    expect(positions.map((at) => history.firstNumberAt(at, START_MS))).toEqual(
      positions.map((_, n) => n + 1),
    );
  });

  it('is told of events wherever they stand in their record', () => {
    record(0, 65_536);
    const indexes = [...history.entries(START_MS)].map(({ index }) => index);
    expect(indexes).toEqual(Array.from({ length: 65_536 }, (_, index) => index));
    expect(() => record(1, 65_537)).toThrow(RangeError);
  });

  it('stays right where all of it was let go of again and again before its first block was full', () => {
    let nowMs = START_MS;
    for (let round = 1; round <= 30; round += 1) {
      record(round, 2, nowMs);
      nowMs += RETENTION_MS;
      history.trim(nowMs, Number.POSITIVE_INFINITY);
    }
    for (let n = 0; n < 100; n += 1) {
      const what = {
        service: names.numberOf(`service-${n % 30}`),
        vendor: names.numberOf('alone'),
        type: 0,
      };
      history.append({ ...what, eventNumber: 100 + n, receivedAtMs: nowMs, position: 100 + n, index: 0 });
    }
    expect(history.services(nowMs)).toHaveLength(30);
    expect(history.services(nowMs + RETENTION_MS)).toEqual([]);
    expect(names.find('alone')).toBeUndefined();
  });

  it('is what is within retention, also where nothing has let go of the rest before', () => {
    record(1000, 2);
    record(2000, 1, START_MS + 1);
    const positions = [...history.entries(START_MS + RETENTION_MS)].map(({ position }) => position);
    expect(positions).toEqual([2000]);
  });

  it('is the newest of a service that had been received by then, as many as are asked for', () => {
    for (let n = 0; n < 60; n += 1) record(n, 1, START_MS + n);
    const newest = (untilMs: number, limit: number, service = 'checkout-api') =>
      history
        .newestUntil({ service, untilMs, wanted: (type) => type === 'deploy', limit })
        .map(({ position }) => position);
    expect(newest(START_MS + 10, 3)).toEqual([10, 9, 8]);
    expect(newest(START_MS + 100, 2)).toEqual([59, 58]);
    expect(newest(START_MS + 2, 100)).toEqual([2, 1, 0]);
    expect(newest(START_MS - 1, 100)).toEqual([]);
    expect(newest(START_MS + 100, 100, 'another')).toEqual([]);
  });
});

describe('a block of a history', () => {
  const first = {
    receivedAtMs: START_MS,
    eventNumber: 1,
    position: 1,
    index: 0,
    service: 0,
    vendor: 0,
    type: 0,
  };
  const FAR = 2 ** 32;

  it.each([
    ['time', { receivedAtMs: START_MS + FAR }],
    ['number', { eventNumber: 1 + FAR }],
    ['position', { position: 1 + 2 ** 48 }],
  ])('takes no entry whose %s is too far from its first', (_, far) => {
    const blocks = new HistoryBlocks();
    const block = blocks.open(first, 0);
    expect(blocks.append(block, first)).toBe(true);
    expect(blocks.append(block, { ...first, ...far })).toBe(false);
    const entry = { ...first, receivedAtMs: START_MS + FAR - 1, eventNumber: FAR, position: 2 ** 48 };
    expect(blocks.append(block, entry)).toBe(true);
    expect(blocks.entry(block, 1)).toEqual(entry);
  });

  it('takes as many vendors as fit beside the type', () => {
    const blocks = new HistoryBlocks();
    const block = blocks.open(first, 0);
    const last = { ...first, vendor: 2 ** 28 - 1, type: 5 };
    expect(blocks.append(block, last)).toBe(true);
    expect(blocks.entry(block, 0)).toEqual(last);
    expect(() => blocks.append(block, { ...first, vendor: 2 ** 28 })).toThrow(
      'more names than a tenant can have',
    );
  });
});

describe('trimming', () => {
  it('goes as far as it is told, and says whether it is done', () => {
    record(1000, 10);
    expect(history.trim(START_MS + RETENTION_MS - 1, 0)).toBe(true);
    expect(history.trim(START_MS + RETENTION_MS, 4)).toBe(false);
    expect(history.trim(START_MS + RETENTION_MS, 5)).toBe(false);
    expect(history.trim(START_MS + RETENTION_MS, 1)).toBe(true);
    expect(history.trim(START_MS + RETENTION_MS, 0)).toBe(true);
  });

  it('is done a little by whatever is appended, so that an agent nobody looks at needs no more memory', () => {
    record(1000, 100);
    record(2000, 1000, START_MS + RETENTION_MS);
    expect(history.trim(START_MS + RETENTION_MS, 0)).toBe(true);
  });
});

describe('the names in a history', () => {
  it('are those within retention', () => {
    record(1000, 1);
    expect(history.services(START_MS)).toEqual(['checkout-api']);
    expect(history.vendors(START_MS)).toEqual(['argocd']);
    expect(history.services(START_MS + RETENTION_MS)).toEqual([]);
  });

  it('are let go of by those who ask for vendors, too', () => {
    record(1000, 1);
    expect(history.vendors(START_MS + RETENTION_MS)).toEqual([]);
  });
});
