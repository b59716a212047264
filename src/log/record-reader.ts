/** Reading events back, by the positions of their records. */
import { join } from 'node:path';
import type { Command, Stamp } from '../domain/command.ts';
import type { ContextEvent } from '../domain/event.ts';
import type { EventCursor } from '../events/cursor.ts';
import { type Disk, type DiskFile, readFully } from '../lib/disk.ts';
import { decodeCommand, eventsIn } from './command-codec.ts';
import { LogDamaged } from './errors.ts';
import { type LogPosition, offsetAt, ordinalAt } from './position.ts';
import { FRAME_BYTES, readFrame } from './record.ts';
import { readHeader } from './replay.ts';
import { segmentFileName } from './segment.ts';

/** Segments kept open for reading: an agent's page touches one or two. */
const OPEN_SEGMENTS = 8;

/** One read serves all but long records: most are a few hundred bytes. */
const FIRST_READ_BYTES = 4096;

/** Where an event is: its record, and its place among the events of that. */
export interface EventPlace {
  readonly position: number;
  readonly index: number;
}

interface OpenSegment {
  readonly file: DiskFile;
  readonly seed: number;
}

export class RecordReader {
  readonly #disk: Disk;
  readonly #directory: string;
  /** In the order of their last use. */
  readonly #open = new Map<number, OpenSegment>();

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** @throws LogDamaged where the record is not what was written */
  read(position: LogPosition): { readonly command: Command; readonly stamp: Stamp } {
    const { bytes, end, stamp } = this.#record(position);
    return { command: decodeCommand(bytes, FRAME_BYTES, end), stamp };
  }

  /**
   * The events at these places, in their order. Of a record that holds several of them in a row, as a batch
   * does, they are reached in one walk over its bytes, and no other is decoded.
   *
   * @throws LogDamaged where a record is not what was written
   */
  readEvents(places: readonly EventPlace[]): ContextEvent[] {
    const events = new Array<ContextEvent>(places.length);
    for (let first = 0; first < places.length; ) {
      const position = places[first]?.position;
      let end = first + 1;
      while (places[end]?.position === position) end += 1;
      const run = places.slice(first, end).map(({ index }, n) => ({ index, at: first + n }));
      const cursor = this.#events(position as LogPosition);
      let passed = 0;
      for (const { index, at } of run.sort((a, b) => a.index - b.index)) {
        for (; passed < index; passed += 1) cursor.skip();
        if (passed === index) {
          if (!cursor.next()) throw new Error(`no event ${index} at log position ${position}`);
          passed += 1;
        }
        events[at] = cursor.event();
      }
      first = end;
    }
    return events;
  }

  #events(position: LogPosition): EventCursor {
    const cursor = eventsIn(this.#record(position).bytes, FRAME_BYTES);
    if (cursor === undefined) throw new Error(`no events at log position ${position}`);
    return cursor;
  }

  #record(position: LogPosition): { readonly bytes: Buffer; readonly end: number; readonly stamp: Stamp } {
    const ordinal = ordinalAt(position);
    const offset = offsetAt(position);
    const { file, seed } = this.#segment(ordinal);
    let bytes = Buffer.allocUnsafe(FIRST_READ_BYTES);
    let frame = readFrame(bytes.subarray(0, readFully(file, bytes, bytes.length, offset)), 0, seed);
    if (frame.type === 'incomplete') {
      bytes = Buffer.allocUnsafe(frame.neededBytes);
      frame = readFrame(bytes.subarray(0, readFully(file, bytes, bytes.length, offset)), 0, seed);
    }
    if (frame.type !== 'record') {
      throw new LogDamaged(segmentFileName(ordinal), offset, 'a record that was good is not any more');
    }
    return { bytes, end: frame.totalBytes, stamp: frame.stamp };
  }

  /** Lets go of a segment that is about to be deleted. */
  forget(ordinal: number): void {
    this.#open.get(ordinal)?.file.close();
    this.#open.delete(ordinal);
  }

  close(): void {
    for (const ordinal of [...this.#open.keys()]) this.forget(ordinal);
  }

  #segment(ordinal: number): OpenSegment {
    let segment = this.#open.get(ordinal);
    if (segment === undefined) {
      const name = segmentFileName(ordinal);
      const file = this.#disk.open(join(this.#directory, name), 'read');
      const reading = readHeader(file);
      if (reading.type !== 'header') {
        file.close();
        throw new LogDamaged(name, 0, 'its header was good and is not any more');
      }
      segment = { file, seed: reading.seed };
    }
    this.#open.delete(ordinal);
    this.#open.set(ordinal, segment);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= OPEN_SEGMENTS) break;
      this.forget(oldest);
    }
    return segment;
  }
}
