/**
 * Recovery: from the files of a log to its last good record.
 *
 *   what is found                                                     what is done
 *   ----------------------------------------------------------------  -----------------------------------
 *   leftover `*.tmp`                                                  removed: it never was part of a log
 *   no segment                                                        an empty log
 *   last segment shorter than its header, or zeros there              set aside as `.broken`
 *   last segment: bad bytes, and no record after them                 torn: kept as `.broken`, cut off
 *   last segment: bad bytes, records after them, and none of those
 *     was written when the bad bytes were known durable               lost with the power: the same
 *   last segment: bad bytes that were durable once                    refused
 *   an earlier segment: bad bytes, or another end than the one the
 *     next header names                                               refused
 *   a segment missing, swapped, of another log or another format      refused
 *   a record out of sequence                                          refused
 *
 * "Refused" is `LogDamaged`: it names segment and byte, and nothing on disk has been changed.
 */
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import { type Disk, type DiskFile, readFully, writeFully } from '../lib/disk.ts';
import { decodeCommand } from './command-codec.ts';
import { LogDamaged } from './errors.ts';
import { type LogPosition, positionAt } from './position.ts';
import { findRecordAfter, type ScanEnd, type ScannedRecord, SegmentScan } from './scan.ts';
import { decodeHeader, HEADER_BYTES, ordinalOf, type SegmentHeader, segmentFileName } from './segment.ts';

export type Visit = (command: Command, stamp: Stamp, position: LogPosition) => void;

/** The last segment as recovery leaves it. */
export interface LastSegment {
  readonly header: SegmentHeader;
  readonly seed: number;
  readonly lengthBytes: number;
  /** CRC at the start of its last record, 0 where it has none. */
  readonly lastCrc: number;
}

export interface Recovery {
  /** Undefined for an empty log. */
  readonly last: LastSegment | undefined;
  /** Of the last record; sequence 0 for an empty log. */
  readonly lastStamp: Stamp;
  /** What was mended, a sentence each, for the operator. */
  readonly mended: readonly string[];
}

export interface RecoveryOptions {
  readonly disk: Disk;
  readonly directory: string;
  /** Lets other work run between chunks. */
  readonly pause: () => Promise<void>;
}

/** Hands every command of the log to `visit`, in order, and leaves its files ready for appending. */
export async function recover(options: RecoveryOptions, visit: Visit): Promise<Recovery> {
  const { disk, directory } = options;
  removeLeftovers(disk, directory);
  const ordinals = segmentOrdinals(disk, directory);
  const mended: string[] = [];
  let lastStamp: Stamp = { sequence: 0, atMs: 0 };
  let last: LastSegment | undefined;

  for (const ordinal of ordinals) {
    const name = segmentFileName(ordinal);
    const isLast = ordinal === ordinals.at(-1);
    const file = disk.open(join(directory, name), 'read');
    try {
      const reading = readHeader(file);
      if (reading.type === 'bad') throw new LogDamaged(name, 0, reading.reason);
      if (reading.type === 'unfinished') {
        if (!isLast) throw new LogDamaged(name, 0, 'its header is missing, and segments follow it');
        mended.push(setAside(options, name));
        break;
      }
      const { header, seed } = reading;
      checkChain(name, ordinal, header, last, lastStamp);

      let lastCrc = 0;
      const end = await readRecords(
        options,
        file,
        seed,
        ({ frame, offset, bytes, payloadStart, payloadEnd }) => {
          const { stamp } = frame;
          if (stamp.sequence !== lastStamp.sequence + 1 || stamp.atMs < lastStamp.atMs) {
            throw new LogDamaged(
              name,
              offset,
              `record ${stamp.sequence} follows record ${lastStamp.sequence}`,
            );
          }
          visit(decodeCommand(bytes, payloadStart, payloadEnd), stamp, positionAt(ordinal, offset));
          lastStamp = stamp;
          lastCrc = frame.crc;
        },
      );
      if (end.type === 'bad') {
        if (!isLast) throw new LogDamaged(name, end.offset, end.reason);
        refuseDurable(name, file, seed, end, lastStamp);
        mended.push(cutTail(options, name, end.offset));
      }
      last = { header, seed, lengthBytes: end.offset, lastCrc };
    } finally {
      file.close();
    }
  }
  return { last, lastStamp, mended };
}

function removeLeftovers(disk: Disk, directory: string): void {
  for (const name of disk.list(directory)) {
    if (name.endsWith('.tmp')) disk.remove(join(directory, name));
  }
}

function segmentOrdinals(disk: Disk, directory: string): number[] {
  return disk
    .list(directory)
    .map(ordinalOf)
    .filter((ordinal) => ordinal !== undefined)
    .sort((a, b) => a - b);
}

function readHeader(file: DiskFile): ReturnType<typeof decodeHeader> {
  const bytes = Buffer.alloc(HEADER_BYTES);
  return decodeHeader(bytes.subarray(0, readFully(file, bytes, HEADER_BYTES, 0)));
}

/** A header must continue the segment before it: the next ordinal, the same log, the end that was reached. */
function checkChain(
  name: string,
  ordinal: number,
  header: SegmentHeader,
  previous: LastSegment | undefined,
  lastStamp: Stamp,
): void {
  const refuse = (reason: string): never => {
    throw new LogDamaged(name, 0, reason);
  };
  if (header.ordinal !== ordinal) refuse(`its header says it is segment ${header.ordinal}`);
  if (previous === undefined) {
    if (ordinal !== 1) refuse(`the log starts here: segments 1 to ${ordinal - 1} are missing`);
  } else {
    const before = previous.header.ordinal;
    if (ordinal !== before + 1) refuse(`it follows segment ${before}: segments between them are missing`);
    if (header.logId !== previous.header.logId) refuse('it belongs to another log');
    if (header.previousBytes !== previous.lengthBytes || header.previousCrc !== previous.lastCrc) {
      refuse(`segment ${before} does not end where this one says: ${header.previousBytes} bytes`);
    }
  }
  if (header.firstSequence !== lastStamp.sequence + 1) {
    refuse(`it starts with record ${header.firstSequence}, after record ${lastStamp.sequence}`);
  }
}

async function readRecords(
  options: RecoveryOptions,
  file: DiskFile,
  seed: number,
  visit: (record: ScannedRecord) => void,
): Promise<ScanEnd> {
  const scan = new SegmentScan(file, seed);
  for (;;) {
    const end = scan.step(visit);
    if (end !== undefined) return end;
    await options.pause();
  }
}

/** Bad bytes may be cut off only where no later record was written knowing them durable. */
function refuseDurable(name: string, file: DiskFile, seed: number, end: BadEnd, lastStamp: Stamp): void {
  let from = end.offset;
  for (;;) {
    const found = findRecordAfter(file, seed, from, lastStamp.sequence);
    if (found === undefined) return;
    if (found.frame.syncedBytes > end.offset) {
      const after = `${end.reason}; it was durable, and record ${found.frame.stamp.sequence} follows it`;
      throw new LogDamaged(name, end.offset, after);
    }
    from = found.offset;
  }
}

type BadEnd = Extract<ScanEnd, { type: 'bad' }>;

function cutTail(options: RecoveryOptions, name: string, offset: number): string {
  const { disk, directory } = options;
  const file = disk.open(join(directory, name), 'read-write');
  try {
    const tail = Buffer.alloc(file.sizeBytes() - offset);
    readFully(file, tail, tail.length, offset);
    const keptAs = keepBroken(options, `${name}.${offset}`, tail);
    file.truncate(offset);
    file.sync();
    return `${name}: cut ${tail.length} bytes of an unfinished write at byte ${offset}, kept as ${keptAs}`;
  } finally {
    file.close();
  }
}

function setAside(options: RecoveryOptions, name: string): string {
  const { disk, directory } = options;
  const keptAs = freeName(disk.list(directory), name);
  disk.rename(join(directory, name), join(directory, keptAs));
  disk.syncDirectory(directory);
  return `${name}: never finished being made, kept as ${keptAs}`;
}

function keepBroken({ disk, directory }: RecoveryOptions, stem: string, bytes: Buffer): string {
  const name = freeName(disk.list(directory), stem);
  const file = disk.open(join(directory, name), 'create');
  try {
    writeFully(file, bytes, 0);
    file.sync();
  } finally {
    file.close();
  }
  disk.syncDirectory(directory);
  return name;
}

/** A second crash must not overwrite what the first one left. */
function freeName(taken: readonly string[], stem: string): string {
  for (let n = 0; ; n += 1) {
    const name = n === 0 ? `${stem}.broken` : `${stem}.${n}.broken`;
    if (!taken.includes(name)) return name;
  }
}
