/** Replaying a part of a log: what a checkpoint covers is not read, and is there all the same. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ReplayEnd, type ReplayOptions, type ReplayProgress, replay } from '../../src/log/replay.ts';
import { HEADER_BYTES, segmentFileName } from '../../src/log/segment.ts';
import { LogDirectory, type Logged, loggedIn } from './log-directory.ts';

/** Takes two records. */
const SEGMENT_BYTES = 150;

let directory: LogDirectory;
let logged: readonly Logged[];

beforeEach(async () => {
  directory = new LogDirectory();
  logged = await directory.write(1, 9, SEGMENT_BYTES);
});

afterEach(() => {
  expect(directory.disk.openFiles).toEqual([]);
  directory.discard();
});

async function replayed(
  options: Partial<ReplayOptions> = {},
): Promise<ReplayEnd & { readonly read: readonly Logged[] }> {
  const read: Logged[] = [];
  const { disk, path } = directory;
  const end = await replay({ disk, directory: path, ...options }, (record) => read.push(loggedIn(record)));
  return { ...end, read };
}

const segments = (): string[] => directory.names().filter((name) => name.startsWith('segment-'));

describe('a replay', () => {
  it('goes through the segments in their order, in whichever the folder lists them', async () => {
    const { disk } = directory;
    const list = disk.list.bind(disk);
    disk.list = (path) => list(path).reverse();
    expect(await replayed()).toMatchObject({ read: logged, commands: 9, tail: { type: 'clean' } });
  });

  it('can be cut in two anywhere, as a checkpoint does', async () => {
    for (let through = 1; through <= segments().length; through += 1) {
      const covered = await replayed({ throughOrdinal: through });
      const rest = await replayed({ after: covered.end });
      expect([...covered.read, ...rest.read]).toEqual(logged);
      expect(covered.commands + rest.commands).toBe(9);
    }
  });

  it('tells how far it has come, in bytes and in commands', async () => {
    const told: ReplayProgress[] = [];
    await replayed({ onProgress: (progress) => told.push(progress) });
    const totalBytes = segments().reduce((sum, name) => sum + directory.get(name).length, 0);
    expect(told.at(-1)).toEqual({ doneBytes: totalBytes, totalBytes, commands: 9 });
    expect(told[0]?.doneBytes).toBeGreaterThan(HEADER_BYTES);
    const doneBytes = told.map((progress) => progress.doneBytes);
    expect(doneBytes.toSorted((a, b) => a - b)).toEqual(doneBytes);
    expect(new Set(told.map((progress) => progress.totalBytes))).toEqual(new Set([totalBytes]));
  });

  it('lets others have their turn between chunks', async () => {
    let pauses = 0;
    const pause = async (): Promise<void> => {
      pauses += 1;
    };
    await replayed({ pause });
    expect(pauses).toBeGreaterThanOrEqual(segments().length);
  });
});

describe('segments that a checkpoint covers', () => {
  const covered = async (through: number) => (await replayed({ throughOrdinal: through })).end;

  it('may be deleted, the oldest first', async () => {
    const after = await covered(3);
    directory.remove(segmentFileName(1));
    directory.remove(segmentFileName(2));
    expect((await replayed({ after })).read).toEqual(logged.slice(6));
  });

  it('may be all that there is', async () => {
    const after = await covered(segments().length);
    expect(await replayed({ after })).toMatchObject({ end: after, seed: undefined, commands: 0 });
  });

  it('may not be missing at the end', async () => {
    const after = await covered(4);
    for (const ordinal of [3, 4, 5]) directory.remove(segmentFileName(ordinal));
    await expect(replayed({ after })).rejects.toThrow(
      `${segmentFileName(3)} is damaged at byte 0: segments 3 to 4 are missing`,
    );
    for (const name of segments()) directory.remove(name);
    await expect(replayed({ after })).rejects.toThrow('segments 1 to 4 are missing');
  });

  it('may not be missing between others', async () => {
    const after = await covered(4);
    directory.remove(segmentFileName(3));
    await expect(replayed({ after })).rejects.toThrow(
      `${segmentFileName(3)} is damaged at byte 0: it is missing`,
    );
  });

  it.each([2, 4])(
    'are as long as is known of them, neither shorter nor longer: the one numbered %d',
    async (ordinal) => {
      const after = await covered(4);
      if (ordinal === 4) directory.remove(segmentFileName(5));
      const name = segmentFileName(ordinal);
      const whole = directory.get(name);
      const [length, shorter, longer] = [whole.length, whole.length - 1, whole.length + 1];
      directory.put(name, whole.subarray(0, shorter));
      await expect(replayed({ after })).rejects.toThrow(
        `${name} is damaged at byte ${shorter}: it is ${shorter} bytes long, and should be ${length}`,
      );
      directory.put(name, Buffer.concat([whole, Buffer.alloc(1)]));
      await expect(replayed({ after })).rejects.toThrow(
        `${name} is damaged at byte ${length}: it is ${longer} bytes long, and should be ${length}`,
      );
    },
  );

  it('are not judged by a header that nobody can read: the next to be replayed is, and says so', async () => {
    const after = await covered(3);
    directory.put(segmentFileName(2), Buffer.alloc(directory.get(segmentFileName(2)).length));
    expect((await replayed({ after })).read).toEqual(logged.slice(6));
    directory.put(segmentFileName(4), Buffer.alloc(100));
    await expect(replayed({ after })).rejects.toThrow(`${segmentFileName(4)} is damaged at byte 0`);
  });
});
