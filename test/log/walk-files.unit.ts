/** A walk has one segment open at a time, and none once it is done with. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandLog } from '../../src/log/log.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { appendTo, LogDirectory } from './log-directory.ts';

/** Takes one record. */
const SEGMENT_BYTES = 100;

let directory: LogDirectory;
let log: CommandLog;

beforeEach(async () => {
  directory = new LogDirectory();
  ({ log } = await directory.open(SEGMENT_BYTES));
  appendTo(log, 1, 5);
});

afterEach(() => directory.discard());

const opened = (): readonly string[] => {
  const [...files] = directory.disk.openFiles;
  files.splice(files.indexOf(segmentFileName(5)), 1);
  return files;
};

function stepped(from: number, through: number): { readonly seen: readonly number[]; readonly end: string } {
  const walk = log.walk(from);
  const seen: number[] = [];
  for (;;) {
    const end = walk.step(through, ({ stamp }) => {
      seen.push(stamp.sequence);
      expect(opened()).toHaveLength(1);
    });
    if (end === 'more') continue;
    walk.close();
    expect(opened()).toEqual([]);
    return { seen, end };
  }
}

describe('a walk', () => {
  it('closes what it leaves, however it ends', () => {
    expect(stepped(1, 5)).toEqual({ seen: [1, 2, 3, 4, 5], end: 'done' });
    expect(stepped(2, 3)).toEqual({ seen: [2, 3], end: 'done' });
    expect(stepped(4, 9)).toEqual({ seen: [4, 5], end: 'gone' });
    expect(stepped(7, 9)).toEqual({ seen: [], end: 'gone' });
  });

  it('ends where a record is not what it was', () => {
    const name = segmentFileName(3);
    const whole = directory.get(name);
    directory.put(name, Buffer.concat([whole.subarray(0, -5), Buffer.alloc(5, 0xff)]));
    expect(stepped(2, 5)).toEqual({ seen: [2], end: 'gone' });
    directory.put(name, whole.subarray(0, -5));
    expect(stepped(2, 5)).toEqual({ seen: [2], end: 'gone' });
  });

  it('ends where a header is not what it was, and begins behind it', () => {
    const name = segmentFileName(3);
    directory.put(name, directory.get(name).fill(0xff, 0, 8));
    expect(stepped(2, 5)).toEqual({ seen: [2], end: 'gone' });
    expect(stepped(3, 5).end).toBe('gone');
    expect(stepped(4, 5)).toEqual({ seen: [4, 5], end: 'done' });
  });

  it('does not take up a segment again that was deleted after it was read', () => {
    stepped(1, 5);
    log.deleteOld(2, Number.POSITIVE_INFINITY);
    expect(stepped(1, 5).end).toBe('gone');
    expect(stepped(3, 5)).toEqual({ seen: [3, 4, 5], end: 'done' });
  });
});
