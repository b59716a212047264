/**
 * The writer of `fsync` durability: appended records gather in memory, and `makeDurable` writes and syncs them
 * off the event loop, so that a disk that hangs stops nobody who only reads.
 *
 * Where the disk does not take a group, everything appended since the last durable one is forgotten, what was
 * appended meanwhile too: sequence numbers leave no gaps. Nothing of it was applied or acknowledged.
 */
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import type { EncodedCommand } from '../domain/encoded-events.ts';
import { type DiskFile, writeFullyAsync } from '../lib/disk.ts';
import { LogUnavailable, SyncFailed } from './errors.ts';
import { GatheredRecords, PIECE_BYTES } from './gathered-records.ts';
import type { LoggedRecord } from './replay.ts';
import { HEADER_BYTES, segmentFileName } from './segment.ts';
import {
  type ActiveSegment,
  createSegmentFileAsync,
  newSegment,
  retire,
  syncSegment,
} from './segment-file.ts';
import { type LogWriter, sealedRecord, syncNow, type Tip } from './tip.ts';

/** Records that go to disk together, to one segment, whose file may have to be made first. */
interface Group {
  readonly segment: ActiveSegment;
  readonly offset: number;
  readonly records: GatheredRecords;
}

/** The end of what is durable. */
interface Mark {
  readonly segment: ActiveSegment | undefined;
  readonly lengthBytes: number;
  readonly lastCrc: number;
  readonly stamp: Stamp;
}

export class GroupWriter implements LogWriter {
  readonly #tip: Tip;
  #group: Group | undefined;
  /** For the group that gathers and for the one that is written: it is applied before the next but one gathers. */
  #memory: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #otherMemory: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #durable: Mark;
  /** Something may lie past the durable end: the cut comes before the next write. */
  #cutPending = false;
  /** A segment that was begun in vain and would not be emptied; made anew by the next attempt. */
  #leftover: ActiveSegment | undefined;
  #closed = false;

  constructor(tip: Tip) {
    this.#tip = tip;
    this.#durable = this.#mark();
  }

  append(command: Command | EncodedCommand, atMs: number): LoggedRecord {
    if (this.#closed) throw new Error('the log is closed');
    const stamp = this.#tip.nextStamp(atMs);
    const { segment, records } = this.#openGroup(stamp);
    const sealed = sealedRecord(command, stamp, segment);
    // Its bytes are lent, and written later.
    const { bytes, start, end } = records.add(sealed);
    return this.#tip.advance(segment, { bytes, start, end, crc: sealed.crc }, stamp);
  }

  /** One call at a time. @throws LogUnavailable where the disk took it not and everything since is forgotten */
  async makeDurable(onForgotten: () => void = () => {}): Promise<void> {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    const mark = this.#mark();
    const { segment, offset, records } = group;
    try {
      if (this.#cutPending) await this.#cut();
      const file = segment.file ?? (await this.#make(segment));
      let position = offset;
      for (const piece of records.pieces) {
        await writeFullyAsync(file, piece, position);
        position += piece.length;
      }
    } catch (error) {
      if (error instanceof SyncFailed) throw error;
      // Before anybody is told: what was refused must not come back with a restart.
      if (segment !== this.#durable.segment && !(await giveUp(segment))) this.#leftover = segment;
      const cut = await truncated(this.#durable.segment, this.#durable.lengthBytes);
      this.#fallBack();
      this.#cutPending = !cut;
      onForgotten();
      throw new LogUnavailable(error);
    }
    await sync(segment, mark.lengthBytes);
    const previous = this.#durable.segment;
    if (previous !== undefined && previous !== segment) retire(previous);
    this.#durable = mark;
  }

  close(): Stamp {
    this.#closed = true;
    const { segment, lengthBytes, stamp } = this.#durable;
    try {
      if (this.#leftover !== undefined) removeSegment(this.#tip, this.#leftover);
      if (this.#cutPending) segment?.file?.truncate(lengthBytes);
    } catch {
      // As after a crash: what is whole of it comes back with the next start, the rest is cut off there.
    }
    if (segment === undefined) return stamp;
    syncNow(segment);
    retire(segment);
    return stamp;
  }

  #openGroup(first: Stamp): Group {
    if (this.#group !== undefined) return this.#group;
    let segment = this.#tip.active;
    if (segment === undefined || this.#tip.mustRotate()) {
      segment = newSegment(this.#tip.nextHeader(first));
      this.#tip.active = segment;
    }
    [this.#memory, this.#otherMemory] = [this.#otherMemory, this.#memory];
    const records = new GatheredRecords(this.#memory);
    this.#group = { segment, offset: segment.lengthBytes, records };
    return this.#group;
  }

  async #make(segment: ActiveSegment): Promise<DiskFile> {
    // From here on a next segment may exist that names this one's end, whatever becomes of the attempt.
    if (this.#durable.segment !== undefined) this.#durable.segment.sealed = true;
    segment.file = await createSegmentFileAsync(this.#tip.disk, this.#tip.directory, segment);
    this.#leftover = undefined;
    return segment.file;
  }

  async #cut(): Promise<void> {
    const { segment, lengthBytes } = this.#durable;
    await segment?.file?.truncateAsync(lengthBytes);
    if (segment !== undefined) await sync(segment, lengthBytes);
    this.#cutPending = false;
  }

  #mark(): Mark {
    const { active: segment, lastStamp: stamp } = this.#tip;
    return { segment, lengthBytes: segment?.lengthBytes ?? 0, lastCrc: segment?.lastCrc ?? 0, stamp };
  }

  #fallBack(): void {
    const { segment, lengthBytes, lastCrc, stamp } = this.#durable;
    if (segment !== undefined) {
      segment.lengthBytes = lengthBytes;
      segment.lastCrc = lastCrc;
    }
    this.#tip.active = segment;
    this.#tip.lastStamp = stamp;
    this.#group = undefined;
  }
}

/**
 * Leaves a segment that was begun in vain empty, and durably so: a power cut must not bring back what callers were
 * told was refused. The next attempt makes it anew.
 *
 * @returns false where it would not be emptied
 * @throws SyncFailed
 */
async function giveUp(segment: ActiveSegment): Promise<boolean> {
  const isEmpty = await truncated(segment, HEADER_BYTES);
  if (isEmpty) await sync(segment, HEADER_BYTES);
  segment.file?.close();
  return isEmpty;
}

function removeSegment({ disk, directory }: Tip, { header }: ActiveSegment): void {
  disk.remove(join(directory, segmentFileName(header.ordinal)));
}

/** Whether a segment's file let itself be cut; where it does not, what was refused may come back with a restart. */
async function truncated(segment: ActiveSegment | undefined, lengthBytes: number): Promise<boolean> {
  try {
    await segment?.file?.truncateAsync(lengthBytes);
    return true;
  } catch {
    return false;
  }
}

async function sync(segment: ActiveSegment, writtenBytes: number): Promise<void> {
  try {
    await syncSegment(segment, writtenBytes);
  } catch (error) {
    throw new SyncFailed(error);
  }
}
