/** The room that a segment's file is given ahead of what is written, and what is left of it. */
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Command } from '../../src/domain/command.ts';
import type { EncodedCommand } from '../../src/domain/encoded-events.ts';
import { encodeCommand } from '../../src/log/command-codec.ts';
import { FRAME_BYTES } from '../../src/log/record.ts';
import { HEADER_BYTES, segmentFileName } from '../../src/log/segment.ts';
import type { DiskCall } from './faulty-disk.ts';
import { aCommand, appendOne, appendTo, LogDirectory, placeOf } from './log-directory.ts';
import { bytesOf } from './records.ts';

const FIRST = segmentFileName(1);
const SEGMENT_BYTES = 64 * 1024 * 1024;
const ROOM_BYTES = 128 * 1024;

let directory: LogDirectory;
beforeEach(() => {
  directory = new LogDirectory();
});
afterEach(() => directory.discard());

const open = (segmentBytes = SEGMENT_BYTES) => directory.open(segmentBytes, 'each', ROOM_BYTES);
const sizeOf = (name: string) => fs.statSync(join(directory.path, name)).size;
/** How much of the first segment records are, however long it is. */
const written = () => {
  const bytes = directory.get(FIRST);
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
};

describe('room in the file of the active segment', () => {
  it('is made ahead of what is written, and holds zeros', async () => {
    const { log } = await open();
    appendTo(log, 1, 3);
    const end = log.sizeBytes();
    expect(sizeOf(FIRST)).toBeGreaterThanOrEqual(end + ROOM_BYTES / 2);
    expect(
      directory
        .get(FIRST)
        .subarray(end)
        .every((byte) => byte === 0),
    ).toBe(true);
    directory.close(log);
  });

  it('holds records that other programs read as soon as they are appended', async () => {
    const { log } = await open();
    for (let n = 1; n <= 50; n += 1) {
      const { position, command, stamp } = appendOne(log, aCommand(n));
      expect(placeOf({ command, position, stamp }).offset).toBeLessThan(written());
      expect(log.read(position)).toEqual({ command, stamp });
    }
    expect(written()).toBe(log.sizeBytes());
    directory.close(log);
  });

  it('takes no system call for a record', async () => {
    const { log } = await open();
    appendOne(log, aCommand(1));
    const before = processWrites();
    appendTo(log, 2, 100);
    for (let n = 101; n <= 200; n += 1) {
      const command = aCommand(n);
      expect(appendOne(log, amidst(command)).command).toEqual(command);
    }
    // Those of whatever else runs in this process.
    expect(processWrites() - before).toBeLessThan(20);
    directory.close(log);
  });

  it('is cut off where the log is closed', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 5);
    directory.close(log);
    expect(sizeOf(FIRST)).toBe(log.sizeBytes());
    await directory.expectLog(logged);
  });

  it('is cut off before the next segment begins', async () => {
    const { log } = await open(2000);
    const logged = appendTo(log, 1, 200);
    expect(directory.names().length).toBeGreaterThan(5);
    const closed = directory.names().slice(0, -1);
    for (const name of closed) expect(sizeOf(name)).toBeLessThan(3000);
    directory.disk.crash();
    await directory.expectLog(logged);
  });

  it('moves on where it ends, also for records larger than all of it', async () => {
    const { log } = await open();
    const logged = [20, 200_000, 20, 70_000, 70_000, 70_000, 1_000_000, 20].map((length, n) =>
      appendOne(log, aCommand(n, length)),
    );
    for (const { command, stamp, position } of logged) expect(log.read(position)).toEqual({ command, stamp });
    directory.disk.crash();
    await directory.expectLog(logged);
  });
});

describe('room that a process left behind', () => {
  it('is no damage and nothing to be kept: it is cut off, and the log goes on', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 5);
    const end = log.sizeBytes();
    directory.disk.crash();
    expect(sizeOf(FIRST)).toBeGreaterThan(end);
    const next = await open();
    expect(next.mended).toEqual([]);
    expect(next.commands).toEqual(logged);
    expect(sizeOf(FIRST)).toBe(end);
    const more = appendTo(next.log, 6, 8);
    directory.disk.crash();
    expect(directory.names()).toEqual([FIRST]);
    await directory.expectLog([...logged, ...more]);
  });

  it('is cut off by a log that makes none', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 5);
    directory.disk.crash();
    const grouped = await directory.open(SEGMENT_BYTES, 'grouped');
    expect(grouped.commands).toEqual(logged);
    expect(sizeOf(FIRST)).toBe(log.sizeBytes());
    directory.close(grouped.log);
  });

  it('of a segment without a record is cut off', async () => {
    const { log } = await open();
    appendOne(log, aCommand(1));
    directory.disk.crash();
    directory.put(FIRST, Buffer.concat([directory.get(FIRST).subarray(0, HEADER_BYTES), Buffer.alloc(5000)]));
    await directory.expectLog([]);
  });

  it('behind a record that was written half is not kept with it', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 4);
    const end = log.sizeBytes();
    const { offset } = placeOf(logged[3] ?? expect.fail());
    directory.disk.crash();
    const bytes = directory.get(FIRST);
    for (const [from, to] of [
      [offset, offset + 10],
      [offset + 10, end],
      [offset + 30, offset + 40],
      [end - 1, end],
    ] as const) {
      const torn = Buffer.from(bytes);
      torn.fill(0, offset, end);
      bytes.copy(torn, from, from, to);
      directory.restore(new Map([[FIRST, torn]]));
      expect(await directory.expectMended()).toEqual(logged.slice(0, 3));
      const kept = directory.get(`${FIRST}.${offset}.broken`);
      expect(Buffer.concat([kept, Buffer.alloc(to - offset)]).subarray(0, to - offset)).toEqual(
        torn.subarray(offset, to),
      );
      expect(kept.at(-1)).not.toBe(0);
    }
  });

  it('is none where durable records follow the zeros: that is refused', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 4);
    await log.makeDurable();
    appendTo(log, 5, 6);
    directory.disk.crash();
    const { offset } = placeOf(logged[3] ?? expect.fail());
    const end = placeOf(logged[3] ?? expect.fail()).offset + 8;
    const bytes = directory.get(FIRST);
    bytes.fill(0, offset, end);
    directory.restore(new Map([[FIRST, bytes]]));
    await directory.expectRefused(1, offset, /durable/);
  });

  it('behind an earlier segment is refused: it was cut off before the next one began', async () => {
    const { log } = await open(2000);
    appendTo(log, 1, 60);
    directory.disk.crash();
    const bytes = directory.get(FIRST);
    directory.put(FIRST, Buffer.concat([bytes, Buffer.alloc(100)]));
    await directory.expectRefused(1, bytes.length, /zeros/);
  });
});

describe('a disk that has no room', () => {
  /** Requests for room are answered as told; how many there were. */
  const refuseRoom = (bytes: number) => {
    let asked = 0;
    directory.disk.judge = ({ name }: DiskCall) => {
      if (name !== 'reserve') return undefined;
      asked += 1;
      return { code: 'ENOSPC', bytes };
    };
    return () => asked;
  };

  it.each([0, 1, 5000])('after %i bytes of it is written to by system calls', async (bytes) => {
    refuseRoom(bytes);
    const { log } = await open();
    const logged = appendTo(log, 1, 50);
    for (const { command, stamp, position } of logged) expect(log.read(position)).toEqual({ command, stamp });
    directory.close(log);
    expect(sizeOf(FIRST)).toBe(log.sizeBytes());
    await directory.expectLog(logged);
  });

  it('is asked again after so many bytes, and at a new segment', async () => {
    const asked = refuseRoom(0);
    const { log } = await open(4 * ROOM_BYTES);
    const length = ROOM_BYTES / 8;
    const logged = Array.from({ length: 31 }, (_, n) => appendOne(log, aCommand(n, length)));
    expect(asked()).toBe(4);
    directory.disk.mend();
    logged.push(...Array.from({ length: 10 }, (_, n) => appendOne(log, aCommand(n, length))));
    expect(sizeOf(segmentFileName(2))).toBeGreaterThan(ROOM_BYTES);
    directory.disk.crash();
    await directory.expectLog(logged);
  });

  it('has its last write cut off, room and all, where that fails', async () => {
    const { log } = await open();
    const logged = appendTo(log, 1, 3);
    const end = log.sizeBytes();
    directory.disk.judge = ({ name }) => (name === 'write' ? { code: 'EIO', bytes: 7 } : undefined);
    expect(() => appendOne(log, aCommand(4))).toThrow(/cannot be written/);
    expect(sizeOf(FIRST)).toBe(end);
    directory.disk.mend();
    logged.push(...appendTo(log, 5, 7));
    directory.disk.crash();
    await directory.expectLog(logged);
  });
});

/** write(2) and its kin, of this process so far. */
function processWrites(): number {
  return Number(/syscw: (\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** A command as it is encoded in a longer buffer. */
function amidst(command: Command): EncodedCommand {
  const record = bytesOf(encodeCommand(command));
  const bytes = Buffer.concat([Buffer.alloc(100, 'x'), record, Buffer.alloc(100, 'x')]);
  return { type: 'encoded-command', bytes, start: 100 + FRAME_BYTES, end: 100 + record.length };
}
