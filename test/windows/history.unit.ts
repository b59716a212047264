import { beforeEach, describe, expect, it } from 'vitest';
import { AgentHistory } from '../../src/windows/history.ts';
import { HistoryBlocks } from '../../src/windows/history-blocks.ts';

const START_MS = 1_760_000_000_000;
const RETENTION_MS = 3_600_000;

let history: AgentHistory;
let recorded = 0;

beforeEach(() => {
  history = new AgentHistory(RETENTION_MS, new HistoryBlocks());
  recorded = 0;
});

/** Events of one record, which have its position and are numbered through. */
function record(position: number, count: number, receivedAtMs = START_MS): void {
  for (let index = 0; index < count; index += 1) {
    recorded += 1;
    const names = { service: 'checkout-api', vendor: 'argocd', type: 0 };
    history.append({ ...names, eventNumber: recorded, receivedAtMs, position, index });
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
