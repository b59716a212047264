/** Making segment files: one appears under its name only once its header is durable there. */
import { join } from 'node:path';
import { type Disk, type DiskFile, writeFully, writeFullyAsync } from '../lib/disk.ts';
import { SyncFailed } from './errors.ts';
import { encodeHeader, HEADER_BYTES, type SegmentHeader, seedOf, segmentFileName } from './segment.ts';

/** The segment that is written to. Its length and CRC run ahead of the disk by what is staged. */
export interface ActiveSegment {
  readonly header: SegmentHeader;
  readonly encodedHeader: Buffer;
  readonly seed: number;
  /** Undefined until the file has been made, and again once it is closed. */
  file: DiskFile | undefined;
  lengthBytes: number;
  /** How much of it a finished sync covers. */
  syncedBytes: number;
  /** CRC at the start of its last record, 0 where it has none. */
  lastCrc: number;
  /** Set once a next segment may exist that names this one's end: nothing more may be appended here. */
  sealed: boolean;
  /** Syncs in the background that have not answered: the file must stay open for them. */
  syncsUnderWay: number;
  /** Set when the file is to be closed as soon as no sync needs it. */
  retired: boolean;
}

export function newSegment(header: SegmentHeader): ActiveSegment {
  const encodedHeader = encodeHeader(header);
  return {
    header,
    encodedHeader,
    seed: seedOf(encodedHeader),
    file: undefined,
    lengthBytes: HEADER_BYTES,
    syncedBytes: HEADER_BYTES,
    lastCrc: 0,
    sealed: false,
    syncsUnderWay: 0,
    retired: false,
  };
}

/**
 * Write, sync, rename, sync the folder: after a crash the segment is there with its header, or not at all.
 * A folder that cannot be synced is fatal: a later sync that succeeds would prove nothing about this rename.
 *
 * @throws SyncFailed for the folder, the system's error for anything before
 */
export function createSegmentFile(disk: Disk, directory: string, segment: ActiveSegment): DiskFile {
  const { path, temporary } = pathsOf(disk, directory, segment);
  const file = disk.open(temporary, 'create');
  try {
    writeFully(file, segment.encodedHeader, 0);
    file.sync();
    disk.rename(temporary, path);
    syncFolder(disk, directory);
    return file;
  } catch (error) {
    file.close();
    removeIfThere(disk, directory, segment);
    throw error;
  }
}

/** The same off the event loop. */
export async function createSegmentFileAsync(
  disk: Disk,
  directory: string,
  segment: ActiveSegment,
): Promise<DiskFile> {
  const { path, temporary } = pathsOf(disk, directory, segment);
  const file = await disk.openAsync(temporary, 'create');
  try {
    await writeFullyAsync(file, segment.encodedHeader, 0);
    await file.syncAsync();
    await disk.renameAsync(temporary, path);
    try {
      await disk.syncDirectoryAsync(directory);
    } catch (error) {
      throw new SyncFailed(error);
    }
    return file;
  } catch (error) {
    file.close();
    removeIfThere(disk, directory, segment);
    throw error;
  }
}

/** Takes away what an attempt left; where even that fails, the next attempt or start does. */
function removeIfThere(disk: Disk, directory: string, segment: ActiveSegment): void {
  try {
    pathsOf(disk, directory, segment);
  } catch {
    // It stays for now.
  }
}

/** @throws SyncFailed */
export function syncFolder(disk: Disk, directory: string): void {
  try {
    disk.syncDirectory(directory);
  } catch (error) {
    throw new SyncFailed(error);
  }
}

function pathsOf(
  disk: Disk,
  directory: string,
  { header }: ActiveSegment,
): { path: string; temporary: string } {
  const name = segmentFileName(header.ordinal);
  const path = join(directory, name);
  const temporary = `${path}.tmp`;
  // Left by an attempt that failed half-way.
  if (disk.list(directory).includes(`${name}.tmp`)) disk.remove(temporary);
  return { path, temporary };
}

export function retire(segment: ActiveSegment): void {
  segment.retired = true;
  closeWhenIdle(segment);
}

/**
 * Syncs a segment off the event loop, keeping its file open for as long as that takes.
 *
 * @param writtenBytes how much of it has been written: its length may run ahead by what is staged, and a record
 *   must never say of bytes that they are durable before they are
 */
export async function syncSegment(segment: ActiveSegment, writtenBytes: number): Promise<void> {
  if (segment.file === undefined) return;
  segment.syncsUnderWay += 1;
  try {
    await segment.file.syncAsync();
    segment.syncedBytes = Math.max(segment.syncedBytes, writtenBytes);
  } finally {
    segment.syncsUnderWay -= 1;
    if (segment.retired) closeWhenIdle(segment);
  }
}

function closeWhenIdle(segment: ActiveSegment): void {
  if (segment.syncsUnderWay > 0) return;
  segment.file?.close();
  segment.file = undefined;
}
