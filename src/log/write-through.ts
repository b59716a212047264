/**
 * The writer of `write` durability: a record is with the kernel when `append` returns, so that it survives the death of
 * the process; when `append` throws, the log is as it was before. The file is made longer ahead of what is written,
 * where the disk can do that, so that most records are copied to memory that the kernel shares, and cost no system call.
 *
 * Whatever lies past the end is cut off before another segment begins, and at a close. A write that fails half-way is
 * cut off again: at once, or, where the disk refuses even to shorten the file, before the next write. What lies past the
 * end meanwhile is no record.
 */
import type { Command, Stamp } from '../domain/command.ts';
import type { EncodedCommand } from '../domain/encoded-events.ts';
import { type DiskFile, writeFully } from '../lib/disk.ts';
import { LogUnavailable, SyncFailed } from './errors.ts';
import type { LoggedRecord } from './replay.ts';
import { type ActiveSegment, createSegmentFile, newSegment, retire, syncSegment } from './segment-file.ts';
import { type LogWriter, type SealedRecord, sealedRecord, syncNow, type Tip } from './tip.ts';

export class WriteThroughWriter implements LogWriter {
  readonly #tip: Tip;
  readonly #roomBytes: number;
  /** A record that ends past this asks for room first. */
  #askAt = 0;
  /** There may be room past the end. */
  #hasRoom = false;
  /** There may be part of a record past the end. */
  #cutPending = false;
  #closed = false;

  /** @param roomBytes how much longer the file is made at a time; 0: never */
  constructor(tip: Tip, roomBytes: number) {
    this.#tip = tip;
    this.#roomBytes = roomBytes;
  }

  /**
   * @throws LogUnavailable where the disk takes no writes
   * @throws SyncFailed where a full segment could not be made durable
   */
  append(command: Command | EncodedCommand, atMs: number): LoggedRecord {
    if (this.#closed) throw new Error('the log is closed');
    const stamp = this.#tip.nextStamp(atMs);
    const { active } = this.#tip;
    const segment = active === undefined || this.#tip.mustRotate() ? this.#rotate(stamp) : active;
    const record = sealedRecord(command, stamp, segment);
    this.#write(segment, record);
    return this.#tip.advance(segment, record, stamp);
  }

  async makeDurable(): Promise<void> {
    try {
      const { active } = this.#tip;
      if (active !== undefined) await syncSegment(active, active.lengthBytes);
    } catch (error) {
      throw new SyncFailed(error);
    }
  }

  close(): Stamp {
    this.#closed = true;
    const { active, lastStamp } = this.#tip;
    if (active === undefined) return lastStamp;
    if (this.#cutPending || this.#hasRoom) this.#cutBackIfPossible(active);
    syncNow(active);
    retire(active);
    return lastStamp;
  }

  #rotate(first: Stamp): ActiveSegment {
    const previous = this.#tip.active;
    if (previous !== undefined) {
      try {
        if (this.#cutPending || this.#hasRoom) this.#cutBack(previous);
      } catch (error) {
        throw new LogUnavailable(error);
      }
      syncNow(previous);
    }
    const next = newSegment(this.#tip.nextHeader(first));
    // From here on a next segment may exist that names this one's end, whatever becomes of the attempt.
    if (previous !== undefined) previous.sealed = true;
    try {
      next.file = createSegmentFile(this.#tip.disk, this.#tip.directory, next);
    } catch (error) {
      throw error instanceof SyncFailed ? error : new LogUnavailable(error);
    }
    if (previous !== undefined) retire(previous);
    this.#tip.active = next;
    this.#askAt = 0;
    return next;
  }

  #write(segment: ActiveSegment, { bytes, start, end }: SealedRecord): void {
    const { file } = segment;
    if (file === undefined) throw new Error('a segment without a file');
    try {
      if (this.#cutPending) this.#cutBack(segment);
      const needed = segment.lengthBytes + end - start;
      if (needed > this.#askAt && this.#roomBytes > 0) this.#makeRoom(file, segment.lengthBytes, needed);
      writeFully(file, bytes, segment.lengthBytes, start, end);
    } catch (error) {
      this.#cutPending = true;
      this.#cutBackIfPossible(segment);
      throw new LogUnavailable(error);
    }
  }

  #makeRoom(file: DiskFile, from: number, needed: number): void {
    let roomEnd = from;
    this.#hasRoom = true;
    try {
      roomEnd = file.reserve(from, this.#roomBytes);
    } catch {
      // A disk that is full, or nearly: what is written says so.
    }
    // Without room: system calls for so many bytes, before it is asked again.
    this.#askAt = roomEnd >= needed ? roomEnd : needed + this.#roomBytes;
  }

  #cutBackIfPossible(segment: ActiveSegment): void {
    try {
      this.#cutBack(segment);
    } catch {
      // It stays pending; at the latest the next start cuts it off.
    }
  }

  #cutBack(segment: ActiveSegment): void {
    segment.file?.truncate(segment.lengthBytes);
    this.#cutPending = false;
    this.#hasRoom = false;
    this.#askAt = segment.lengthBytes + this.#roomBytes;
  }
}
