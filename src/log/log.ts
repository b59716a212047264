/**
 * The command log: what is in it has happened. The rest of the system sees append, make durable, read and
 * close; segments, frames and recovery stay behind this face.
 */
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import type { EncodedCommand } from '../domain/encoded-events.ts';
import type { ContextEvent } from '../domain/event.ts';
import type { Disk } from '../lib/disk.ts';
import { GroupWriter } from './group-writer.ts';
import type { LogPosition } from './position.ts';
import { type EventPlace, RecordReader } from './record-reader.ts';
import { recover } from './recovery.ts';
import {
  type LoggedRecord,
  type ReplayOptions,
  readHeader,
  segmentOrdinals,
  segmentSize,
  type Visit,
} from './replay.ts';
import { segmentFileName } from './segment.ts';
import { leaveMark } from './shutdown-mark.ts';
import { type LogWriter, Tip, type TipOptions } from './tip.ts';
import { type LogWalk, WalkPlaces } from './walk.ts';
import { WriteThroughWriter } from './write-through.ts';

export interface LogOptions extends TipOptions, Omit<ReplayOptions, 'throughOrdinal'> {
  /** `each`: append writes. `grouped`: append gathers, makeDurable writes. */
  readonly writes: 'each' | 'grouped';
  /** Where each append writes: how much longer the file is made at a time, ahead of what is written; 0: never. */
  readonly roomBytes: number;
}

export interface OpenedLog {
  readonly log: CommandLog;
  /** Commands handed over. */
  readonly commands: number;
  /** What recovery mended, a sentence each. */
  readonly mended: readonly string[];
  readonly cleanShutdown: boolean;
}

export class CommandLog implements LogWriter {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #tip: Tip;
  readonly #writer: LogWriter;
  readonly #reader: RecordReader;
  /** Of segments that are written to no more. */
  readonly #sealedBytes = new Map<number, number>();
  readonly #places: WalkPlaces;

  private constructor({ disk, directory }: LogOptions, tip: Tip, writer: LogWriter) {
    this.#disk = disk;
    this.#directory = directory;
    this.#tip = tip;
    this.#writer = writer;
    this.#reader = new RecordReader(disk, directory);
    this.#places = new WalkPlaces(disk, directory);
  }

  /**
   * Opens the log of a directory, handing the commands in it to `visit`.
   *
   * @throws LogDamaged where the files are not what was written (see recovery.ts)
   */
  static async open(options: LogOptions, visit: Visit): Promise<OpenedLog> {
    options.disk.makeDirectory(options.directory);
    const { end, commands, mended, cleanShutdown } = await recover(options, visit);
    const tip = new Tip(options);
    if (end !== undefined) tip.continueFrom(end);
    const { writes, roomBytes } = options;
    const writer = writes === 'each' ? new WriteThroughWriter(tip, roomBytes) : new GroupWriter(tip);
    return { log: new CommandLog(options, tip, writer), commands, mended, cleanShutdown };
  }

  /** Of the last command appended or replayed; sequence 0 when there is none. */
  get lastStamp(): Stamp {
    return this.#tip.lastStamp;
  }

  /** The last segment that is whole, durable and never written to again; 0 when there is none. */
  get sealedOrdinal(): number {
    const { active } = this.#tip;
    if (active === undefined) return 0;
    // The file of a segment is made only when the one before it is durable to its end.
    return active.file === undefined ? Math.max(0, active.header.ordinal - 2) : active.header.ordinal - 1;
  }

  /** Bytes of its segments. */
  sizeBytes(): number {
    const { active } = this.#tip;
    return active === undefined ? 0 : active.lengthBytes + this.sealedBytes(0, active.header.ordinal - 1);
  }

  /** Bytes of segments that are written to no more, after one and through another. */
  sealedBytes(afterOrdinal: number, throughOrdinal = this.sealedOrdinal): number {
    let total = 0;
    for (const ordinal of segmentOrdinals(this.#disk, this.#directory)) {
      if (ordinal <= afterOrdinal || ordinal > throughOrdinal) continue;
      const known = this.#sealedBytes.get(ordinal) ?? segmentSize(this.#disk, this.#directory, ordinal);
      this.#sealedBytes.set(ordinal, known);
      total += known;
    }
    return total;
  }

  append(command: Command | EncodedCommand, atMs: number): LoggedRecord {
    return this.#writer.append(command, atMs);
  }

  makeDurable(onForgotten?: () => void): Promise<void> {
    return this.#writer.makeDurable(onForgotten);
  }

  /** The command at a position that `append` or replay gave. @throws LogDamaged */
  read(position: LogPosition): ReturnType<RecordReader['read']> {
    return this.#reader.read(position);
  }

  /** The events at places that `append` or replay gave, in the order of the places. @throws LogDamaged */
  readEvents(places: readonly EventPlace[]): readonly ContextEvent[] {
    return this.#reader.readEvents(places);
  }

  /** Reads on from a sequence number: whoever asks says how far, and must close it. */
  walk(fromSequence: number): LogWalk {
    return this.#places.walk(fromSequence);
  }

  /**
   * Deletes sealed segments up to an ordinal whose last record is not younger than `untilMs`; answers how many.
   * Oldest first, so that a crash in between leaves no gap.
   */
  deleteOld(throughOrdinal: number, untilMs: number): number {
    let deleted = 0;
    const ordinals = segmentOrdinals(this.#disk, this.#directory);
    for (const [index, ordinal] of ordinals.entries()) {
      const next = ordinals[index + 1];
      // The next segment's first record is not older than this one's last.
      if (ordinal > throughOrdinal || next === undefined || this.#createdAtMs(next) > untilMs) break;
      this.#reader.forget(ordinal);
      this.#sealedBytes.delete(ordinal);
      this.#places.forget(ordinal);
      this.#disk.remove(join(this.#directory, segmentFileName(ordinal)));
      deleted += 1;
    }
    if (deleted > 0) this.#disk.syncDirectory(this.#directory);
    return deleted;
  }

  /** Makes everything durable and lets go of the files; nothing may be on its way to the disk. @throws SyncFailed */
  close(): Stamp {
    const last = this.#writer.close();
    this.#reader.close();
    try {
      leaveMark(this.#disk, this.#directory, last.sequence);
    } catch {
      // Nothing is lost without the mark: the next start reads the log as after a crash.
    }
    return last;
  }

  #createdAtMs(ordinal: number): number {
    const file = this.#disk.open(join(this.#directory, segmentFileName(ordinal)), 'read');
    try {
      const reading = readHeader(file);
      return reading.type === 'header' ? reading.header.createdAtMs : Number.POSITIVE_INFINITY;
    } finally {
      file.close();
    }
  }
}
