/** Reading a segment from front to back, a chunk at a time. */
import { type DiskFile, readFully } from '../lib/disk.ts';
import { FRAME_BYTES, type RecordFrame, readFrame } from './record.ts';
import { HEADER_BYTES } from './segment.ts';

/** Large enough that system calls vanish beside decoding, small enough to yield to the event loop between. */
const CHUNK_BYTES = 1024 * 1024;

export interface ScannedRecord {
  readonly frame: RecordFrame;
  /** Where the record starts in its segment. */
  readonly offset: number;
  /** The bytes it was read into, good until the next record, and where its payload stands in them. */
  readonly bytes: Buffer;
  readonly payloadStart: number;
  readonly payloadEnd: number;
}

export type ScanEnd =
  /** Every byte was part of a record. */
  | { readonly type: 'complete'; readonly offset: number }
  /** From `offset` on there are zeros alone: room that was made for records and not used. */
  | { readonly type: 'blank'; readonly offset: number }
  /** The bytes from `offset` on are no record. */
  | BadEnd;

export interface BadEnd {
  readonly type: 'bad';
  readonly offset: number;
  readonly reason: string;
  /** The file ends before the record does: it was not written to its end. */
  readonly isUnfinished: boolean;
}

/** Scans the records of a segment file, after its header. */
export class SegmentScan {
  readonly #file: DiskFile;
  readonly #seed: number;
  readonly #sizeBytes: number;
  #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #offset = HEADER_BYTES;

  constructor(file: DiskFile, seed: number) {
    this.#file = file;
    this.#seed = seed;
    this.#sizeBytes = file.sizeBytes();
  }

  /** How far it has come. */
  get offset(): number {
    return this.#offset;
  }

  /** Reads one chunk and hands over its records; answers how the segment ends once it has been read. */
  step(visit: (record: ScannedRecord) => void): ScanEnd | undefined {
    const left = this.#sizeBytes - this.#offset;
    if (left === 0) return { type: 'complete', offset: this.#offset };

    const length = readFully(this.#file, this.#chunk, Math.min(left, this.#chunk.length), this.#offset);
    const bytes = this.#chunk.subarray(0, length);
    const chunkOffset = this.#offset;
    let at = 0;
    while (at < length) {
      const frame = readFrame(bytes, at, this.#seed);
      if (frame.type === 'bad') return this.#endWithout(frame.reason);
      if (frame.type === 'incomplete') {
        if (frame.neededBytes > this.#sizeBytes - this.#offset) {
          return this.#endWithout('the file ends inside a record', true);
        }
        // A record larger than the chunk: make room for it. Otherwise it starts the next chunk.
        if (frame.neededBytes > this.#chunk.length) this.#chunk = Buffer.allocUnsafe(frame.neededBytes);
        break;
      }
      const payloadEnd = at + frame.totalBytes;
      visit({ frame, offset: chunkOffset + at, bytes, payloadStart: at + FRAME_BYTES, payloadEnd });
      at = payloadEnd;
      this.#offset = chunkOffset + at;
    }
    return undefined;
  }

  #endWithout(reason: string, isUnfinished = false): ScanEnd {
    const offset = this.#offset;
    const isBlank = writtenTo(this.#file, offset, this.#sizeBytes) === offset;
    return isBlank ? { type: 'blank', offset } : { type: 'bad', offset, reason, isUnfinished };
  }
}

/** Where the last byte that is not zero ends, of those from `from` to `to`; `from` where there is none. */
export function writtenTo(file: DiskFile, from: number, to: number): number {
  const chunk = Buffer.allocUnsafe(Math.min(to - from, CHUNK_BYTES));
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - chunk.length);
    const length = readFully(file, chunk, end - start, start);
    const last = chunk.subarray(0, length).findLastIndex((byte) => byte !== 0);
    if (last !== -1) return start + last + 1;
    end = start;
  }
  return from;
}

/**
 * Looks for records at any byte after a bad one. A frame there is told from noise by its CRC; the sequence
 * number, checked first, keeps the search cheap.
 */
export function* recordsAfter(
  file: DiskFile,
  seed: number,
  offset: number,
  lastSequence: number,
): Iterable<RecordFrame> {
  const size = file.sizeBytes() - offset;
  const bytes = Buffer.allocUnsafe(size);
  const length = readFully(file, bytes, size, offset);
  let at = 1;
  while (at + FRAME_BYTES <= length) {
    const sequence = bytes.readDoubleLE(at + 8);
    const plausible =
      Number.isSafeInteger(sequence) && sequence > lastSequence && sequence <= lastSequence + length;
    const frame = plausible ? readFrame(bytes, at, seed) : undefined;
    if (frame?.type === 'record') yield frame;
    at += frame?.type === 'record' ? frame.totalBytes : 1;
  }
}
