/**
 * Checkpoints: a state written down, so that a start need not replay what led to it. One is only ever a
 * shortcut: where none can be read, an older one or the log itself serves.
 *
 * `checkpoint-<ordinal>.ckpt` covers the log through the segment of that ordinal. The file is the 8 bytes
 * "FSHKCKP\0" and then blocks:
 *
 *   offset  bytes  what                                                                  (little-endian)
 *        0      4  CRC-32 of all that follows in the block, seeded with the CRC of the block before
 *        4      4  u32  payload length in bytes
 *        8      n  payload: a msgpack array
 *
 * The first block is [format version, end of the log that it covers], each later one a list of rows, the
 * last one [number of blocks before it]. The chain of CRCs leaves no way to lose, swap or repeat a block unseen.
 *
 * A checkpoint appears under its name only once it is whole: write, sync, read back, rename, sync the folder.
 */
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import { type Disk, type DiskFile, readFully, writeFully } from '../lib/disk.ts';
import type { SegmentEnd } from './replay.ts';

export type Row = readonly unknown[];

const MAGIC = Buffer.from('FSHKCKP\0', 'latin1');
/** Version 2 has rows that readers of version 1 do not know; all of those of version 1 are in it as they were. */
const FORMAT_VERSION = 2;
const FIRST_FORMAT_VERSION = 1;
const BLOCK_HEADER_BYTES = 8;
const ROWS_PER_BLOCK = 16;
const MAX_BLOCK_BYTES = 1024 * 1024 * 1024;

const packr = new Packr({ useRecords: false });

/** What is in the file is not a whole checkpoint of this format. Owner: the start, which looks for another. */
export class CheckpointBroken extends Error {
  constructor(name: string, reason: string) {
    super(`${name} cannot be used: ${reason}`);
    this.name = 'CheckpointBroken';
  }
}

export function checkpointFileName(ordinal: number): string {
  return `checkpoint-${String(ordinal).padStart(8, '0')}.ckpt`;
}

/** Ordinals of the checkpoints in a directory, newest first. */
export function checkpointOrdinals(disk: Disk, directory: string): number[] {
  return disk
    .list(directory)
    .map((name) => /^checkpoint-(\d{8,})\.ckpt$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}

/** Writes and verifies a checkpoint of the log through `end`. */
export function writeCheckpoint(disk: Disk, directory: string, end: SegmentEnd, rows: Iterable<Row>): void {
  const name = checkpointFileName(end.ordinal);
  const temporary = join(directory, `${name}.tmp`);
  if (disk.list(directory).includes(`${name}.tmp`)) disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  try {
    writeBlocks(file, blocksOf(end, rows));
    file.sync();
    verify(file, name);
  } catch (error) {
    // On a full disk it would keep the space that the log needs.
    disk.remove(temporary);
    throw error;
  } finally {
    file.close();
  }
  disk.rename(temporary, join(directory, name));
  disk.syncDirectory(directory);
}

/**
 * Reads a checkpoint, all of which is checked before the first row is handed over.
 *
 * @throws CheckpointBroken
 */
export function readCheckpoint(
  disk: Disk,
  directory: string,
  ordinal: number,
  visit: (row: Row) => void,
): SegmentEnd {
  const name = checkpointFileName(ordinal);
  const file = disk.open(join(directory, name), 'read');
  try {
    const end = verify(file, name);
    let waiting: Buffer | undefined;
    let first = true;
    // Neither the first block nor the last holds rows: each waits until another has come.
    for (const payload of readBlocks(file, name)) {
      if (waiting !== undefined && !first) takeRows(waiting, name, visit);
      first = waiting === undefined;
      waiting = payload;
    }
    return end;
  } finally {
    file.close();
  }
}

function takeRows(payload: Buffer, name: string, visit: (row: Row) => void): void {
  for (const row of listOf(payload, name)) {
    if (!Array.isArray(row)) throw new CheckpointBroken(name, 'a row is no list');
    try {
      visit(row);
    } catch (error) {
      // Of a newer version perhaps: a checkpoint is a short cut, and the log is still there.
      throw new CheckpointBroken(name, error instanceof Error ? error.message : String(error));
    }
  }
}

/**
 * Removes checkpoints that cannot be used any more, all of each being read: none of them may pass for a fallback.
 *
 * @param good those that need not be read again
 */
export function removeBrokenCheckpoints(
  disk: Disk,
  directory: string,
  good: readonly (number | undefined)[],
): void {
  for (const ordinal of checkpointOrdinals(disk, directory)) {
    if (good.includes(ordinal)) continue;
    const name = checkpointFileName(ordinal);
    const file = disk.open(join(directory, name), 'read');
    try {
      verify(file, name);
    } catch (error) {
      if (!(error instanceof CheckpointBroken)) throw error;
      disk.remove(join(directory, name));
    } finally {
      file.close();
    }
  }
  disk.syncDirectory(directory);
}

/** What a checkpoint covers, of which only the first block is read. @throws CheckpointBroken */
export function readCheckpointEnd(disk: Disk, directory: string, ordinal: number): SegmentEnd {
  const name = checkpointFileName(ordinal);
  const file = disk.open(join(directory, name), 'read');
  try {
    for (const payload of readBlocks(file, name)) return endOf(listOf(payload, name), name);
    throw new CheckpointBroken(name, 'it is empty');
  } finally {
    file.close();
  }
}

function* blocksOf(end: SegmentEnd, rows: Iterable<Row>): Iterable<unknown[]> {
  const { ordinal, logId, lengthBytes, lastCrc, lastStamp } = end;
  yield [FORMAT_VERSION, ordinal, logId, lengthBytes, lastCrc, lastStamp.sequence, lastStamp.atMs];
  let blocks = 1;
  let block: Row[] = [];
  for (const row of rows) {
    block.push(row);
    if (block.length < ROWS_PER_BLOCK) continue;
    yield block;
    blocks += 1;
    block = [];
  }
  yield block;
  yield [blocks + 1];
}

function writeBlocks(file: DiskFile, blocks: Iterable<unknown[]>): void {
  writeFully(file, MAGIC, 0);
  let position = MAGIC.length;
  let seed = 0;
  for (const block of blocks) {
    const payload = packr.pack(block);
    const bytes = Buffer.allocUnsafe(BLOCK_HEADER_BYTES + payload.length);
    bytes.writeUInt32LE(payload.length, 4);
    payload.copy(bytes, BLOCK_HEADER_BYTES);
    seed = crc32(bytes.subarray(4), seed);
    bytes.writeUInt32LE(seed, 0);
    writeFully(file, bytes, position);
    position += bytes.length;
  }
}

/** Reads every block and holds it to its CRC, and the last to the number of those before it. */
function verify(file: DiskFile, name: string): SegmentEnd {
  let first: Buffer | undefined;
  let last: Buffer | undefined;
  let blocks = 0;
  for (const payload of readBlocks(file, name)) {
    first ??= payload;
    last = payload;
    blocks += 1;
  }
  if (first === undefined || last === undefined) throw new CheckpointBroken(name, 'it is empty');
  const end = endOf(listOf(first, name), name);
  const count = listOf(last, name);
  if (blocks < 2 || count.length !== 1 || count[0] !== blocks - 1) {
    throw new CheckpointBroken(name, 'it ends before its end');
  }
  return end;
}

function listOf(payload: Buffer, name: string): readonly unknown[] {
  const block: unknown = packr.unpack(payload);
  if (!Array.isArray(block)) throw new CheckpointBroken(name, 'a block is no list');
  return block;
}

function endOf(block: readonly unknown[], name: string): SegmentEnd {
  const [version, ordinal, logId, lengthBytes, lastCrc, sequence, atMs] = block;
  if (version !== FORMAT_VERSION && version !== FIRST_FORMAT_VERSION) {
    throw new CheckpointBroken(name, `its format is version ${version}`);
  }
  if (
    typeof ordinal !== 'number' ||
    typeof logId !== 'string' ||
    typeof lengthBytes !== 'number' ||
    typeof lastCrc !== 'number' ||
    typeof sequence !== 'number' ||
    typeof atMs !== 'number'
  ) {
    throw new CheckpointBroken(name, 'it does not say what it covers');
  }
  return { ordinal, logId, lengthBytes, lastCrc, syncedBytes: lengthBytes, lastStamp: { sequence, atMs } };
}

function* readBlocks(file: DiskFile, name: string): Iterable<Buffer> {
  const size = file.sizeBytes();
  const header = Buffer.alloc(BLOCK_HEADER_BYTES);
  readFully(file, header, MAGIC.length, 0);
  if (!header.subarray(0, MAGIC.length).equals(MAGIC))
    throw new CheckpointBroken(name, 'it is no checkpoint');
  let position = MAGIC.length;
  let seed = 0;
  while (position < size) {
    if (readFully(file, header, BLOCK_HEADER_BYTES, position) < BLOCK_HEADER_BYTES) {
      throw new CheckpointBroken(name, 'it ends inside a block');
    }
    const length = header.readUInt32LE(4);
    if (length > MAX_BLOCK_BYTES || position + BLOCK_HEADER_BYTES + length > size) {
      throw new CheckpointBroken(name, 'it ends inside a block');
    }
    const bytes = Buffer.allocUnsafe(BLOCK_HEADER_BYTES + length);
    readFully(file, bytes, bytes.length, position);
    seed = crc32(bytes.subarray(4), seed);
    if (seed !== header.readUInt32LE(0))
      throw new CheckpointBroken(name, `checksum mismatch at byte ${position}`);
    yield bytes.subarray(BLOCK_HEADER_BYTES);
    position += bytes.length;
  }
}
