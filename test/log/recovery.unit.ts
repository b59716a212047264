/** The table of cases at the top of src/log/recovery.ts, on real files. */
import { basename } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeCommand } from '../../src/log/command-codec.ts';
import { LogOfOtherVersion } from '../../src/log/errors.ts';
import { FRAME_BYTES, sealFrame } from '../../src/log/record.ts';
import {
  decodeHeader,
  encodeHeader,
  HEADER_BYTES,
  type SegmentHeader,
  seedOf,
  segmentFileName,
} from '../../src/log/segment.ts';
import type { DiskCall, Judge } from './faulty-disk.ts';
import {
  aCommand,
  appendOne,
  appendTo,
  type Files,
  flip,
  LogDirectory,
  type Logged,
  MARK,
  ofVersion,
  placeOf,
  START_MS,
} from './log-directory.ts';
import { bytesOf } from './records.ts';

const RECORD_BYTES = bytesOf(encodeCommand(aCommand(1))).length;
const THREE_RECORDS = HEADER_BYTES + 3 * RECORD_BYTES;
const FIRST = segmentFileName(1);
const SECOND = segmentFileName(2);
const THIRD = segmentFileName(3);

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => directory.discard());

function last<T>(list: readonly T[]): T {
  const element = list.at(-1);
  if (element === undefined) throw new Error('nothing there');
  return element;
}

describe('an undamaged log', () => {
  it('of no segment is empty, and takes its first command', async () => {
    await directory.expectLog([]);
    expect(directory.names()).toEqual([FIRST]);
  });

  it('of many segments says what was appended, in order', async () => {
    const logged = await directory.write(1, 20, THREE_RECORDS);
    expect(directory.names()).toHaveLength(7);
    await directory.expectLog(logged);
  });

  it('goes on after its last record, session after session', async () => {
    const logged = [
      ...(await directory.write(1, 4, THREE_RECORDS)),
      ...(await directory.write(5, 5, THREE_RECORDS)),
      ...(await directory.write(6, 10, THREE_RECORDS)),
    ];
    await directory.expectLog(logged);
  });

  it('whose last segment has no record yet goes on in it', async () => {
    const logged = await directory.write(1, 7, THREE_RECORDS);
    directory.put(THIRD, directory.get(THIRD).subarray(0, HEADER_BYTES));
    await directory.expectLog(logged.slice(0, 6));
    expect(directory.names()).toEqual([FIRST, SECOND, THIRD]);
  });

  it('holds records larger than the chunks it is read in, whatever they leave of a chunk', async () => {
    const { log } = await directory.open(8 * 1024 * 1024);
    const sizes = [10, 1024 * 1024, 10, 3_000_000, 1024 * 1024 - 200, 500, 2 * 1024 * 1024, 10, 9_000_000, 5];
    const logged = sizes.map((size, n) => appendOne(log, aCommand(n, size)));
    directory.close(log);
    await directory.expectLog(logged);
  });

  it('leaves files that are not its own alone', async () => {
    const logged = await directory.write(1, 4, THREE_RECORDS);
    const others = ['segment-1.log', 'segment-00000001.log.99.broken', 'notes.txt', 'segment-00000002.log~'];
    for (const name of others) directory.put(name, Buffer.from('of somebody else'));
    await directory.expectLog(logged);
    expect(directory.names()).toEqual(expect.arrayContaining(others));
  });
});

describe('a leftover of a segment in the making', () => {
  it('is removed, whatever is in it', async () => {
    const logged = await directory.write(1, 4, THREE_RECORDS);
    directory.put(`${THIRD}.tmp`, directory.get(SECOND));
    directory.put(`${FIRST}.tmp`, Buffer.alloc(0));
    await directory.expectLog(logged);
    expect(directory.names()).toEqual([FIRST, SECOND]);
  });
});

describe('a torn tail of the last segment', () => {
  /** Three whole records, then these bytes: kept but for the zeros at their end, which are room that was not used. */
  const expectCut = async (logged: readonly Logged[], whole: Buffer, tail: Buffer): Promise<void> => {
    directory.restore(new Map([[FIRST, Buffer.concat([whole, tail])]]));
    const kept = tail.subarray(0, tail.findLastIndex((byte) => byte !== 0) + 1);
    if (kept.length > 0) expect(await directory.expectMended()).toEqual(logged);
    else expect(await directory.expectWhole()).toEqual(logged);
    const broken = [[`${FIRST}.${whole.length}.broken`, kept] as const].filter(() => kept.length > 0);
    expect(directory.files()).toEqual(new Map([[FIRST, whole], ...broken]));
    await directory.expectLog(logged);
  };

  it('is kept and cut off wherever the last record was torn', async () => {
    const logged = await directory.write(1, 4);
    const { offset } = placeOf(last(logged));
    const bytes = directory.get(FIRST);
    for (let end = offset + 1; end < bytes.length; end += 1) {
      await expectCut(logged.slice(0, 3), bytes.subarray(0, offset), bytes.subarray(offset, end));
    }
  });

  it('is none where the file ends with a record', async () => {
    const logged = await directory.write(1, 4);
    const { offset } = placeOf(last(logged));
    directory.put(FIRST, directory.get(FIRST).subarray(0, offset));
    await directory.expectLog(logged.slice(0, 3));
    expect(directory.names()).toEqual([FIRST]);
  });

  it.each([1, FRAME_BYTES - 1, FRAME_BYTES, 100, 4096, 2_000_000])(
    'of %d zeros is cut off',
    async (zeros) => {
      const logged = await directory.write(1, 3);
      await expectCut(logged, directory.get(FIRST), Buffer.alloc(zeros));
    },
  );

  it('of zeros in place of the end of a record is cut off', async () => {
    const logged = await directory.write(1, 4);
    const { offset } = placeOf(last(logged));
    const bytes = directory.get(FIRST);
    for (let from = offset; from < bytes.length; from += 1) {
      const tail = Buffer.from(bytes.subarray(offset)).fill(0, from - offset);
      await expectCut(logged.slice(0, 3), bytes.subarray(0, offset), tail);
    }
  });

  it('of noise is cut off', async () => {
    const logged = await directory.write(1, 3);
    const bytes = directory.get(FIRST);
    const noise = fc.uint8Array({ minLength: 1, maxLength: 300, size: 'max' });
    await fc.assert(
      fc.asyncProperty(noise, (tail) => expectCut(logged, bytes, Buffer.from(tail))),
      { numRuns: 50 },
    );
  });

  it('of the records of another segment is cut off', async () => {
    await directory.write(1, 3);
    const foreign = directory.get(FIRST).subarray(HEADER_BYTES);
    directory.restore(new Map());
    const logged = await directory.write(1, 3);
    await expectCut(logged, directory.get(FIRST), foreign);
  });

  it('that is all there is of the first record leaves an empty segment', async () => {
    await directory.write(1, 1);
    const bytes = directory.get(FIRST);
    await expectCut([], bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES, HEADER_BYTES + 30));
  });

  it('longer than a chunk is kept whole', { tags: ['slow'] }, async () => {
    const { log } = await directory.open();
    const logged = [appendOne(log, aCommand(1)), appendOne(log, aCommand(2, 3_000_000))];
    directory.close(log);
    const { offset } = placeOf(last(logged));
    const bytes = directory.get(FIRST);
    await expectCut(logged.slice(0, 1), bytes.subarray(0, offset), bytes.subarray(offset, -1));
  });

  it('that tears at the same place again does not overwrite what was kept', async () => {
    const logged = await directory.write(1, 3);
    const bytes = directory.get(FIRST);
    for (const tail of ['first', 'second', 'third']) {
      directory.put(FIRST, Buffer.concat([bytes, Buffer.from(tail)]));
      expect(await directory.expectMended()).toEqual(logged);
    }
    const kept = `${FIRST}.${bytes.length}`;
    expect(directory.get(`${kept}.broken`).toString()).toBe('first');
    expect(directory.get(`${kept}.1.broken`).toString()).toBe('second');
    expect(directory.get(`${kept}.2.broken`).toString()).toBe('third');
  });

  it('after earlier segments is cut off the last alone', async () => {
    const logged = await directory.write(1, 8, THREE_RECORDS);
    const before = directory.files();
    directory.put(THIRD, directory.get(THIRD).subarray(0, -1));
    expect(await directory.expectMended()).toEqual(logged.slice(0, 7));
    expect(directory.get(FIRST)).toEqual(before.get(FIRST));
    expect(directory.get(SECOND)).toEqual(before.get(SECOND));
    await directory.expectLog(logged.slice(0, 7));
  });
});

describe('a disk too full to keep a torn tail', () => {
  const KEEPING: readonly (readonly [string, Judge])[] = [
    ['make the file', ({ name }) => (name === 'create' ? { code: 'ENOSPC' } : undefined)],
    ['write it', (call) => (keeps(call, 'write') ? { code: 'ENOSPC', bytes: 3 } : undefined)],
    ['write more of it', (call) => (keeps(call, 'write') ? { bytes: 0 } : undefined)],
    ['make it durable', (call) => (keeps(call, 'sync') ? { code: 'ENOSPC' } : undefined)],
    ['name it', ({ name }) => (name === 'rename' ? { code: 'ENOSPC' } : undefined)],
  ];

  function keeps({ name, path }: DiskCall, wanted: DiskCall['name']): boolean {
    return name === wanted && path.endsWith('.broken.tmp');
  }

  it.each(KEEPING)('(it cannot %s) keeps nobody from starting', async (_what, judge) => {
    const logged = await directory.write(1, 4);
    const bytes = directory.get(FIRST);
    const { offset } = placeOf(last(logged));
    directory.put(FIRST, bytes.subarray(0, -1));
    directory.disk.judge = judge;
    const { log, commands, mended } = await directory.open();
    expect(commands).toEqual(logged.slice(0, 3));
    expect(mended).toEqual([
      `${FIRST}: cut ${RECORD_BYTES - 1} bytes of an unfinished write at byte ${offset}, the disk is too full to keep them`,
    ]);
    directory.disk.mend();
    directory.close(log);
    expect(directory.files()).toEqual(new Map([[FIRST, bytes.subarray(0, offset)]]));
    await directory.expectLog(logged.slice(0, 3));
  });

  /** Of four records this one is damaged: nothing is cut off while it cannot be kept. */
  const expectKept = async (damaged: number, judge: Judge): Promise<void> => {
    const logged = await directory.write(1, 4);
    const { offset } = placeOf(logged[damaged - 1] ?? expect.fail());
    directory.put(FIRST, flip(directory.get(FIRST), offset + FRAME_BYTES, 0));
    const before = directory.files();
    directory.disk.judge = judge;
    await expect(directory.open()).rejects.toThrow(/ENOSPC|took no more bytes/);
    directory.disk.mend();
    expect(directory.files()).toEqual(before);
    expect(await directory.expectMended()).toEqual(logged.slice(0, damaged - 1));
  };

  it.each(KEEPING)('(it cannot %s) loses no whole record behind bad bytes', async (_what, judge) => {
    await expectKept(3, judge);
  });

  it.each(KEEPING)(
    '(it cannot %s) loses no record that is there to its end, and damaged',
    async (_, judge) => {
      await expectKept(4, judge);
    },
  );

  it('is told from one that fails, on which nothing is cut off', async () => {
    await directory.write(1, 4);
    directory.put(FIRST, directory.get(FIRST).subarray(0, -1));
    const before = directory.files();
    directory.disk.judge = (call) => (keeps(call, 'write') ? { code: 'EIO' } : undefined);
    await expect(directory.open()).rejects.toThrow('EIO');
    expect(directory.files()).toEqual(before);
  });
});

describe('a last segment without a whole header', () => {
  it.each([
    ['the first', 0],
    ['one that follows others', 6],
  ])('is refused, whatever there is of it: %s', async (_, commandsBefore) => {
    await directory.write(1, commandsBefore + 1, THREE_RECORDS);
    const name = last(directory.names());
    const whole = directory.get(name);
    const prefixes = Array.from({ length: HEADER_BYTES }, (_, length) => whole.subarray(0, length));
    const zeros = [1, HEADER_BYTES - 1, HEADER_BYTES, 4096].map((length) => Buffer.alloc(length));
    const blankHeader = Buffer.from(whole).fill(0, 0, HEADER_BYTES);
    for (const bytes of [...prefixes, ...zeros, blankHeader]) {
      directory.put(name, bytes);
      await directory.expectRefused(commandsBefore / 3 + 1, 0);
    }
  });

  it('cannot come from a power cut: its name appears after its header is durable', async () => {
    const calls: string[] = [];
    const { log } = await directory.open(THREE_RECORDS);
    appendTo(log, 1, 3);
    directory.disk.judge = ({ name, path }) => {
      calls.push(`${name} ${basename(path)}`);
      return undefined;
    };
    appendTo(log, 4, 4);
    directory.disk.mend();
    expect(calls).toEqual([
      `sync ${FIRST}`,
      `create ${SECOND}.tmp`,
      `write ${SECOND}.tmp`,
      `sync ${SECOND}.tmp`,
      `rename ${SECOND}`,
      `sync-directory ${basename(directory.path)}`,
      `write ${SECOND}`,
    ]);
  });
});

describe('the mark of a clean shutdown', () => {
  /** Three records of the first segment and one of the second, closed in order. */
  let logged: Logged[];
  let files: Files;

  beforeEach(async () => {
    const { log } = await directory.open(THREE_RECORDS);
    logged = appendTo(log, 1, 4);
    log.close();
    files = directory.files();
  });

  it('holds the number of the last record, and is gone once the log is open', async () => {
    expect(directory.get(MARK).toString()).toBe('4');
    const { log, commands, cleanShutdown, mended } = await directory.open();
    expect({ commands, cleanShutdown, mended }).toEqual({
      commands: logged,
      cleanShutdown: true,
      mended: [],
    });
    expect(directory.names()).toEqual([FIRST, SECOND]);
    directory.disk.crash();
    expect(log.lastStamp.sequence).toBe(4);
    expect((await directory.open()).cleanShutdown).toBe(false);
  });

  it('of an empty log is no record, and of the next close another', async () => {
    directory.restore(new Map());
    (await directory.open()).log.close();
    expect(directory.get(MARK).toString()).toBe('0');
    const { log, cleanShutdown } = await directory.open();
    expect(cleanShutdown).toBe(true);
    appendTo(log, 1, 2);
    log.close();
    expect(directory.get(MARK).toString()).toBe('2');
  });

  it('refuses a log that ends before it, wherever it was shortened', async () => {
    const [, , third] = logged;
    if (third === undefined) throw new Error('no third record');
    const second = directory.get(SECOND);
    for (let length = HEADER_BYTES; length < second.length; length += 1) {
      directory.restore(new Map([...files, [SECOND, second.subarray(0, length)]]));
      await directory.expectRefused(2, HEADER_BYTES, /ends with record 3.*closed in order with record 4/);
    }
    directory.restore(new Map([...files, [SECOND, Buffer.alloc(0)]]));
    await directory.expectRefused(2, 0);
    // The last segment is gone, and then half of what was the last before.
    directory.remove(SECOND);
    await directory.expectRefused(1, THREE_RECORDS, /ends with record 3.*closed in order with record 4/);
    directory.put(FIRST, directory.get(FIRST).subarray(0, placeOf(third).offset + 5));
    await directory.expectRefused(1, placeOf(third).offset, /ends with record 2/);
    directory.remove(FIRST);
    await directory.expectRefused(1, 0, /ends with record 0/);
  });

  it('refuses a log whose last record is damaged, whichever bit it is', { tags: ['slow'] }, async () => {
    const second = directory.get(SECOND);
    for (let bit = HEADER_BYTES * 8; bit < second.length * 8; bit += 1) {
      directory.put(SECOND, flip(second, bit >>> 3, bit & 7));
      await directory.expectRefused(2, HEADER_BYTES, /closed in order with record 4/);
    }
  });

  it('is not the end of a log that goes on behind it: it came back with the power', async () => {
    (await directory.open()).log.close();
    const more = await directory.write(5, 6);
    directory.put(MARK, Buffer.from('4'));
    const { log, commands, cleanShutdown, mended } = await directory.open();
    expect({ commands, cleanShutdown, mended }).toEqual({
      commands: [...logged, ...more],
      cleanShutdown: false,
      mended: [],
    });
    directory.close(log);
  });

  it('does not keep a torn tail behind it from being cut off', async () => {
    const second = directory.get(SECOND);
    directory.put(SECOND, Buffer.concat([second, Buffer.from('torn')]));
    expect(await directory.expectMended()).toEqual(logged);
    expect(directory.get(SECOND)).toEqual(second);
  });

  it.each(['', 'x', '-1', '1e3', '4\n', '4 ', '99999999999999999', 'x'.repeat(5000)])(
    'that nobody wrote says nothing: %j',
    async (text) => {
      directory.put(MARK, Buffer.from(text));
      const { commands, cleanShutdown } = await directory.open();
      expect(commands).toEqual(logged);
      expect(cleanShutdown).toBe(false);
      expect(directory.names()).toEqual([FIRST, SECOND]);
    },
  );

  it('half-made is a leftover like others', async () => {
    directory.remove(MARK);
    directory.put(`${MARK}.tmp`, Buffer.from('99'));
    const { log, commands, cleanShutdown } = await directory.open();
    expect({ commands, cleanShutdown }).toEqual({ commands: logged, cleanShutdown: false });
    expect(directory.names()).toEqual([FIRST, SECOND]);
    directory.put(`${MARK}.tmp`, Buffer.from('99'));
    log.close();
    expect(directory.get(MARK).toString()).toBe('4');
    expect(directory.names()).toEqual([MARK, FIRST, SECOND]);
  });
});

describe('bad bytes in the last segment with records behind them', () => {
  /** Three records that the next three were written knowing durable. */
  let logged: Logged[];
  let bytes: Buffer;

  beforeEach(async () => {
    logged = [...(await directory.write(1, 3)), ...(await directory.write(4, 6))];
    bytes = directory.get(FIRST);
  });

  it('that were durable are refused; that never were are cut off: every byte', async () => {
    for (let at = HEADER_BYTES; at < bytes.length; at += 1) {
      const damaged = flip(bytes, at, at % 8);
      directory.restore(new Map([[FIRST, damaged]]));
      const index = Math.floor((at - HEADER_BYTES) / RECORD_BYTES);
      const offset = HEADER_BYTES + index * RECORD_BYTES;
      if (index < 3) {
        await directory.expectRefused(1, offset, /it was durable, and record \d follows it/);
        continue;
      }
      expect(await directory.expectMended()).toEqual(logged.slice(0, index));
      expect(directory.get(`${FIRST}.${offset}.broken`)).toEqual(damaged.subarray(offset));
      expect(directory.get(FIRST)).toEqual(bytes.subarray(0, offset));
    }
  });

  it('that were durable are refused when a record that was not is bad too', async () => {
    const damaged = flip(flip(bytes, HEADER_BYTES + RECORD_BYTES, 0), THREE_RECORDS, 0);
    directory.put(FIRST, damaged);
    await directory.expectRefused(1, HEADER_BYTES + RECORD_BYTES);
  });

  it('that were durable are refused however many of them there are', async () => {
    const damaged = Buffer.from(bytes).fill(0, HEADER_BYTES, THREE_RECORDS + 2 * RECORD_BYTES);
    directory.put(FIRST, damaged);
    await directory.expectRefused(1, HEADER_BYTES);
  });

  it('that never were durable are cut off with the records behind them, and the log goes on', async () => {
    directory.put(FIRST, Buffer.from(bytes).fill(0, THREE_RECORDS, THREE_RECORDS + RECORD_BYTES));
    expect(await directory.expectMended()).toEqual(logged.slice(0, 3));
    await directory.expectLog(logged.slice(0, 3));
  });

  it('are refused after a sync in the background too', async () => {
    directory.restore(new Map());
    const { log } = await directory.open();
    appendTo(log, 1, 2);
    await log.makeDurable();
    appendTo(log, 3, 3);
    directory.close(log);
    const whole = directory.get(FIRST);
    directory.put(FIRST, flip(whole, HEADER_BYTES + RECORD_BYTES + 10, 3));
    await directory.expectRefused(1, HEADER_BYTES + RECORD_BYTES);
    directory.put(FIRST, flip(whole, HEADER_BYTES + 2 * RECORD_BYTES + 10, 3));
    expect(await directory.expectMended()).toHaveLength(2);
  });
});

describe('a long tail that never was durable', () => {
  it('is searched for durable records in one go, not anew from each record in it', async () => {
    const logged = await directory.write(1, 2000);
    const bytes = directory.get(FIRST);
    directory.put(FIRST, flip(bytes, HEADER_BYTES + RECORD_BYTES, 0));
    directory.disk.bytesRead = 0;
    expect(await directory.expectMended()).toEqual(logged.slice(0, 1));
    expect(directory.disk.bytesRead).toBeLessThan(20 * bytes.length);
  });
});

describe('a damaged record of an earlier segment', () => {
  it('is refused, whichever bit it is', async () => {
    const logged = await directory.write(1, 8, THREE_RECORDS);
    const files = directory.files();
    const place = fc.tuple(fc.constantFrom(...logged.slice(0, 6)), fc.nat(RECORD_BYTES - 1), fc.nat(7));
    await fc.assert(
      fc.asyncProperty(place, async ([record, at, bit]) => {
        const { ordinal, offset } = placeOf(record);
        const name = segmentFileName(ordinal);
        directory.restore(files);
        directory.put(name, flip(directory.get(name), offset + at, bit));
        await directory.expectRefused(ordinal, offset);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['shortened', (bytes: Buffer) => bytes.subarray(0, -1), 1, HEADER_BYTES + 2 * RECORD_BYTES],
    ['followed by zeros', (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(40)]), 1, THREE_RECORDS],
    ['followed by noise', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('?')]), 1, THREE_RECORDS],
    ['shortened by a record', (bytes: Buffer) => bytes.subarray(0, -RECORD_BYTES), 2, 0],
    ['shortened to its header', (bytes: Buffer) => bytes.subarray(0, HEADER_BYTES), 2, 0],
    ['shortened to half its header', (bytes: Buffer) => bytes.subarray(0, HEADER_BYTES / 2), 1, 0],
    ['emptied', () => Buffer.alloc(0), 1, 0],
    ['zeroed', () => Buffer.alloc(THREE_RECORDS), 1, 0],
  ])('is refused where the segment is %s', async (_, damage, ordinal, offset) => {
    await directory.write(1, 7, THREE_RECORDS);
    directory.put(FIRST, damage(directory.get(FIRST)));
    await directory.expectRefused(ordinal, offset);
  });

  it('is refused where good records were appended to the segment that others follow', async () => {
    await directory.write(1, 7, THREE_RECORDS);
    const whole = directory.files();
    directory.restore(new Map([[FIRST, directory.get(FIRST)]]));
    await directory.write(4, 4);
    const longer = directory.get(FIRST);
    directory.restore(new Map([...whole, [FIRST, longer]]));
    await directory.expectRefused(2, 0, /segment 1 does not end where this one says/);
  });

  it('is refused where another record of the same length has taken the place of its last', async () => {
    await directory.write(1, 7, THREE_RECORDS);
    const whole = directory.files();
    directory.restore(new Map([[FIRST, directory.get(FIRST).subarray(0, -RECORD_BYTES)]]));
    await directory.write(9, 9);
    const other = directory.get(FIRST);
    expect(other).toHaveLength(THREE_RECORDS);
    directory.restore(new Map([...whole, [FIRST, other]]));
    await directory.expectRefused(2, 0, /segment 1 does not end where this one says/);
  });
});

describe('a damaged header', () => {
  it.each([
    ['the last segment', 3],
    ['a middle segment', 2],
    ['the first segment', 1],
  ])('is refused, whichever bit of it is flipped: %s', async (_, ordinal) => {
    await directory.write(1, 8, THREE_RECORDS);
    const name = segmentFileName(ordinal);
    const whole = directory.get(name);
    for (let bit = 0; bit < HEADER_BYTES * 8; bit += 1) {
      directory.put(name, flip(whole, bit >>> 3, bit & 7));
      await directory.expectRefused(ordinal, 0);
    }
  });
});

describe('a segment that does not belong', () => {
  /** The log's three segments: three records, three records, two. */
  let logged: Logged[];
  let files: Files;

  beforeEach(async () => {
    logged = await directory.write(1, 8, THREE_RECORDS);
    files = directory.files();
  });

  const fileOf = (name: string): Buffer => {
    const bytes = files.get(name);
    if (bytes === undefined) throw new Error(`no ${name}`);
    return bytes;
  };

  it('because the first is missing is refused', async () => {
    directory.remove(FIRST);
    await directory.expectRefused(2, 0, /segments 1 to 1 before it are missing/);
  });

  it('because one between is missing is refused', async () => {
    directory.remove(SECOND);
    await directory.expectRefused(3, 0, /segments 2 to 2 before it are missing/);
  });

  it('because two were swapped is refused', async () => {
    directory.put(SECOND, fileOf(THIRD));
    directory.put(THIRD, fileOf(SECOND));
    await directory.expectRefused(2, 0, /its header says it is segment 3/);
  });

  it('because it is there twice is refused', async () => {
    directory.put(segmentFileName(4), fileOf(THIRD));
    await directory.expectRefused(4, 0, /its header says it is segment 3/);
  });

  it.each([FIRST, SECOND, THIRD])('because %s is of a log of the same commands is refused', async (name) => {
    directory.restore(new Map());
    expect(await directory.write(1, 8, THREE_RECORDS)).toEqual(logged);
    directory.put(name, fileOf(name));
    await directory.expectRefused(name === THIRD ? 3 : 2, 0, /another log/);
  });

  it('because it was written by a later version is refused, and the version named', async () => {
    for (const name of [SECOND, THIRD]) {
      directory.restore(files);
      directory.put(name, ofVersion(3, fileOf(name)));
      const before = directory.files();
      await expect(directory.open()).rejects.toThrow(LogOfOtherVersion);
      await expect(directory.open()).rejects.toThrow(
        `${name} has log format version 3, and this program reads`,
      );
      expect(directory.files()).toEqual(before);
    }
  });

  it('is taken where header and end agree: the forgeries below differ in one field', async () => {
    directory.put(segmentFileName(4), encodeHeader(next(fileOf(THIRD), logged)));
    await directory.expectLog(logged);
  });

  it.each<[string, (header: SegmentHeader) => SegmentHeader, RegExp]>([
    ['its ordinal', (header) => ({ ...header, ordinal: 5 }), /it is segment 5/],
    ['its log', (header) => ({ ...header, logId: 'f'.repeat(32) }), /another log/],
    [
      'its first record',
      (header) => ({ ...header, firstSequence: 10 }),
      /starts with record 10, after record 8/,
    ],
    [
      'the record it repeats',
      (header) => ({ ...header, firstSequence: 8 }),
      /starts with record 8, after record 8/,
    ],
    [
      'the length before it',
      (header) => ({ ...header, previousBytes: header.previousBytes + 1 }),
      /does not end/,
    ],
    [
      'the checksum before it',
      (header) => ({ ...header, previousCrc: header.previousCrc - 1 }),
      /does not end/,
    ],
  ])('because of %s is refused', async (_, forge, reason) => {
    directory.put(segmentFileName(4), encodeHeader(forge(next(fileOf(THIRD), logged))));
    await directory.expectRefused(4, 0, reason);
  });

  /** The header of the segment that would follow the third. */
  function next(third: Buffer, commands: readonly Logged[]): SegmentHeader {
    const reading = decodeHeader(third);
    if (reading.type !== 'header') throw new Error('the third segment has no header');
    return {
      ...reading.header,
      ordinal: 4,
      firstSequence: commands.length + 1,
      previousBytes: third.length,
      previousCrc: third.readUInt32LE(placeOf(last(commands)).offset),
    };
  }
});

describe('a record out of its place', () => {
  it.each([
    ['a number too high', 5, START_MS + 10],
    ['a number there was', 3, START_MS + 10],
    ['a time before the last', 4, START_MS + 1],
    ['no number', Number.NaN, START_MS + 10],
  ])('is refused in the last segment: %s', async (_, sequence, atMs) => {
    const logged = await directory.write(1, 3);
    const bytes = directory.get(FIRST);
    const record = bytesOf(encodeCommand(aCommand(4)));
    sealFrame(record, 0, record.length, { sequence, atMs }, HEADER_BYTES, seedOf(bytes));
    directory.put(FIRST, Buffer.concat([bytes, record]));
    await directory.expectRefused(1, bytes.length, new RegExp(`record ${sequence} follows record 3`));
    // The same record in its place is good.
    sealFrame(
      record,
      0,
      record.length,
      { sequence: 4, atMs: last(logged).stamp.atMs },
      HEADER_BYTES,
      seedOf(bytes),
    );
    directory.put(FIRST, Buffer.concat([bytes, record]));
    const { log, commands } = await directory.open();
    expect(commands.map(({ stamp }) => stamp.sequence)).toEqual([1, 2, 3, 4]);
    directory.close(log);
  });
});
