/** A log that an earlier version has begun is gone on with, in a segment of this version's format. */
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FRAME_BYTES } from '../../src/log/record.ts';
import { HEADER_BYTES, seedOf, segmentFileName } from '../../src/log/segment.ts';
import { appendTo, LogDirectory, ofVersion, type Writes } from './log-directory.ts';

const FIRST = segmentFileName(1);
const SECOND = segmentFileName(2);
const PAYLOAD_LENGTH_AT = 4;

let directory: LogDirectory;
beforeEach(() => {
  directory = new LogDirectory();
});
afterEach(() => directory.discard());

const versionOf = (name: string) => directory.get(name).readUInt32LE(8);

/** Makes a segment one of version 1: its header, whose CRC is in that of each record, and those. */
function makeOlder(name: string): Buffer {
  const bytes = ofVersion(1, directory.get(name));
  const seed = seedOf(bytes);
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
  const logged = await directory.write(1, Math.max(1, count));
  if (count === 0) directory.put(FIRST, directory.get(FIRST).subarray(0, HEADER_BYTES));
  const older = makeOlder(FIRST);

  const next = await directory.open(undefined, writes);
  expect(next.commands).toEqual(count === 0 ? [] : logged);
  const more = appendTo(next.log, 101, 104);
  await next.log.makeDurable();
  directory.close(next.log);

  expect(directory.get(FIRST).equals(older)).toBe(true);
  expect([versionOf(FIRST), versionOf(SECOND)]).toEqual([1, 2]);
  await directory.expectLog([...next.commands, ...more]);
});
