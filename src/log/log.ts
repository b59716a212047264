/**
 * The command log: what is appended here has happened. The rest of the system sees append, read, sync and
 * close; segments, frames and recovery stay behind this face.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import { type Disk, type DiskFile, readFully, writeFully } from '../lib/disk.ts';
import { decodeCommand, encodeCommand } from './command-codec.ts';
import { LogDamaged, LogUnavailable, SyncFailed } from './errors.ts';
import { type LogPosition, MAX_SEGMENT_BYTES, offsetAt, ordinalAt, positionAt } from './position.ts';
import { FRAME_BYTES, MAX_PAYLOAD_BYTES, readFrame, sealFrame } from './record.ts';
import { recover, type Visit } from './recovery.ts';
import {
  decodeHeader,
  encodeHeader,
  HEADER_BYTES,
  LOG_ID_BYTES,
  type SegmentHeader,
  seedOf,
  segmentFileName,
} from './segment.ts';

export interface LogOptions {
  readonly disk: Disk;
  readonly directory: string;
  /** A segment that would grow past this is sealed and the next begun. */
  readonly segmentBytes: number;
  readonly pause?: () => Promise<void>;
}

export interface Appended {
  readonly stamp: Stamp;
  readonly position: LogPosition;
}

interface ActiveSegment {
  readonly file: DiskFile;
  readonly header: SegmentHeader;
  readonly seed: number;
  lengthBytes: number;
  /** How much of it a finished sync covers. */
  syncedBytes: number;
  lastCrc: number;
  /** Set once a next segment may exist that names this one's end: nothing more may be appended here. */
  sealed: boolean;
  /** Syncs in the background that have not answered: the file must stay open for them. */
  syncsUnderWay: number;
  /** Set when the file is to be closed as soon as no sync needs it. */
  retired: boolean;
}

const newlyOpened = { sealed: false, syncsUnderWay: 0, retired: false } as const;

/** Sealed segments kept open for reading: an agent's page touches one or two. */
const OPEN_READERS = 8;

export class CommandLog {
  readonly #options: LogOptions;
  #active: ActiveSegment | undefined;
  #lastStamp: Stamp = { sequence: 0, atMs: 0 };
  readonly #readers = new Map<number, { file: DiskFile; seed: number }>();
  /** Set after a write that failed half-way and could not be cut back: the cut comes before the next write. */
  #cutPending = false;

  private constructor(options: LogOptions) {
    this.#options = options;
  }

  /**
   * Opens the log of a directory, handing every command in it to `visit`.
   *
   * @throws LogDamaged where the files are not what was written (see recovery.ts)
   */
  static async open(
    options: LogOptions,
    visit: Visit,
  ): Promise<{ log: CommandLog; mended: readonly string[] }> {
    const { disk, directory } = options;
    disk.makeDirectory(directory);
    const log = new CommandLog(options);
    const pause = options.pause ?? (async () => {});
    const { last, lastStamp, mended } = await recover({ disk, directory, pause }, visit);
    log.#lastStamp = lastStamp;
    if (last !== undefined) {
      const file = disk.open(join(directory, segmentFileName(last.header.ordinal)), 'read-write');
      // What was replayed is about to be shown to readers, and may so far be in the page cache alone.
      log.#sync(file);
      log.#active = { ...last, ...newlyOpened, file, syncedBytes: last.lengthBytes };
    }
    return { log, mended };
  }

  /** Of the last command appended or replayed; sequence 0 when there is none. */
  get lastStamp(): Stamp {
    return this.#lastStamp;
  }

  /**
   * Writes a command with one write(2). When this returns, the command survives the death of the process;
   * when it throws, the log is as it was before.
   *
   * @param atMs not before the time of the last command
   * @throws LogUnavailable where the disk takes no writes
   */
  append(command: Command, atMs: number): Appended {
    const record = encodeCommand(command);
    if (record.length - FRAME_BYTES > MAX_PAYLOAD_BYTES) {
      throw new RangeError(`a command of ${record.length} bytes is larger than a record may be`);
    }
    const stamp: Stamp = { sequence: this.#lastStamp.sequence + 1, atMs };
    const segment = this.#segmentFor(record.length, stamp);
    sealFrame(record, stamp, segment.syncedBytes, segment.seed);
    const offset = segment.lengthBytes;
    this.#write(segment, record);
    segment.lengthBytes += record.length;
    segment.lastCrc = record.readUInt32LE(0);
    this.#lastStamp = stamp;
    return { stamp, position: positionAt(segment.header.ordinal, offset) };
  }

  /** The command at a position that `append` or replay gave. */
  read(position: LogPosition): { readonly command: Command; readonly stamp: Stamp } {
    const ordinal = ordinalAt(position);
    const offset = offsetAt(position);
    const { file, seed } = this.#reader(ordinal);
    // One read serves all but long records: most are a few hundred bytes.
    let bytes = Buffer.allocUnsafe(4096);
    let frame = readFrame(bytes.subarray(0, readFully(file, bytes, bytes.length, offset)), 0, seed);
    if (frame.type === 'incomplete') {
      bytes = Buffer.allocUnsafe(frame.neededBytes);
      frame = readFrame(bytes.subarray(0, readFully(file, bytes, bytes.length, offset)), 0, seed);
    }
    if (frame.type !== 'record') {
      throw new LogDamaged(segmentFileName(ordinal), offset, 'a record that was good is not any more');
    }
    return { command: decodeCommand(bytes, FRAME_BYTES, frame.totalBytes), stamp: frame.stamp };
  }

  /** Makes everything appended so far durable, off the event loop; later appends may or may not be covered. */
  syncInBackground(done: (error: SyncFailed | null) => void): void {
    const segment = this.#active;
    if (segment === undefined) {
      done(null);
      return;
    }
    const coveredBytes = segment.lengthBytes;
    segment.syncsUnderWay += 1;
    segment.file.syncInBackground((error) => {
      segment.syncsUnderWay -= 1;
      if (segment.retired && segment.syncsUnderWay === 0) segment.file.close();
      if (error === null) segment.syncedBytes = Math.max(segment.syncedBytes, coveredBytes);
      done(error === null ? null : new SyncFailed(error));
    });
  }

  /** Makes everything durable and lets go of the files. */
  close(): void {
    if (this.#active !== undefined) {
      this.#sync(this.#active.file);
      this.#retire(this.#active);
    }
    for (const { file } of this.#readers.values()) file.close();
    this.#readers.clear();
    this.#active = undefined;
  }

  #segmentFor(recordBytes: number, stamp: Stamp): ActiveSegment {
    const limit = Math.min(this.#options.segmentBytes, MAX_SEGMENT_BYTES);
    const active = this.#active;
    if (active !== undefined) {
      const fits = active.lengthBytes + recordBytes <= limit;
      // A record larger than a segment gets one of its own.
      if (!active.sealed && (fits || active.lengthBytes === HEADER_BYTES)) return active;
      this.#seal(active);
    }
    const next = this.#createSegment({
      ordinal: (active?.header.ordinal ?? 0) + 1,
      logId: active?.header.logId ?? randomBytes(LOG_ID_BYTES).toString('hex'),
      firstSequence: stamp.sequence,
      createdAtMs: stamp.atMs,
      previousBytes: active?.lengthBytes ?? 0,
      previousCrc: active?.lastCrc ?? 0,
    });
    if (active !== undefined) this.#retire(active);
    this.#active = next;
    return next;
  }

  #retire(segment: ActiveSegment): void {
    segment.retired = true;
    if (segment.syncsUnderWay === 0) segment.file.close();
  }

  #seal(segment: ActiveSegment): void {
    if (this.#cutPending) {
      try {
        this.#cutBack(segment);
      } catch (error) {
        throw new LogUnavailable(error);
      }
    }
    this.#sync(segment.file);
    segment.sealed = true;
  }

  /** A segment appears under its name only once its header is durable: write, sync, rename, sync the folder. */
  #createSegment(header: SegmentHeader): ActiveSegment {
    const { disk, directory } = this.#options;
    const path = join(directory, segmentFileName(header.ordinal));
    const encoded = encodeHeader(header);
    try {
      if (disk.list(directory).includes(`${segmentFileName(header.ordinal)}.tmp`)) disk.remove(`${path}.tmp`);
      const file = disk.open(`${path}.tmp`, 'create');
      try {
        writeFully(file, encoded, 0);
        file.sync();
        disk.rename(`${path}.tmp`, path);
        disk.syncDirectory(directory);
      } catch (error) {
        file.close();
        throw error;
      }
      return {
        file,
        header,
        seed: seedOf(encoded),
        lengthBytes: HEADER_BYTES,
        syncedBytes: HEADER_BYTES,
        lastCrc: 0,
        ...newlyOpened,
      };
    } catch (error) {
      throw new LogUnavailable(error);
    }
  }

  #write(segment: ActiveSegment, record: Buffer): void {
    try {
      if (this.#cutPending) this.#cutBack(segment);
      writeFully(segment.file, record, segment.lengthBytes);
    } catch (error) {
      this.#cutPending = true;
      try {
        this.#cutBack(segment);
      } catch {
        // The disk refuses even to shorten the file. The bytes past the end stay until it obliges; they are
        // no record, and the next append cuts them off before it writes.
      }
      throw new LogUnavailable(error);
    }
  }

  #cutBack(segment: ActiveSegment): void {
    segment.file.truncate(segment.lengthBytes);
    this.#cutPending = false;
  }

  #sync(file: DiskFile): void {
    try {
      file.sync();
    } catch (error) {
      throw new SyncFailed(error);
    }
  }

  #reader(ordinal: number): { file: DiskFile; seed: number } {
    const active = this.#active;
    if (active?.header.ordinal === ordinal) return active;
    const open = this.#readers.get(ordinal);
    if (open !== undefined) return open;
    const name = segmentFileName(ordinal);
    const file = this.#options.disk.open(join(this.#options.directory, name), 'read');
    const header = Buffer.alloc(HEADER_BYTES);
    readFully(file, header, HEADER_BYTES, 0);
    const reading = decodeHeader(header);
    if (reading.type !== 'header') throw new LogDamaged(name, 0, 'its header was good and is not any more');
    for (const [oldest, reader] of this.#readers) {
      if (this.#readers.size < OPEN_READERS) break;
      reader.file.close();
      this.#readers.delete(oldest);
    }
    const reader = { file, seed: reading.seed };
    this.#readers.set(ordinal, reader);
    return reader;
  }
}
