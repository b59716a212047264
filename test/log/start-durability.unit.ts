/** What a start makes durable, and in which order: a power cut may come at any moment of it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setAside } from '../../src/log/recovery.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import type { DiskCall } from './faulty-disk.ts';
import { aCommand, appendOne, appendTo, LogDirectory } from './log-directory.ts';

const FIRST = segmentFileName(1);

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => directory.discard());

/** The calls that change something or make it durable, and the files they are about. */
async function callsOf(act: () => unknown): Promise<readonly string[]> {
  const calls: DiskCall[] = [];
  directory.disk.judge = (call) => {
    calls.push(call);
    return undefined;
  };
  await act();
  directory.disk.mend();
  return calls.map(({ name, path }) => `${name} ${path.slice(directory.path.length + 1)}`.trim());
}

describe('a start', () => {
  it('makes durable what it is about to show, and the name that it stands under', async () => {
    await directory.write(1, 3);
    expect(await callsOf(() => directory.open())).toEqual([
      'sync-directory',
      // Written over itself, and cut where it ends: the kernel may call clean what a sync that failed has lost.
      `write ${FIRST}`,
      `truncate ${FIRST}`,
      `sync ${FIRST}`,
      'sync-directory',
    ]);
    expect(directory.disk.openFiles).toEqual([FIRST]);
  });

  it('keeps a torn tail before it cuts it off', async () => {
    await directory.write(1, 3);
    const whole = directory.get(FIRST);
    directory.put(FIRST, whole.subarray(0, -1));
    const calls = await callsOf(() => directory.open());
    const kept = directory.names().find((name) => name.endsWith('.broken')) ?? expect.fail();
    expect(calls.slice(0, 8)).toEqual([
      'sync-directory',
      `create ${kept}.tmp`,
      `write ${kept}.tmp`,
      `sync ${kept}.tmp`,
      `rename ${kept}`,
      'sync-directory',
      `truncate ${FIRST}`,
      `sync ${FIRST}`,
    ]);
    expect(directory.disk.openFiles).toEqual([FIRST]);
  });

  it('leaves nothing open of a log that it refuses', async () => {
    await directory.write(1, 3);
    const bytes = directory.get(FIRST);
    directory.put(FIRST, bytes.fill(0xff, bytes.length - 200, bytes.length - 150));
    await expect(directory.open()).rejects.toThrow(`${FIRST} is damaged`);
    expect(directory.disk.openFiles).toEqual([]);
  });
});

describe('a segment that is taken out of a log', () => {
  it('is kept under another name, durably, and none that was kept before is lost', async () => {
    for (const keptAs of [`${FIRST}.broken`, `${FIRST}.1.broken`, `${FIRST}.2.broken`]) {
      directory.put(FIRST, Buffer.from('x'));
      const calls = await callsOf(() => {
        const told = setAside(directory.disk, directory.path, FIRST);
        expect(told).toBe(`${FIRST}: taken out of the log, kept as ${keptAs}`);
      });
      expect(calls).toEqual([`rename ${keptAs}`, 'sync-directory']);
    }
    expect(directory.names()).toHaveLength(3);
  });
});

describe('a command that no record can hold', () => {
  it('is an error, and the log goes on', async () => {
    const { log } = await directory.open();
    const logged = appendTo(log, 1, 1);
    expect(() => appendOne(log, aCommand(2, 33 * 2 ** 20))).toThrow('larger than a record may be');
    logged.push(...appendTo(log, 2, 3));
    directory.close(log);
    await directory.expectLog(logged);
  });
});
