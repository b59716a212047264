/** What of a log may be deleted, and what it takes on disk. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandLog } from '../../src/log/log.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { aCommand, appendOne, appendTo, LogDirectory, START_MS, type Writes } from './log-directory.ts';

/** Takes one record. */
const SEGMENT_BYTES = 100;

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => directory.discard());

/** Five segments of a record each; the record of the nth is of the nth millisecond, counted from 0. */
async function fiveSegments(): Promise<CommandLog> {
  const { log } = await directory.open(SEGMENT_BYTES);
  appendTo(log, 1, 5);
  return log;
}

const segments = (): string[] => directory.names().filter((name) => name.startsWith('segment-'));
const bytesOnDisk = (): number => segments().reduce((sum, name) => sum + directory.get(name).length, 0);

describe('deleting', () => {
  it.each([
    ['what is covered', 2, Number.POSITIVE_INFINITY, [3, 4, 5]],
    ['what is not younger than it may be', 9, START_MS + 3, [4, 5]],
    ['nothing that is younger', 9, START_MS, [1, 2, 3, 4, 5]],
    ['nothing that is not covered', 0, Number.POSITIVE_INFINITY, [1, 2, 3, 4, 5]],
    ['never the segment that is written to', 9, Number.POSITIVE_INFINITY, [5]],
  ])('takes %s', async (_, throughOrdinal, untilMs, left) => {
    const log = await fiveSegments();
    expect(log.deleteOld(throughOrdinal, untilMs)).toBe(5 - left.length);
    expect(segments()).toEqual(left.map(segmentFileName));
    expect(log.sizeBytes()).toBe(bytesOnDisk());
    expect(directory.disk.openFiles).toEqual([segmentFileName(5)]);
    appendTo(log, 6, 6);
    expect(segments().at(-1)).toBe(segmentFileName(6));
  });

  it('is durable where anything was deleted', async () => {
    const log = await fiveSegments();
    let syncs = 0;
    directory.disk.judge = ({ name }) => {
      if (name === 'sync-directory') syncs += 1;
      return undefined;
    };
    log.deleteOld(0, Number.POSITIVE_INFINITY);
    expect(syncs).toBe(0);
    log.deleteOld(2, Number.POSITIVE_INFINITY);
    expect(syncs).toBe(1);
  });

  it('stops at a segment whose successor does not say when it began', async () => {
    const log = await fiveSegments();
    directory.put(segmentFileName(3), Buffer.alloc(200));
    expect(log.deleteOld(4, START_MS + 9)).toBe(1);
    expect(segments()).toEqual([2, 3, 4, 5].map(segmentFileName));
  });
});

describe('the size of a log', () => {
  it('is that of its files, whatever is appended, and after a start', async () => {
    const { log } = await directory.open(SEGMENT_BYTES);
    expect(log.sizeBytes()).toBe(0);
    for (let n = 1; n <= 5; n += 1) {
      appendOne(log, aCommand(n, n * 10));
      expect(log.sizeBytes()).toBe(bytesOnDisk());
    }
    log.close();
    const again = (await directory.open(SEGMENT_BYTES)).log;
    expect(again.sizeBytes()).toBe(bytesOnDisk());
    expect(directory.disk.openFiles).toEqual([segmentFileName(5)]);
  });
});

describe('the last segment that is never written to again', () => {
  it('is none at first, then the one before that which is written to', async () => {
    const { log } = await directory.open(SEGMENT_BYTES);
    expect(log.sealedOrdinal).toBe(0);
    for (const ordinal of [1, 2, 3]) {
      appendTo(log, ordinal, ordinal);
      expect(log.sealedOrdinal).toBe(ordinal - 1);
    }
  });

  it('is one further back while the file of the next has not been made', async () => {
    const { log } = await directory.open(SEGMENT_BYTES, 'grouped');
    appendTo(log, 1, 1);
    expect(log.sealedOrdinal).toBe(0);
    for (const ordinal of [2, 3]) {
      await log.makeDurable();
      expect(log.sealedOrdinal).toBe(ordinal - 2);
      appendTo(log, ordinal, ordinal);
      expect(log.sealedOrdinal).toBe(ordinal - 2);
    }
    await log.makeDurable();
    expect(log.sealedOrdinal).toBe(2);
  });
});

describe.each<Writes>(['each', 'grouped'])('a log that is closed (%s)', (writes) => {
  it('takes nothing more', async () => {
    const { log } = await directory.open(SEGMENT_BYTES, writes);
    log.close();
    expect(() => appendTo(log, 1, 1)).toThrow('the log is closed');
    expect(segments()).toEqual([]);
  });
});
