/**
 * Replay: reads the segments of a log in order and hands over their commands, changing nothing on disk. What
 * it makes of bytes that are no record depends on where they are: at the end of the last segment they are a
 * tail, for recovery to judge; anywhere else they are damage.
 */
import { join } from 'node:path';
import type { Stamp } from '../domain/command.ts';
import { type Disk, type DiskFile, readFully, sizeOf } from '../lib/disk.ts';
import { LogDamaged, LogOfOtherVersion } from './errors.ts';
import { type LogPosition, positionAt } from './position.ts';
import { type BadEnd, type ScanEnd, type ScannedRecord, SegmentScan } from './scan.ts';
import {
  decodeHeader,
  FORMAT_VERSION,
  HEADER_BYTES,
  type HeaderReading,
  ordinalOf,
  type SegmentHeader,
  segmentFileName,
} from './segment.ts';

/** A record as it stands in the log. */
export interface LoggedRecord {
  readonly stamp: Stamp;
  readonly position: LogPosition;
  /** Hold its payload, an encoded command, from `start` to `end`: good until the visit is over. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

type BadHeader = Extract<HeaderReading, { readonly type: 'bad' }>;

export type Visit = (record: LoggedRecord) => void;

/** Where a segment ends: what the header of the next one must continue. */
export interface SegmentEnd {
  readonly ordinal: number;
  /** Lower-case hex. */
  readonly logId: string;
  readonly lengthBytes: number;
  /** CRC at the start of its last record, 0 where it has none. */
  readonly lastCrc: number;
  /** How much of it was known durable when its last record was written. */
  readonly syncedBytes: number;
  /** Of the last record up to here; sequence 0 where there is none. */
  readonly lastStamp: Stamp;
}

export interface ReplayOptions {
  readonly disk: Disk;
  readonly directory: string;
  /** Segments up to this end are known already (a checkpoint covers them) and are not read. */
  readonly after?: SegmentEnd | undefined;
  /** The last segment to read; all there are where it is not given. */
  readonly throughOrdinal?: number;
  /** Lets other work run between chunks. */
  readonly pause?: () => Promise<void>;
  readonly onProgress?: (progress: ReplayProgress) => void;
}

export interface ReplayProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
  readonly commands: number;
}

export type Tail =
  | { readonly type: 'clean' }
  /** The last segment ends in room that was made for records and not used. */
  | { readonly type: 'blank'; readonly name: string; readonly offset: number }
  /** The last segment ends in bytes that are no record. */
  | BadTail;

export interface BadTail extends BadEnd {
  /** Of the segment. */
  readonly name: string;
}

export interface ReplayEnd {
  /** The end of the last segment that has a header; `after` where none was read, undefined for an empty log. */
  readonly end: SegmentEnd | undefined;
  /** The seed of that segment's records; undefined where it was not read. */
  readonly seed: number | undefined;
  readonly commands: number;
  readonly tail: Tail;
}

/** A log of another version is none to be repaired. */
function refusalOf(name: string, { reason, otherVersion }: BadHeader): Error {
  if (otherVersion === undefined) return new LogDamaged(name, 0, reason);
  return new LogOfOtherVersion(name, otherVersion, FORMAT_VERSION);
}

/** @throws LogDamaged naming segment and byte; LogOfOtherVersion */
export async function replay(options: ReplayOptions, visit: Visit): Promise<ReplayEnd> {
  const { disk, directory, after, pause = async () => {}, onProgress = () => {} } = options;
  const present = segmentOrdinals(disk, directory);
  if (after !== undefined) checkCovered(disk, directory, present, after);
  const through = options.throughOrdinal ?? Number.MAX_SAFE_INTEGER;
  const ordinals = present.filter((ordinal) => ordinal > (after?.ordinal ?? 0) && ordinal <= through);
  const totalBytes = ordinals.reduce((sum, ordinal) => sum + segmentSize(disk, directory, ordinal), 0);
  let end = after;
  let seed: number | undefined;
  let tail: Tail = { type: 'clean' };
  let commands = 0;
  let doneBytes = 0;

  for (const ordinal of ordinals) {
    const name = segmentFileName(ordinal);
    const isLast = ordinal === ordinals.at(-1);
    const file = disk.open(join(directory, name), 'read');
    try {
      const reading = readHeader(file);
      if (reading.type === 'bad') throw refusalOf(name, reading);
      const { header } = reading;
      checkChain(name, ordinal, header, end);
      seed = reading.seed;

      let lastStamp: Stamp = end?.lastStamp ?? { sequence: 0, atMs: 0 };
      let lastCrc = 0;
      let syncedBytes = HEADER_BYTES;
      const scan = new SegmentScan(file, seed);
      const take = ({ frame, offset, bytes, payloadStart, payloadEnd }: ScannedRecord) => {
        const { stamp } = frame;
        if (stamp.sequence !== lastStamp.sequence + 1 || stamp.atMs < lastStamp.atMs) {
          throw new LogDamaged(name, offset, `record ${stamp.sequence} follows record ${lastStamp.sequence}`);
        }
        visit({ stamp, position: positionAt(ordinal, offset), bytes, start: payloadStart, end: payloadEnd });
        lastStamp = stamp;
        lastCrc = frame.crc;
        syncedBytes = frame.syncedBytes;
        commands += 1;
      };
      let scanEnd: ScanEnd | undefined;
      do {
        scanEnd = scan.step(take);
        onProgress({ doneBytes: doneBytes + scan.offset, totalBytes, commands });
        await pause();
      } while (scanEnd === undefined);
      doneBytes += scanEnd.offset;
      if (scanEnd.type !== 'complete') {
        // Before a next segment begins, what the room was not used for is cut off.
        const reason = scanEnd.type === 'bad' ? scanEnd.reason : 'zeros follow its last record';
        if (!isLast) throw new LogDamaged(name, scanEnd.offset, reason);
        tail = { ...scanEnd, name };
      }
      end = { ordinal, logId: header.logId, lengthBytes: scanEnd.offset, lastCrc, syncedBytes, lastStamp };
    } finally {
      file.close();
    }
  }
  return { end, seed, commands, tail };
}

/**
 * Segments that a checkpoint covers are not replayed, but an agent's history is read from them: none may be
 * missing among those that are left, and each must be as long as the next one says.
 */
function checkCovered(disk: Disk, directory: string, present: readonly number[], after: SegmentEnd): void {
  const last = present.at(-1) ?? 0;
  if (last < after.ordinal) {
    throw new LogDamaged(
      segmentFileName(last + 1),
      0,
      `segments ${last + 1} to ${after.ordinal} are missing`,
    );
  }
  for (const [index, ordinal] of present.entries()) {
    if (ordinal > after.ordinal) break;
    const name = segmentFileName(ordinal);
    const next = present[index + 1];
    if (next !== undefined && next !== ordinal + 1) {
      throw new LogDamaged(segmentFileName(ordinal + 1), 0, 'it is missing, and segments follow it');
    }
    const stated = next === undefined ? after.lengthBytes : headerOf(disk, directory, next)?.previousBytes;
    const actual = segmentSize(disk, directory, ordinal);
    if (stated !== undefined && actual !== stated) {
      throw new LogDamaged(
        name,
        Math.min(actual, stated),
        `it is ${actual} bytes long, and should be ${stated}`,
      );
    }
  }
}

function headerOf(disk: Disk, directory: string, ordinal: number): SegmentHeader | undefined {
  const file = disk.open(join(directory, segmentFileName(ordinal)), 'read');
  try {
    const reading = readHeader(file);
    return reading.type === 'header' ? reading.header : undefined;
  } finally {
    file.close();
  }
}

/** Ordinals of the segments in a directory, ascending. */
export function segmentOrdinals(disk: Disk, directory: string): number[] {
  return disk
    .list(directory)
    .map(ordinalOf)
    .filter((ordinal) => ordinal !== undefined)
    .sort((a, b) => a - b);
}

export function readHeader(file: DiskFile): ReturnType<typeof decodeHeader> {
  const bytes = Buffer.alloc(HEADER_BYTES);
  return decodeHeader(bytes.subarray(0, readFully(file, bytes, HEADER_BYTES, 0)));
}

export function segmentSize(disk: Disk, directory: string, ordinal: number): number {
  return sizeOf(disk, join(directory, segmentFileName(ordinal)));
}

/** A header must continue the segment before it: the next ordinal, the same log, the end that was reached. */
function checkChain(
  name: string,
  ordinal: number,
  header: SegmentHeader,
  previous: SegmentEnd | undefined,
): void {
  const refuse = (reason: string): never => {
    throw new LogDamaged(name, 0, reason);
  };
  if (header.ordinal !== ordinal) refuse(`its header says it is segment ${header.ordinal}`);
  const expected = (previous?.ordinal ?? 0) + 1;
  if (ordinal !== expected) refuse(`segments ${expected} to ${ordinal - 1} before it are missing`);
  if (previous !== undefined) {
    if (header.logId !== previous.logId) refuse('it belongs to another log');
    if (header.previousBytes !== previous.lengthBytes || header.previousCrc !== previous.lastCrc) {
      refuse(`segment ${previous.ordinal} does not end where this one says: at byte ${header.previousBytes}`);
    }
  }
  const lastSequence = previous?.lastStamp.sequence ?? 0;
  if (header.firstSequence !== lastSequence + 1) {
    refuse(`it starts with record ${header.firstSequence}, after record ${lastSequence}`);
  }
}
