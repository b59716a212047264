/** The growing end of a log: the active segment, and the stamp of the last command. Both writers advance it. */
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import type { EncodedCommand } from '../domain/encoded-events.ts';
import { type Disk, type DiskFile, readFully, writeFully } from '../lib/disk.ts';
import { type EncodedRecord, encodeCommand } from './command-codec.ts';
import { LogDamaged, SyncFailed } from './errors.ts';
import { MAX_SEGMENT_BYTES, positionAt } from './position.ts';
import { FRAME_BYTES, MAX_PAYLOAD_BYTES, sealFrame } from './record.ts';
import { type LoggedRecord, readHeader, type SegmentEnd } from './replay.ts';
import { FORMAT_VERSION, type SegmentHeader, segmentFileName } from './segment.ts';
import { type ActiveSegment, newSegment, syncFolder } from './segment-file.ts';

/** How a log grows: what `append` promises when it returns differs, see the two writers. */
export interface LogWriter {
  /**
   * @param command of one that is encoded already, the frame of its record is written before it
   * @param atMs not before the time of the last command
   * @returns a record whose bytes are good until the caller returns, for they may be those that the command lends; where
   *   `append` gathers, until `makeDurable` has been called for it, once more for what came next, and more is appended
   */
  append(command: Command | EncodedCommand, atMs: number): LoggedRecord;
  /**
   * Makes durable, off the event loop, what was appended before this call.
   *
   * @param onForgotten called at the moment when all that was appended and is not durable is forgotten
   * @throws SyncFailed, after which the process must end
   */
  makeDurable(onForgotten?: () => void): Promise<void>;
  /** Makes everything durable and lets go of the file; answers the last stamp that is durable. @throws SyncFailed */
  close(): Stamp;
}

export interface TipOptions {
  readonly disk: Disk;
  readonly directory: string;
  /** A segment that has grown past this is sealed and the next begun. */
  readonly segmentBytes: number;
  /** The id that a log gets when its first segment is made: 16 random bytes, lower-case hex. */
  readonly newLogId: string;
}

export class Tip {
  readonly disk: Disk;
  readonly directory: string;
  readonly #segmentBytes: number;
  readonly #newLogId: string;
  active: ActiveSegment | undefined;
  /** Sequence 0 when there is no command yet. */
  lastStamp: Stamp = { sequence: 0, atMs: 0 };

  constructor({ disk, directory, segmentBytes, newLogId }: TipOptions) {
    this.disk = disk;
    this.directory = directory;
    this.#newLogId = newLogId;
    this.#segmentBytes = Math.min(segmentBytes, MAX_SEGMENT_BYTES - MAX_PAYLOAD_BYTES);
  }

  /** Goes on where a replay has ended. @throws SyncFailed */
  continueFrom(end: SegmentEnd): void {
    this.lastStamp = end.lastStamp;
    const file = this.disk.open(join(this.directory, segmentFileName(end.ordinal)), 'read-write');
    const reading = readHeader(file);
    if (reading.type !== 'header')
      throw new LogDamaged(segmentFileName(end.ordinal), 0, 'its header is gone');
    this.active = {
      ...newSegment(reading.header),
      file,
      lengthBytes: end.lengthBytes,
      syncedBytes: end.lengthBytes,
      lastCrc: end.lastCrc,
    };
    rewrite(file, end.syncedBytes, end.lengthBytes);
    // Its length likewise: room that was cut off before such a sync must not come back.
    file.truncate(end.lengthBytes);
    // What was replayed is about to be shown to readers, and may so far be in the page cache alone; so may the
    // name of the last segment, if the process died between renaming it and syncing the folder.
    syncNow(this.active);
    syncFolder(this.disk, this.directory);
  }

  mustRotate(): boolean {
    const { active } = this;
    if (active === undefined || active.sealed || active.lengthBytes >= this.#segmentBytes) return true;
    // Who reads no more than the format of a segment would take what is written now for damage.
    return active.header.version !== FORMAT_VERSION;
  }

  /** The header of the segment that `first` will begin: everything in it is known before the disk is asked. */
  nextHeader(first: Stamp): SegmentHeader {
    const { active } = this;
    return {
      version: FORMAT_VERSION,
      ordinal: (active?.header.ordinal ?? 0) + 1,
      logId: active?.header.logId ?? this.#newLogId,
      firstSequence: first.sequence,
      createdAtMs: first.atMs,
      previousBytes: active?.lengthBytes ?? 0,
      previousCrc: active?.lastCrc ?? 0,
    };
  }

  nextStamp(atMs: number): Stamp {
    return { sequence: this.lastStamp.sequence + 1, atMs };
  }

  /** Moves the end past a sealed record. */
  advance(segment: ActiveSegment, record: SealedRecord, stamp: Stamp): LoggedRecord {
    const { bytes, start, end, crc } = record;
    const offset = segment.lengthBytes;
    segment.lengthBytes += end - start;
    segment.lastCrc = crc;
    this.lastStamp = stamp;
    const position = positionAt(segment.header.ordinal, offset);
    return { stamp, position, bytes, start: start + FRAME_BYTES, end };
  }
}

/**
 * Writes bytes of a file over themselves. After a sync that failed, the kernel may hold them as clean and have
 * lost them all the same ("fsyncgate"): the process ended for it, and this makes them dirty again for the next sync.
 */
function rewrite(file: DiskFile, from: number, to: number): void {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  const length = readFully(file, bytes, bytes.length, from);
  writeFully(file, bytes.subarray(0, length), from);
}

export interface SealedRecord extends EncodedRecord {
  readonly crc: number;
}

/** A command as a record of a segment, its bytes those that an encoded one lends. @throws RangeError if it is too large */
export function sealedRecord(
  command: Command | EncodedCommand,
  stamp: Stamp,
  segment: ActiveSegment,
): SealedRecord {
  const { bytes, start, end } = encodeCommand(command);
  const payloadBytes = end - start - FRAME_BYTES;
  if (payloadBytes > MAX_PAYLOAD_BYTES) {
    throw new RangeError(`a command of ${payloadBytes} bytes is larger than a record may be`);
  }
  const crc = sealFrame(bytes, start, end, stamp, segment.syncedBytes, segment.seed);
  return { bytes, start, end, crc };
}

/** Syncs a segment, waiting for it. @throws SyncFailed */
export function syncNow(segment: ActiveSegment): void {
  try {
    segment.file?.sync();
  } catch (error) {
    throw new SyncFailed(error);
  }
}
