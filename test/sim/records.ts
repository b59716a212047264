/** The log as it lies on a disk, read without recovery, checkpoints or any judgement. */
import { join } from 'node:path';
import { FRAME_BYTES, readFrame } from '../../src/log/record.ts';
import { segmentOrdinals } from '../../src/log/replay.ts';
import { decodeHeader, HEADER_BYTES, segmentFileName } from '../../src/log/segment.ts';
import type { SimulatedDisk } from './disk.ts';

export interface RecordOnDisk {
  readonly sequence: number;
  readonly atMs: number;
  readonly payload: Buffer;
}

export function recordsOnDisk(disk: SimulatedDisk, directory: string): RecordOnDisk[] {
  const records: RecordOnDisk[] = [];
  for (const ordinal of segmentOrdinals(disk, directory)) {
    const bytes = disk.contentOf(join(directory, segmentFileName(ordinal)));
    const header = decodeHeader(bytes.subarray(0, HEADER_BYTES));
    if (header.type !== 'header') throw new Error(`segment ${ordinal} has no header`);
    for (let at = HEADER_BYTES; at < bytes.length; ) {
      const frame = readFrame(bytes, at, header.seed);
      if (frame.type !== 'record') throw new Error(`segment ${ordinal} has no record at byte ${at}`);
      const payload = bytes.subarray(at + FRAME_BYTES, at + frame.totalBytes);
      records.push({ ...frame.stamp, payload });
      at += frame.totalBytes;
    }
  }
  for (const [index, { sequence }] of records.entries()) {
    if (sequence !== (records[0]?.sequence ?? 0) + index)
      throw new Error(`record ${sequence} is out of sequence`);
  }
  return records;
}
