/**
 * Segments: the files the log consists of, `segment-<ordinal>.log`, ordinal in eight digits from 1.
 * Each starts with a header of 64 bytes, then record follows record without padding.
 *
 *   offset  bytes  what                                                                  (little-endian)
 *        0      8  "FSHKLOG\0"
 *        8      4  u32  format version: 2, or 1 where ids of events are text (events/encoding.ts)
 *       12      4  u32  ordinal
 *       16     16  the log's id, drawn when its first segment was made
 *       32      8  f64  sequence number of the first record
 *       40      8  f64  creation, milliseconds since the epoch
 *       48      8  f64  length in bytes of the segment before, 0 for the first
 *       56      4  u32  CRC-32 at the start of the last record of the segment before, 0 where it has none
 *       60      4  CRC-32 of the 60 bytes above; also the seed of the segment's records
 *
 * So a missing, swapped, shortened or foreign segment is found by looking at headers alone.
 */
import { crc32 } from 'node:zlib';

export const HEADER_BYTES = 64;
export const FORMAT_VERSION = 2;
const FIRST_FORMAT_VERSION = 1;
export const LOG_ID_BYTES = 16;

const MAGIC = Buffer.from('FSHKLOG\0', 'latin1');

export interface SegmentHeader {
  /** Of its format. */
  readonly version: number;
  readonly ordinal: number;
  /** 16 bytes, lower-case hex. */
  readonly logId: string;
  readonly firstSequence: number;
  readonly createdAtMs: number;
  readonly previousBytes: number;
  readonly previousCrc: number;
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(header.version, 8);
  bytes.writeUInt32LE(header.ordinal, 12);
  bytes.write(header.logId, 16, LOG_ID_BYTES, 'hex');
  bytes.writeDoubleLE(header.firstSequence, 32);
  bytes.writeDoubleLE(header.createdAtMs, 40);
  bytes.writeDoubleLE(header.previousBytes, 48);
  bytes.writeUInt32LE(header.previousCrc, 56);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
  return bytes;
}

/** The seed of the records of a segment, from its encoded header. */
export function seedOf(encodedHeader: Buffer): number {
  return encodedHeader.readUInt32LE(60);
}

export type HeaderReading =
  | { readonly type: 'header'; readonly header: SegmentHeader; readonly seed: number }
  | { readonly type: 'bad'; readonly reason: string; readonly otherVersion?: number };

export function decodeHeader(bytes: Buffer): HeaderReading {
  if (bytes.length < HEADER_BYTES) return { type: 'bad', reason: 'it is shorter than its header' };
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    return { type: 'bad', reason: 'this is not a Foreshock log segment' };
  }
  const version = bytes.readUInt32LE(8);
  if (crc32(bytes.subarray(0, 60)) !== bytes.readUInt32LE(60)) {
    return { type: 'bad', reason: 'header checksum mismatch' };
  }
  if (version !== FORMAT_VERSION && version !== FIRST_FORMAT_VERSION) {
    return { type: 'bad', reason: `log format version ${version}`, otherVersion: version };
  }
  const header: SegmentHeader = {
    version,
    ordinal: bytes.readUInt32LE(12),
    logId: bytes.toString('hex', 16, 16 + LOG_ID_BYTES),
    firstSequence: bytes.readDoubleLE(32),
    createdAtMs: bytes.readDoubleLE(40),
    previousBytes: bytes.readDoubleLE(48),
    previousCrc: bytes.readUInt32LE(56),
  };
  return { type: 'header', header, seed: seedOf(bytes) };
}

export function segmentFileName(ordinal: number): string {
  return `segment-${String(ordinal).padStart(8, '0')}.log`;
}

/** The ordinal in a segment's file name, or undefined where the name is another file's. */
export function ordinalOf(fileName: string): number | undefined {
  const match = /^segment-(\d{8,})\.log$/.exec(fileName);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
