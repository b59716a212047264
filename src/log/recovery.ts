/**
 * Recovery: from the files of a log to its last good record.
 *
 *   what is found                                                     what is done
 *   ----------------------------------------------------------------  -----------------------------------
 *   leftover `*.tmp`                                                  removed: it never was part of a log
 *   no segment                                                        an empty log
 *   last segment: zeros after its last record                         room not used: cut off
 *   last segment: bad bytes, and no record after them                 torn: kept as `.broken`, cut off
 *   last segment: bad bytes, records after them, and none of those
 *     was written when the bad bytes were known durable               lost with the power: the same
 *   last segment: bad bytes that were durable once                    refused
 *   a header that is short, blank or does not check out               refused: it was durable before its name
 *   an earlier segment: bad bytes, or another end than the one the
 *     next header names                                               refused
 *   a segment missing, swapped, or of another log                     refused
 *   a record out of sequence                                          refused
 *   the log ends before the mark of its clean shutdown                refused
 *
 *   a segment of another format version                               refused, and not to be repaired
 *
 * Where the disk is too full to keep what is torn, a record that the file ends inside of is cut off all the same; of
 * anything else the start ends with the disk's error, and nothing is cut.
 *
 * "Refused" is `LogDamaged`: it names segment and byte, and nothing on disk has been changed. Of another version it is
 * `LogOfOtherVersion`, which no repair touches.
 */
import { join } from 'node:path';
import { type Disk, isDiskFull, readFully, writeFully } from '../lib/disk.ts';
import { LogDamaged } from './errors.ts';
import type { RecordFrame } from './record.ts';
import { type BadTail, type ReplayEnd, type ReplayOptions, replay, type Visit } from './replay.ts';
import { recordsAfter, writtenTo } from './scan.ts';
import { segmentFileName } from './segment.ts';
import { readMark, removeMark } from './shutdown-mark.ts';

export interface Recovery extends ReplayEnd {
  /** The log was closed in order, and nothing has happened to it since. */
  readonly cleanShutdown: boolean;
  /** What was mended, a sentence each, for the operator. */
  readonly mended: readonly string[];
}

/**
 * Hands every command of the log to `visit`, in order, and judges by the table above what stands at its end; changes
 * nothing. Whoever wants to know whether a log is whole asks this, so that all come to what a start comes to.
 *
 * @throws LogDamaged where a start refuses the log
 */
export async function replayJudged(
  options: ReplayOptions,
  visit: Visit,
): Promise<ReplayEnd & { readonly mark: number | undefined }> {
  const { disk, directory } = options;
  const mark = readMark(disk, directory);
  const read = await replay(options, visit);
  const { tail, end } = read;
  const sequence = end?.lastStamp.sequence ?? 0;
  if (mark !== undefined && sequence < mark) {
    const name = segmentFileName(end?.ordinal ?? 1);
    const sentence = `the log ends with record ${sequence}, and was closed in order with record ${mark}`;
    throw new LogDamaged(name, end?.lengthBytes ?? 0, sentence);
  }
  if (tail.type === 'bad') refuseDurable(options, tail, read);
  return { ...read, mark };
}

/** Hands every command of the log to `visit`, in order, and leaves its files ready for appending. */
export async function recover(options: ReplayOptions, visit: Visit): Promise<Recovery> {
  const { disk, directory } = options;
  const { mark, ...read } = await replayJudged(options, visit);
  const { end } = read;
  removeLeftovers(disk, directory);
  removeMark(disk, directory);
  // Also where there is no segment yet: what was removed here must not come back.
  disk.syncDirectory(directory);
  return {
    ...read,
    mended: mend(options, read),
    cleanShutdown: mark === (end?.lastStamp.sequence ?? 0),
  };
}

function mend(options: ReplayOptions, read: ReplayEnd): string[] {
  const { tail } = read;
  switch (tail.type) {
    case 'clean':
    // Whoever goes on where the log ends cuts its file there (`Tip.continueFrom`).
    case 'blank':
      return [];
    case 'bad':
      return [mendTail(options, tail, read)];
  }
}

/**
 * A disk that has filled up is where a write ends in the middle, and where there may be no room to keep what it left. A
 * record that was not written to its end was acknowledged to nobody, and is no reason not to start.
 */
function mendTail(options: ReplayOptions, tail: BadTail, read: ReplayEnd): string {
  const mayBeLost = () => tail.isUnfinished && isEmpty(recordsBehind(options, tail, read));
  return cutTail(options.disk, options.directory, tail.name, tail.offset, mayBeLost);
}

function removeLeftovers(disk: Disk, directory: string): void {
  for (const name of disk.list(directory)) {
    if (name.endsWith('.tmp')) disk.remove(join(directory, name));
  }
}

/** Bad bytes may be cut off only where no later record was written knowing them durable. */
function refuseDurable(options: ReplayOptions, tail: BadTail, read: ReplayEnd): void {
  for (const { syncedBytes, stamp } of recordsBehind(options, tail, read)) {
    if (syncedBytes <= tail.offset) continue;
    const sentence = `${tail.reason}; it was durable, and record ${stamp.sequence} follows it`;
    throw new LogDamaged(tail.name, tail.offset, sentence);
  }
}

/** Whole records behind bad bytes. */
function* recordsBehind(
  { disk, directory }: ReplayOptions,
  { name, offset }: BadTail,
  { seed, end }: ReplayEnd,
): Iterable<RecordFrame> {
  if (seed === undefined) return;
  const file = disk.open(join(directory, name), 'read');
  try {
    yield* recordsAfter(file, seed, offset, end?.lastStamp.sequence ?? 0);
  } finally {
    file.close();
  }
}

function isEmpty(things: Iterable<unknown>): boolean {
  for (const _ of things) return false;
  return true;
}

/**
 * Cuts a segment at a byte, keeping what it cuts beside it; answers a sentence about it.
 *
 * @param mayBeLost whether it is cut all the same where the disk is too full to keep it
 */
export function cutTail(
  disk: Disk,
  directory: string,
  name: string,
  offset: number,
  mayBeLost: () => boolean = () => false,
): string {
  const tail = readTail(disk, directory, name, offset);
  let kept = 'the disk is too full to keep them';
  try {
    kept = `kept as ${keepBroken(disk, directory, `${name}.${offset}`, tail)}`;
  } catch (error) {
    if (!isDiskFull(error) || !mayBeLost()) throw error;
  }
  cut(disk, directory, name, offset);
  return `${name}: cut ${tail.length} bytes of an unfinished write at byte ${offset}, ${kept}`;
}

/** What stands from a byte on, without room that was not used. */
function readTail(disk: Disk, directory: string, name: string, offset: number): Buffer {
  const file = disk.open(join(directory, name), 'read');
  try {
    const tail = Buffer.alloc(writtenTo(file, offset, file.sizeBytes()) - offset);
    readFully(file, tail, tail.length, offset);
    return tail;
  } finally {
    file.close();
  }
}

/** Cuts a segment at a byte, durably. */
export function cut(disk: Disk, directory: string, name: string, offset: number): void {
  const file = disk.open(join(directory, name), 'read-write');
  try {
    file.truncate(offset);
    file.sync();
  } finally {
    file.close();
  }
}

/** Renames a segment out of the log; answers a sentence about it. */
export function setAside(disk: Disk, directory: string, name: string): string {
  const keptAs = freeName(disk.list(directory), name);
  disk.rename(join(directory, name), join(directory, keptAs));
  disk.syncDirectory(directory);
  return `${name}: taken out of the log, kept as ${keptAs}`;
}

function keepBroken(disk: Disk, directory: string, stem: string, bytes: Buffer): string {
  const name = freeName(disk.list(directory), stem);
  const temporary = join(directory, `${name}.tmp`);
  const file = disk.open(temporary, 'create');
  try {
    writeFully(file, bytes, 0);
    file.sync();
    disk.rename(temporary, join(directory, name));
  } catch (error) {
    // On a full disk it would keep the space that the log needs.
    disk.remove(temporary);
    throw error;
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
