/**
 * Records: the frames that a segment is a row of.
 *
 *   offset  bytes  what                                                                  (little-endian)
 *        0      4  CRC-32 of all that follows in the frame, seeded with the segment's seed
 *        4      4  u32  payload length in bytes, 1 … MAX_PAYLOAD_BYTES
 *        8      8  f64  sequence number: one more than the record before
 *       16      8  f64  time, milliseconds since the epoch: never before the record before
 *       24      4  u32  synced length: the bytes of this segment known durable when this was written
 *       28      n  payload: a command as a msgpack array (command-codec.ts)
 *
 * The seed ties a record to its segment: bytes left over from another segment never check out. The
 * sequence number ties it to its place. A length of zero is never valid, so zeroed sectors aren't either.
 * The synced length tells damage from loss: a bad frame that lies before the synced length of a later good
 * one was durable once and has been damaged since; one that lies after it was never made durable.
 */
import { crc32 } from 'node:zlib';
import type { Stamp } from '../domain/command.ts';
import { viewOf } from '../lib/bytes.ts';

export const FRAME_BYTES = 28;

/** Above the largest batch (10 000 events of a few kilobytes) that the HTTP limits let through. */
export const MAX_PAYLOAD_BYTES = 32 * 1024 * 1024;

/**
 * Fills in the frame of the record that stands from `start` to `end`, its payload behind the frame.
 *
 * @returns its CRC
 */
export function sealFrame(
  bytes: Buffer,
  start: number,
  end: number,
  stamp: Stamp,
  syncedBytes: number,
  seed: number,
): number {
  const view = viewOf(bytes);
  view.setUint32(start + 4, end - start - FRAME_BYTES, true);
  view.setFloat64(start + 8, stamp.sequence, true);
  view.setFloat64(start + 16, stamp.atMs, true);
  view.setUint32(start + 24, syncedBytes, true);
  const crc = crc32(new Uint8Array(view.buffer, view.byteOffset + start + 4, end - start - 4), seed);
  view.setUint32(start, crc, true);
  return crc;
}

export interface RecordFrame {
  readonly type: 'record';
  readonly stamp: Stamp;
  readonly syncedBytes: number;
  readonly crc: number;
  readonly totalBytes: number;
}

export type Frame =
  /** A record that checks out, `totalBytes` long. */
  | RecordFrame
  /** The bytes end before the frame does: `neededBytes` of them are wanted, as far as is known. */
  | { readonly type: 'incomplete'; readonly neededBytes: number }
  /** Not a record. */
  | { readonly type: 'bad'; readonly reason: string };

/** Checks the frame at an offset of `bytes`; nothing of the payload is decoded before its CRC is checked. */
export function readFrame(bytes: Buffer, offset: number, seed: number): Frame {
  const available = bytes.length - offset;
  if (available < FRAME_BYTES) return { type: 'incomplete', neededBytes: FRAME_BYTES };
  const payloadBytes = bytes.readUInt32LE(offset + 4);
  if (payloadBytes === 0 || payloadBytes > MAX_PAYLOAD_BYTES) {
    return { type: 'bad', reason: `impossible record length ${payloadBytes}` };
  }
  const totalBytes = FRAME_BYTES + payloadBytes;
  if (available < totalBytes) return { type: 'incomplete', neededBytes: totalBytes };
  const crc = bytes.readUInt32LE(offset);
  if (crc32(bytes.subarray(offset + 4, offset + totalBytes), seed) !== crc) {
    return { type: 'bad', reason: 'checksum mismatch' };
  }
  return {
    type: 'record',
    stamp: { sequence: bytes.readDoubleLE(offset + 8), atMs: bytes.readDoubleLE(offset + 16) },
    syncedBytes: bytes.readUInt32LE(offset + 24),
    crc,
    totalBytes,
  };
}
