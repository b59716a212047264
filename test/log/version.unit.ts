/** A log that an earlier version has begun is gone on with, in a segment of this version's format. */
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HEADER_BYTES, segmentFileName } from '../../src/log/segment.ts';
import { appendTo, LogDirectory, type Logged, type Writes } from './log-directory.ts';

const SEGMENT_BYTES = 64 * 1024 * 1024;
const FIRST = segmentFileName(1);
const SECOND = segmentFileName(2);
const PAYLOAD_LENGTH_AT = 4;
const FRAME_BYTES = 28;

let directory: LogDirectory;
beforeEach(() => {
  directory = new LogDirectory();
});
afterEach(() => directory.discard());

const versionOf = (name: string) => directory.get(name).readUInt32LE(8);

/** Makes a segment one of version 1: its header, whose CRC is in that of each record, and those. */
function makeOlder(name: string): Buffer {
  const bytes = Buffer.from(directory.get(name));
  bytes.writeUInt32LE(1, 8);
  const seed = crc32(bytes.subarray(0, 60));
  bytes.writeUInt32LE(seed, 60);
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const end = at + FRAME_BYTES + bytes.readUInt32LE(at + PAYLOAD_LENGTH_AT);
    bytes.writeUInt32LE(crc32(bytes.subarray(at + 4, end), seed), at);
    at = end;
  }
  directory.put(name, bytes);
  return bytes;
}

it.each<[number, Writes]>([
  [3, 'each'],
  [3, 'grouped'],
  [0, 'each'],
  [0, 'grouped'],
])('with %i commands in it, where appends write %s', async (count, writes) => {
  const first = await directory.open(SEGMENT_BYTES);
  const logged: Logged[] = appendTo(first.log, 1, Math.max(1, count));
  directory.close(first.log);
  if (count === 0) directory.put(FIRST, directory.get(FIRST).subarray(0, HEADER_BYTES));
  const older = makeOlder(FIRST);

  const next = await directory.open(SEGMENT_BYTES, writes);
  expect(next.commands).toEqual(count === 0 ? [] : logged);
  const more = appendTo(next.log, 101, 104);
  await next.log.makeDurable();
  directory.close(next.log);

  expect(directory.get(FIRST).equals(older)).toBe(true);
  expect([versionOf(FIRST), versionOf(SECOND)]).toEqual([1, 2]);
  await directory.expectLog([...next.commands, ...more]);
});
