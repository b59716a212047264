/** The log on a disk that fills up, fails and falls short. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeCommand } from '../../src/log/command-codec.ts';
import { LogUnavailable, SyncFailed } from '../../src/log/errors.ts';
import type { CommandLog } from '../../src/log/log.ts';
import { HEADER_BYTES, segmentFileName } from '../../src/log/segment.ts';
import type { Judge } from './faulty-disk.ts';
import { aCommand, appendOne, appendTo, LogDirectory } from './log-directory.ts';
import { bytesOf } from './records.ts';

const RECORD_BYTES = bytesOf(encodeCommand(aCommand(1))).length;
const THREE_RECORDS = HEADER_BYTES + 3 * RECORD_BYTES;
const FIRST = segmentFileName(1);

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => directory.discard());

const writesFail: Judge = ({ name }) => (name === 'write' ? { code: 'ENOSPC' } : undefined);
const syncsFail: Judge = ({ name }) => (name === 'sync' ? { code: 'EIO' } : undefined);
const folderSyncsFail: Judge = ({ name }) => (name === 'sync-directory' ? { code: 'EIO' } : undefined);

/** The next write takes some bytes before it fails; every later one fails at once. */
function fillingUpAfter(bytes: number): Judge {
  let left = bytes;
  return ({ name }) => {
    if (name !== 'write') return undefined;
    const taken = left;
    left = 0;
    return { bytes: taken, code: 'ENOSPC' };
  };
}

/** What is in the log of this directory if the process ends now; the log that is open goes on. */
async function contentAfterCrash(): Promise<unknown> {
  const image = new LogDirectory();
  try {
    image.restore(directory.files());
    const { log, commands } = await image.open();
    log.close();
    return commands;
  } finally {
    image.discard();
  }
}

function expectUnavailable(log: CommandLog, n: number, nameLength?: number): void {
  const before = log.lastStamp;
  expect(() => appendOne(log, aCommand(n, nameLength))).toThrow(LogUnavailable);
  expect(log.lastStamp).toEqual(before);
}

describe('a disk that takes a few bytes at a time', () => {
  it.each([1, 7, 50])('gets all of them, %d a write', async (bytes) => {
    directory.disk.judge = ({ name }) => (name === 'write' ? { bytes } : undefined);
    const logged = await directory.write(1, 7, THREE_RECORDS);
    directory.disk.mend();
    await directory.expectLog(logged);
  });

  it('and then none is a full disk', async () => {
    const { log } = await directory.open();
    const logged = appendTo(log, 1, 2);
    directory.disk.judge = () => ({ bytes: 0 });
    expectUnavailable(log, 3);
    directory.disk.mend();
    logged.push(...appendTo(log, 3, 4));
    directory.close(log);
    await directory.expectLog(logged);
  });
});

describe('a disk without space for a record', () => {
  it('leaves the log as it was, however much of the record it took', async () => {
    const { log } = await directory.open();
    const logged = appendTo(log, 1, 3);
    for (let bytes = 0; bytes < RECORD_BYTES; bytes += 1) {
      const before = directory.get(FIRST);
      directory.disk.judge = fillingUpAfter(bytes);
      expectUnavailable(log, 99);
      expect(directory.get(FIRST)).toEqual(before);
      for (const { command, stamp, position } of logged)
        expect(log.read(position)).toEqual({ command, stamp });
      directory.disk.mend();
      logged.push(appendOne(log, aCommand(bytes)));
    }
    directory.close(log);
    await directory.expectLog(logged);
  });

  it('takes the first command once it has space', async () => {
    const { log } = await directory.open();
    directory.disk.judge = writesFail;
    expectUnavailable(log, 1);
    expect(directory.names()).not.toContain(FIRST);
    directory.disk.mend();
    const logged = appendTo(log, 1, 2);
    directory.close(log);
    await directory.expectLog(logged);
  });

  it.each([0, 1, 30, RECORD_BYTES - 1])(
    'and that refuses even to shorten the file: %d bytes stay, and are no record',
    async (bytes) => {
      const { log } = await directory.open();
      const logged = appendTo(log, 1, 3);
      const fillsUp = fillingUpAfter(bytes);
      directory.disk.judge = (call) => (call.name === 'truncate' ? { code: 'EIO' } : fillsUp(call));
      expectUnavailable(log, 4);
      expectUnavailable(log, 5);
      expect(directory.get(FIRST)).toHaveLength(THREE_RECORDS + bytes);
      expect(await contentAfterCrash()).toEqual(logged);
      for (const { command, stamp, position } of logged)
        expect(log.read(position)).toEqual({ command, stamp });

      directory.disk.mend();
      // Shorter than what stays of the failed one, it must not leave the rest of that behind itself.
      logged.push(appendOne(log, aCommand(4, 3)));
      directory.close(log);
      await directory.expectLog(logged);
    },
  );

  it('and with bytes still to be cut off does not seal them into the segment', async () => {
    const { log } = await directory.open(THREE_RECORDS);
    const logged = appendTo(log, 1, 2);
    const fillsUp = fillingUpAfter(20);
    directory.disk.judge = (call) => (call.name === 'truncate' ? { code: 'EIO' } : fillsUp(call));
    expectUnavailable(log, 3);
    // What is missing to a full segment can be written again; what is too much can not be cut off first.
    directory.disk.judge = ({ name }) => (name === 'truncate' ? { code: 'EIO' } : undefined);
    expectUnavailable(log, 3, 200);
    directory.disk.mend();
    logged.push(appendOne(log, aCommand(3, 200)));
    logged.push(appendOne(log, aCommand(4)));
    directory.close(log);
    expect(directory.get(FIRST)).toHaveLength(
      HEADER_BYTES + 2 * RECORD_BYTES + bytesOf(encodeCommand(aCommand(3, 200))).length,
    );
    await directory.expectLog(logged);
  });
});

describe('a disk that fails while the next segment is made', () => {
  it.each(['create', 'write', 'sync', 'rename'] as const)(
    'in %s: what was logged stays, and what comes after follows it',
    async (name) => {
      const { log } = await directory.open(THREE_RECORDS);
      const logged = appendTo(log, 1, 3);
      directory.disk.judge = (call) => {
        // The sync of the full segment is another matter: see below.
        if (call.name === 'sync' && call.path.endsWith(FIRST)) return undefined;
        return call.name === name ? { code: 'ENOSPC' } : undefined;
      };
      for (const nameLength of [200, 3]) {
        expectUnavailable(log, 4, nameLength);
        expect(await contentAfterCrash()).toEqual(logged);
      }

      directory.disk.mend();
      logged.push(appendOne(log, aCommand(4, 3)));
      expect(await contentAfterCrash()).toEqual(logged);
      logged.push(...appendTo(log, 5, 9));
      expect(await contentAfterCrash()).toEqual(logged);
      directory.close(log);
      await directory.expectLog(logged);
    },
  );

  it.each(['create', 'write', 'sync', 'rename'] as const)(
    'in %s: a restart goes on where the log ended',
    async (name) => {
      const { log } = await directory.open(THREE_RECORDS);
      const logged = appendTo(log, 1, 3);
      directory.disk.judge = (call) =>
        call.name === name && !call.path.endsWith(FIRST) ? { code: 'ENOSPC' } : undefined;
      expectUnavailable(log, 4);
      directory.disk.mend();
      directory.disk.crash();
      logged.push(...(await directory.write(4, 8, THREE_RECORDS)));
      await directory.expectLog(logged);
    },
  );

  it('in the sync of the folder: the process must end, and a restart goes on', async () => {
    const { log } = await directory.open(THREE_RECORDS);
    const logged = appendTo(log, 1, 3);
    directory.disk.judge = folderSyncsFail;
    expect(() => appendOne(log, aCommand(4))).toThrow(SyncFailed);
    expect(await contentAfterCrash()).toEqual(logged);
    directory.disk.mend();
    directory.disk.crash();
    logged.push(...(await directory.write(4, 8, THREE_RECORDS)));
    await directory.expectLog(logged);
  });
});

describe('a disk that cannot sync', () => {
  it('fails the append that would seal a segment: the process must end', async () => {
    const { log } = await directory.open(THREE_RECORDS);
    const logged = appendTo(log, 1, 3);
    directory.disk.judge = syncsFail;
    expect(() => appendOne(log, aCommand(4))).toThrow(SyncFailed);
    expect(directory.names()).toEqual([FIRST]);
    expect(await contentAfterCrash()).toEqual(logged);
  });

  it('fails a sync in the background', async () => {
    const { log } = await directory.open();
    appendTo(log, 1, 1);
    directory.disk.judge = syncsFail;
    await expect(log.makeDurable()).rejects.toThrow(SyncFailed);
  });

  it('does not count as durable what a failed sync was to cover', async () => {
    const { log } = await directory.open();
    const logged = appendTo(log, 1, 1);
    directory.disk.judge = syncsFail;
    await expect(log.makeDurable()).rejects.toThrow(SyncFailed);
    directory.disk.mend();
    appendTo(log, 2, 2);
    directory.disk.crash();
    // So record 2 does not vouch for record 1, which may be gone with the power.
    const bytes = directory.get(FIRST);
    bytes.fill(0, HEADER_BYTES, HEADER_BYTES + RECORD_BYTES);
    directory.put(FIRST, bytes);
    expect(await directory.expectMended()).toEqual([]);
    expect(logged).toHaveLength(1);
  });

  it('fails to open and to close', async () => {
    const logged = await directory.write(1, 2);
    directory.disk.judge = syncsFail;
    await expect(directory.open()).rejects.toThrow(SyncFailed);
    directory.disk.mend();
    const { log } = await directory.open();
    directory.disk.judge = syncsFail;
    expect(() => log.close()).toThrow(SyncFailed);
    directory.disk.mend();
    directory.disk.crash();
    await directory.expectLog(logged);
  });
});

describe('a sync that is still under way', () => {
  it('when its segment is full and the next is begun, is waited for', async () => {
    const { log } = await directory.open(THREE_RECORDS);
    const logged = appendTo(log, 1, 3);
    const synced = log.makeDurable();
    logged.push(...appendTo(log, 4, 7));
    await synced;
    directory.close(log);
    await directory.expectLog(logged);
  });

  it('when the log is closed, is waited for', async () => {
    const { log } = await directory.open();
    const logged = appendTo(log, 1, 3);
    const synced = log.makeDurable();
    directory.close(log);
    await synced;
    await directory.expectLog(logged);
  });
});

describe('a group that the disk does not take', () => {
  const openGrouped = async () => (await directory.open(THREE_RECORDS, 'grouped')).log;

  it('is forgotten, with what was appended meanwhile, and the log goes on', async () => {
    const log = await openGrouped();
    const logged = appendTo(log, 1, 2);
    await log.makeDurable();
    for (let bytes = 0; bytes < 2 * RECORD_BYTES; bytes += 7) {
      appendTo(log, 3, 4);
      directory.disk.judge = fillingUpAfter(bytes);
      const durable = log.makeDurable();
      appendTo(log, 5, 6);
      await expect(durable).rejects.toThrow(LogUnavailable);
      expect(log.lastStamp).toEqual(logged.at(-1)?.stamp);
      directory.disk.mend();
    }
    logged.push(...appendTo(log, 3, 3));
    await log.makeDurable();
    logged.push(...appendTo(log, 4, 8));
    await log.makeDurable();
    directory.close(log);
    await directory.expectLog(logged);
  });

  it.each(['create', 'write', 'sync', 'rename'] as const)(
    'because its segment cannot be made (%s): the next attempt makes it anew',
    async (name) => {
      const log = await openGrouped();
      const logged = appendTo(log, 1, 3);
      await log.makeDurable();
      directory.disk.judge = (call) =>
        call.name === name && !call.path.endsWith(FIRST) ? { code: 'ENOSPC' } : undefined;
      for (const nameLength of [200, 3]) {
        appendOne(log, aCommand(4, nameLength));
        await expect(log.makeDurable()).rejects.toThrow(LogUnavailable);
        expect(await contentAfterCrash()).toEqual(logged);
      }
      directory.disk.mend();
      logged.push(...appendTo(log, 4, 5));
      await log.makeDurable();
      directory.close(log);
      await directory.expectLog(logged);
    },
  );

  it.each([
    ['the folder of its new segment', folderSyncsFail],
    ['its segment', syncsFail],
  ])('because a sync fails, of %s, ends the process', async (_, judge) => {
    const log = await openGrouped();
    const logged = appendTo(log, 1, 3);
    await log.makeDurable();
    if (judge === syncsFail) {
      logged.push(...appendTo(log, 4, 4));
      await log.makeDurable();
    }
    directory.disk.judge = judge;
    appendTo(log, 5, 5);
    await expect(log.makeDurable()).rejects.toThrow(SyncFailed);
    directory.disk.crash();
    directory.disk.mend();
    expect((await directory.open()).commands.slice(0, logged.length)).toEqual(logged);
  });

  /** Calls are noted, by name and segment; those of `failing` fail, a write after so many bytes. */
  const noting = (failing: readonly string[], bytes = 7) => {
    const calls: string[] = [];
    directory.disk.judge = ({ name, path }) => {
      const call = `${name} ${/\d\.log(?:\.tmp)?$/.exec(path)?.[0] ?? 'folder'}`;
      calls.push(call);
      return failing.includes(call) ? { code: 'EIO', bytes } : undefined;
    };
    return calls;
  };
  const sizeOf = (ordinal: number) => directory.get(segmentFileName(ordinal)).length;

  it('is told of when it has been forgotten, and one that is taken is not', async () => {
    const log = await openGrouped();
    const [first] = appendTo(log, 1, 1);
    const told: unknown[] = [];
    const note = () => told.push(log.lastStamp);
    await log.makeDurable(note);
    await log.makeDurable(note);
    expect(told).toEqual([]);
    appendTo(log, 2, 2);
    noting(['write 1.log']);
    await expect(log.makeDurable(note)).rejects.toThrow(LogUnavailable);
    expect(told).toEqual([first?.stamp]);
    directory.disk.mend();
    log.close();
  });

  /** A log of so many durable records and a group of one more, which the disk refuses with these calls failing. */
  const refusing = async (durable: number, failing: readonly string[], bytes?: number) => {
    const log = await openGrouped();
    const logged = appendTo(log, 1, durable);
    await log.makeDurable();
    const end = sizeOf(1);
    appendTo(log, durable + 1, durable + 1);
    const calls = noting(failing, bytes);
    const sizesTold: number[] = [];
    await expect(log.makeDurable(() => sizesTold.push(sizeOf(1)))).rejects.toThrow(LogUnavailable);
    return { log, logged, end, calls, sizesTold };
  };

  it('is cut off before anybody is told', async () => {
    const { log, end, calls, sizesTold } = await refusing(1, ['write 1.log']);
    expect(sizesTold).toEqual([end]);
    expect(calls).toEqual(['write 1.log', 'truncate 1.log']);
    directory.disk.mend();
    log.close();
  });

  it('and does not let itself be cut off is cut off, durably, before the next is written', async () => {
    const { log, logged, end } = await refusing(1, ['write 1.log', 'truncate 1.log']);
    expect(sizeOf(1)).toBe(end + 7);
    logged.push(...appendTo(log, 3, 3));
    const calls = noting([]);
    await log.makeDurable();
    logged.push(...appendTo(log, 4, 4));
    await log.makeDurable();
    expect(calls).toEqual([
      ...['truncate 1.log', 'sync 1.log', 'write 1.log', 'sync 1.log'],
      ...['write 1.log', 'sync 1.log'],
    ]);
    directory.close(log);
    await directory.expectLog(logged);
  });

  it('and does not let itself be cut off is cut off at the close', async () => {
    const { log, logged, end } = await refusing(1, ['write 1.log', 'truncate 1.log']);
    const calls = noting([]);
    directory.close(log);
    expect(calls.slice(0, 2)).toEqual(['truncate 1.log', 'sync 1.log']);
    expect(sizeOf(1)).toBe(end);
    await directory.expectLog(logged);
  });

  it('leaves a segment that was begun for it empty, durably', async () => {
    const { log, logged, calls } = await refusing(3, ['write 2.log']);
    expect(calls.slice(calls.indexOf('write 2.log'))).toEqual([
      ...['write 2.log', 'truncate 2.log', 'sync 2.log'],
      'truncate 1.log',
    ]);
    expect(sizeOf(2)).toBe(HEADER_BYTES);
    expect(directory.disk.openFiles).toEqual([FIRST]);
    directory.disk.mend();
    logged.push(...appendTo(log, 4, 5));
    await log.makeDurable();
    directory.close(log);
    await directory.expectLog(logged);
  });

  it('leaves no segment that was begun for it and would not be emptied, once the log is closed', async () => {
    const failing = ['write 2.log', 'truncate 2.log'];
    const { log, logged } = await refusing(3, failing, RECORD_BYTES - 1);
    expect(sizeOf(2)).toBeGreaterThan(HEADER_BYTES);
    directory.disk.mend();
    directory.close(log);
    expect(directory.names()).toEqual([FIRST]);
    await directory.expectLog(logged);
  });

  it('does not come back with the next start, where the log is closed in order', async () => {
    const log = await openGrouped();
    const logged = appendTo(log, 1, 1);
    await log.makeDurable();
    appendTo(log, 2, 4);
    directory.disk.judge = fillingUpAfter(2 * RECORD_BYTES);
    await expect(log.makeDurable()).rejects.toThrow(LogUnavailable);
    directory.disk.mend();
    log.close();
    expect((await directory.open()).commands).toEqual(logged);
  });
});
