/** What `log verify` and `log repair` find and do; nothing that can be read is given up without being told of. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkpointFileName, writeCheckpoint } from '../../src/log/checkpoint.ts';
import { type InspectOptions, planRepair, repair, verify } from '../../src/log/inspect.ts';
import { replay } from '../../src/log/replay.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { appendTo, LogDirectory, type Logged, loggedIn, MARK, placeOf } from './log-directory.ts';

/** Takes two records. */
const SEGMENT_BYTES = 150;
const [FIRST, SECOND, THIRD] = [1, 2, 3].map(segmentFileName) as [string, string, string];

let directory: LogDirectory;
let logged: readonly Logged[];
let options: InspectOptions;

beforeEach(async () => {
  directory = new LogDirectory();
  // Two records each in three segments.
  logged = await directory.write(1, 6, SEGMENT_BYTES);
  options = { disk: directory.disk, logDirectory: directory.path, checkpointDirectory: directory.path };
});

afterEach(() => {
  directory.disk.crash();
  directory.discard();
});

const offsetOf = (n: number): number => placeOf(logged[n - 1] ?? expect.fail()).offset;

function damage(name: string, at: number): void {
  const bytes = directory.get(name);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  directory.put(name, bytes);
}

async function repaired(): Promise<readonly string[]> {
  const plan = (await planRepair(options)) ?? expect.fail('nothing to repair');
  const done = repair(options, plan);
  expect(await planRepair(options)).toBeUndefined();
  expect(directory.disk.openFiles).toEqual([]);
  return done;
}

async function commands(): Promise<readonly Logged[]> {
  const { log, commands } = await directory.open(SEGMENT_BYTES);
  directory.close(log);
  return commands;
}

describe('a whole log', () => {
  it('is found whole, and needs no repair', async () => {
    const seen: Logged[] = [];
    const verdict = await verify(options, (record) => seen.push(loggedIn(record)));
    expect(seen).toEqual(logged);
    expect(verdict).toMatchObject({
      commands: 6,
      end: { ordinal: 3, lastStamp: { sequence: 6 } },
      checkpoints: [],
      tornTail: undefined,
      damage: undefined,
    });
    expect(await planRepair(options)).toBeUndefined();
    expect(directory.disk.openFiles).toEqual([]);
  });

  it('may have a torn tail, which a start cuts off by itself', async () => {
    directory.put(THIRD, directory.get(THIRD).subarray(0, -1));
    const files = directory.files();
    expect(await verify(options)).toMatchObject({
      commands: 5,
      tornTail: `${THIRD}: the file ends inside a record`,
      damage: undefined,
    });
    expect(await planRepair(options)).toBeUndefined();
    expect(directory.files()).toEqual(files);
  });

  it('may be without its first segments, where they were deleted', async () => {
    directory.remove(FIRST);
    expect(await verify(options)).toMatchObject({ commands: 4, damage: undefined });
  });

  it('has checkpoints that can be used, or not', async () => {
    const { end } = await replay({ disk: directory.disk, directory: directory.path }, () => {});
    for (const ordinal of [1, 2]) {
      writeCheckpoint(directory.disk, directory.path, { ...(end ?? expect.fail()), ordinal }, []);
    }
    damage(checkpointFileName(1), 0);
    expect((await verify(options)).checkpoints).toEqual([
      { name: checkpointFileName(2), problem: undefined },
      {
        name: checkpointFileName(1),
        problem: `${checkpointFileName(1)} cannot be used: it is no checkpoint`,
      },
    ]);
    const nowhere = { ...options, checkpointDirectory: `${directory.path}/none` };
    expect((await verify(nowhere)).checkpoints).toEqual([]);
    expect(await planRepair(nowhere)).toBeUndefined();
  });
});

describe('a damaged log', () => {
  it('is cut where it is damaged; what could be read behind it is counted, and kept aside', async () => {
    damage(SECOND, offsetOf(3) + 30);
    expect(await verify(options)).toMatchObject({
      commands: 2,
      tornTail: undefined,
      damage: { segment: SECOND, offset: offsetOf(3) },
    });
    const files = directory.files();
    expect(await planRepair(options)).toMatchObject({
      damage: { segment: SECOND, offset: offsetOf(3), message: expect.stringContaining('checksum mismatch') },
      cutAt: offsetOf(3),
      setAside: [THIRD],
      lostCommands: 3,
    });
    expect(directory.files()).toEqual(files);
    expect(await repaired()).toEqual([
      `${THIRD}: taken out of the log, kept as ${THIRD}.broken`,
      expect.stringMatching(`^${SECOND}: cut .*, kept as ${SECOND}.${offsetOf(3)}.broken$`),
    ]);
    expect(await commands()).toEqual(logged.slice(0, 2));
  });

  it('loses a segment whose header is damaged, and those behind it', async () => {
    damage(SECOND, 20);
    expect(await planRepair(options)).toMatchObject({ cutAt: 0, setAside: [THIRD], lostCommands: 2 });
    expect(await repaired()).toEqual([
      `${THIRD}: taken out of the log, kept as ${THIRD}.broken`,
      `${SECOND}: taken out of the log, kept as ${SECOND}.broken`,
    ]);
    expect(await commands()).toEqual(logged.slice(0, 2));
  });

  it('ends where a segment is missing', async () => {
    directory.remove(SECOND);
    const { setAside, lostCommands } = (await planRepair(options)) ?? expect.fail();
    expect({ setAside, lostCommands }).toEqual({ setAside: [], lostCommands: 2 });
    expect(await repaired()).toEqual([`${THIRD}: taken out of the log, kept as ${THIRD}.broken`]);
    expect(await commands()).toEqual(logged.slice(0, 2));
  });

  it('that ends before the mark of its clean shutdown has lost as many as the mark says', async () => {
    const { log } = await directory.open(SEGMENT_BYTES);
    appendTo(log, 7, 9);
    log.close();
    for (const ordinal of [4, 5]) directory.remove(segmentFileName(ordinal));
    expect(await planRepair(options)).toMatchObject({ setAside: [], lostCommands: 3 });
    expect(await repaired()).toEqual([]);
    expect(directory.names()).not.toContain(MARK);
    expect(await commands()).toEqual(logged);
  });

  it('is read from its newest checkpoint that can be used: what that covers is not lost', async () => {
    const { disk, path } = directory;
    for (const throughOrdinal of [1, 2]) {
      const { end } = await replay({ disk, directory: path, throughOrdinal }, () => {});
      writeCheckpoint(disk, path, end ?? expect.fail(), []);
    }
    // Behind the checkpoint's back: its length is what is held to what is known.
    damage(FIRST, offsetOf(1) + 30);
    expect(await planRepair(options)).toBeUndefined();
    damage(checkpointFileName(2), 0);
    expect(await planRepair(options)).toBeUndefined();
    damage(checkpointFileName(1), 0);
    expect(await planRepair(options)).toMatchObject({ damage: { segment: FIRST }, lostCommands: 5 });
  });

  it('is not cut where the disk is too full to keep what would be cut off', async () => {
    damage(SECOND, offsetOf(4));
    const damaged = directory.get(SECOND);
    const plan = (await planRepair(options)) ?? expect.fail('nothing to repair');
    directory.disk.judge = ({ name }) => (name === 'write' ? { code: 'ENOSPC', bytes: 1 } : undefined);
    expect(() => repair(options, plan)).toThrow('ENOSPC');
    expect(directory.get(SECOND)).toEqual(damaged);
    directory.disk.mend();
    expect(await commands()).toEqual(logged.slice(0, 3));
    expect(directory.get(`${SECOND}.${offsetOf(4)}.broken`)).toEqual(damaged.subarray(offsetOf(4)));
  });

  it('gives up no disk error as damage', async () => {
    const { disk } = directory;
    const open = disk.open.bind(disk);
    disk.open = (path, mode) => {
      if (path.endsWith(SECOND)) throw new Error('EIO');
      return open(path, mode);
    };
    await expect(verify(options)).rejects.toThrow('EIO');
    await expect(planRepair(options)).rejects.toThrow('EIO');
  });
});
