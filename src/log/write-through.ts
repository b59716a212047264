/**
 * The writer of `write` durability: one write(2) an append. When `append` returns, the command survives the
 * death of the process; when it throws, the log is as it was before.
 *
 * A write that fails half-way is cut off again: at once, or, where the disk refuses even to shorten the file,
 * before the next write. What lies past the end meanwhile is no record.
 */
import type { Stamp } from '../domain/command.ts';
import type { Submission } from '../domain/encoded-events.ts';
import { writeFully } from '../lib/disk.ts';
import { LogUnavailable, SyncFailed } from './errors.ts';
import type { LoggedRecord } from './replay.ts';
import { type ActiveSegment, createSegmentFile, newSegment, retire, syncSegment } from './segment-file.ts';
import { type LogWriter, sealedRecord, syncNow, type Tip } from './tip.ts';

export class WriteThroughWriter implements LogWriter {
  readonly #tip: Tip;
  #cutPending = false;
  #closed = false;

  constructor(tip: Tip) {
    this.#tip = tip;
  }

  /**
   * @throws LogUnavailable where the disk takes no writes
   * @throws SyncFailed where a full segment could not be made durable
   */
  append(command: Submission, atMs: number): LoggedRecord {
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
    if (this.#cutPending) this.#cutBackIfPossible(active);
    syncNow(active);
    retire(active);
    return lastStamp;
  }

  #rotate(first: Stamp): ActiveSegment {
    const previous = this.#tip.active;
    if (previous !== undefined) {
      try {
        if (this.#cutPending) this.#cutBack(previous);
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
    return next;
  }

  #write(segment: ActiveSegment, record: Buffer): void {
    const { file } = segment;
    if (file === undefined) throw new Error('a segment without a file');
    try {
      if (this.#cutPending) this.#cutBack(segment);
      writeFully(file, record, segment.lengthBytes);
    } catch (error) {
      this.#cutPending = true;
      this.#cutBackIfPossible(segment);
      throw new LogUnavailable(error);
    }
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
  }
}
