/** A log keeps open what it writes and the few segments that it has read last: a server runs for months. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandLog } from '../../src/log/log.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { appendTo, LogDirectory, type Logged, type Writes } from './log-directory.ts';

/** Takes one record. */
const SEGMENT_BYTES = 100;
const SEGMENTS = 20;

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => directory.discard());

async function fullLog(writes: Writes): Promise<{ log: CommandLog; logged: readonly Logged[] }> {
  const { log } = await directory.open(SEGMENT_BYTES, writes);
  const logged: Logged[] = [];
  for (let n = 1; n <= SEGMENTS; n += 1) {
    logged.push(...appendTo(log, n, n));
    await log.makeDurable();
  }
  return { log, logged };
}

describe.each<Writes>(['each', 'grouped'])('a log that is written to %s', (writes) => {
  it('has only its last segment open', async () => {
    await fullLog(writes);
    expect(directory.disk.openFiles).toEqual([segmentFileName(SEGMENTS)]);
  });

  it('has none open once it is closed, whatever was read', async () => {
    const { log, logged } = await fullLog(writes);
    for (const { position } of logged) log.read(position);
    log.close();
    expect(directory.disk.openFiles).toEqual([]);
  });

  it.each(['write', 'sync', 'rename'] as const)(
    'leaves nothing of a segment that could not be made: %s',
    async (name) => {
      const { log } = await fullLog(writes);
      directory.disk.judge = (call) =>
        call.name === name && call.path.endsWith('.tmp') !== (name === 'rename')
          ? { code: 'ENOSPC' }
          : undefined;
      const refused = async (): Promise<void> => {
        appendTo(log, SEGMENTS + 1, SEGMENTS + 1);
        await log.makeDurable();
      };
      await expect(refused()).rejects.toThrow('ENOSPC');
      expect(directory.disk.openFiles).toEqual([segmentFileName(SEGMENTS)]);
      expect(directory.names().filter((each) => each.endsWith('.tmp'))).toEqual([]);
    },
  );

  it('keeps a segment open until a sync that is under way has answered', async () => {
    const { log } = await directory.open(SEGMENT_BYTES, 'each');
    appendTo(log, 1, 1);
    const durable = log.makeDurable();
    appendTo(log, 2, 2);
    expect(directory.disk.openFiles).toEqual([segmentFileName(1), segmentFileName(2)]);
    await durable;
    expect(directory.disk.openFiles).toEqual([segmentFileName(2)]);
  });
});

describe('reading back', () => {
  it('keeps open the eight segments that were read last, and opens no other twice', async () => {
    const { log, logged } = await fullLog('each');
    const { disk } = directory;
    const read = (...ordinals: readonly number[]): number => {
      const before = disk.opened;
      for (const ordinal of ordinals) {
        const { position, command } = logged[ordinal - 1] ?? expect.fail();
        expect(log.read(position).command).toEqual(command);
      }
      return disk.opened - before;
    };
    expect(read(1, 2, 3, 4, 5, 6, 7, 8)).toBe(8);
    expect(read(1, 2, 3, 4, 5, 6, 7, 8, 1)).toBe(0);
    // The second is the one that was read longest ago.
    expect(read(9)).toBe(1);
    expect(read(1, 3)).toBe(0);
    expect(read(2)).toBe(1);
    expect(disk.openFiles).toEqual([1, 2, 3, 5, 6, 7, 8, 9, SEGMENTS].map(segmentFileName));
  });

  it('lets go of a segment that is deleted', async () => {
    const { log, logged } = await fullLog('each');
    for (const { position } of logged.slice(0, 3)) log.read(position);
    log.deleteOld(2, Number.POSITIVE_INFINITY);
    expect(directory.disk.openFiles).toEqual([3, SEGMENTS].map(segmentFileName));
  });

  it('says where a record or a header is not what it was, and keeps no such segment open', async () => {
    const { log, logged } = await fullLog('each');
    const [first, second] = [segmentFileName(1), segmentFileName(2)];
    directory.put(first, directory.get(first).subarray(0, -1));
    directory.put(second, Buffer.alloc(directory.get(second).length));
    const read = (n: number) => log.read((logged[n] ?? expect.fail()).position);
    expect(() => read(0)).toThrow(`${first} is damaged at byte 64: a record that was good is not any more`);
    expect(() => read(1)).toThrow(`${second} is damaged at byte 0: its header was good and is not any more`);
    expect(directory.disk.openFiles).not.toContain(second);
  });
});
