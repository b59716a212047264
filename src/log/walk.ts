/**
 * Walks: reading the log from a sequence number on, a chunk at a time, beside those who write it. A walk goes no
 * further than it is told, so it never meets what is being written or is not durable yet.
 */
import { join } from 'node:path';
import { type Disk, type DiskFile, readFully } from '../lib/disk.ts';
import { positionAt } from './position.ts';
import { FRAME_BYTES, readFrame } from './record.ts';
import { readHeader, segmentOrdinals, type Visit } from './replay.ts';
import { HEADER_BYTES, segmentFileName } from './segment.ts';

/** About half a millisecond of work where every record is of interest. */
const CHUNK_BYTES = 128 * 1024;

export type WalkStep =
  /** There is more to be read. */
  | 'more'
  /** All up to where it may go has been handed over. */
  | 'done'
  /** What comes next is not in the log: deleted, or never was. */
  | 'gone';

/** A place in a segment where a record starts. */
interface Place {
  readonly sequence: number;
  readonly offset: number;
}

interface Segment {
  readonly ordinal: number;
  readonly file: DiskFile;
  readonly seed: number;
}

/**
 * What is known of where records are, shared by all walks: where a chunk ended, the next walk can begin. Readers who
 * come back after a restart all come back to about the same place.
 */
export class WalkPlaces {
  readonly disk: Disk;
  readonly directory: string;
  /** Lent to one step at a time. */
  chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Ascending, by ordinal of the segment; the first is that of its first record. */
  readonly #places = new Map<number, Place[]>();

  constructor(disk: Disk, directory: string) {
    this.disk = disk;
    this.directory = directory;
  }

  walk(fromSequence: number): LogWalk {
    return new LogWalk(this, fromSequence);
  }

  forget(ordinal: number): void {
    this.#places.delete(ordinal);
  }

  note(ordinal: number, place: Place): void {
    const places = this.#places.get(ordinal);
    if (places !== undefined && place.sequence > (places.at(-1)?.sequence ?? 0)) places.push(place);
  }

  /** The segment that a record stands in, and a place in it not after the record. */
  find(sequence: number): { readonly segment: Segment; readonly place: Place } | undefined {
    for (const ordinal of segmentOrdinals(this.disk, this.directory).reverse()) {
      const known = this.#places.get(ordinal);
      if (known !== undefined && (known[0]?.sequence ?? 0) > sequence) continue;
      const opened = this.open(ordinal);
      if (opened === undefined) continue;
      const place = this.#places.get(ordinal)?.findLast((each) => each.sequence <= sequence);
      if (place !== undefined) return { segment: opened, place };
      opened.file.close();
    }
    return undefined;
  }

  open(ordinal: number): Segment | undefined {
    let file: DiskFile;
    try {
      file = this.disk.open(join(this.directory, segmentFileName(ordinal)), 'read');
    } catch {
      return undefined;
    }
    const reading = readHeader(file);
    if (reading.type === 'bad') {
      file.close();
      return undefined;
    }
    if (!this.#places.has(ordinal)) {
      this.#places.set(ordinal, [{ sequence: reading.header.firstSequence, offset: HEADER_BYTES }]);
    }
    return { ordinal, file, seed: reading.seed };
  }
}

export class LogWalk {
  readonly #places: WalkPlaces;
  readonly #fromSequence: number;
  #segment: Segment | undefined;
  #offset = 0;
  /** Of the record that starts at the offset, where there is one. */
  #sequence = 0;
  #next: number;

  constructor(places: WalkPlaces, fromSequence: number) {
    this.#places = places;
    this.#fromSequence = fromSequence;
    this.#next = fromSequence;
  }

  /** Hands over the records of one chunk, as far as the one numbered `throughSequence`. */
  step(throughSequence: number, visit: Visit): WalkStep {
    if (this.#next > throughSequence) return 'done';
    if (this.#segment === undefined) {
      const found = this.#places.find(this.#fromSequence);
      if (found === undefined) return 'gone';
      this.#segment = found.segment;
      this.#offset = found.place.offset;
      this.#sequence = found.place.sequence;
    }
    const { ordinal, file, seed } = this.#segment;
    const places = this.#places;
    const length = readFully(file, places.chunk, CHUNK_BYTES, this.#offset);
    let bytes = places.chunk.subarray(0, length);
    if (length === 0) return this.#toNextSegment(ordinal + 1);
    for (let at = 0; ; ) {
      let frame = at < bytes.length ? readFrame(bytes, at, seed) : undefined;
      if (frame?.type === 'incomplete' && at === 0) {
        // A record larger than a chunk, or one that is not whole.
        bytes = Buffer.allocUnsafe(frame.neededBytes);
        if (readFully(file, bytes, bytes.length, this.#offset) < bytes.length) return 'gone';
        frame = readFrame(bytes, 0, seed);
        if (frame.type === 'incomplete') continue;
      }
      if (frame === undefined || frame.type === 'incomplete') {
        places.note(ordinal, { sequence: this.#sequence, offset: this.#offset });
        return 'more';
      }
      if (frame.type === 'bad') return 'gone';
      const { stamp, totalBytes } = frame;
      if (stamp.sequence >= this.#fromSequence) {
        if (stamp.sequence !== this.#next) return 'gone';
        const position = positionAt(ordinal, this.#offset);
        visit({ stamp, position, bytes, start: at + FRAME_BYTES, end: at + totalBytes });
        this.#next = stamp.sequence + 1;
      }
      at += totalBytes;
      this.#offset += totalBytes;
      this.#sequence = stamp.sequence + 1;
      if (this.#next > throughSequence) return 'done';
    }
  }

  close(): void {
    this.#segment?.file.close();
    this.#segment = undefined;
  }

  #toNextSegment(ordinal: number): WalkStep {
    this.close();
    this.#segment = this.#places.open(ordinal);
    this.#offset = HEADER_BYTES;
    return this.#segment === undefined ? 'gone' : 'more';
  }
}
