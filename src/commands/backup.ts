/**
 * Copying the data of a directory to another, also while a server writes to it. A log only ever grows at its end,
 * and checkpoints never change: what was copied of it, in order, is the log as it was at some moment. Nothing else
 * may be running for it, and nothing is stopped for it.
 *
 * Retention may take away files while they are copied; then the copy begins anew.
 */
import { join, relative, sep } from 'node:path';
import { type Disk, type DiskFile, readFully, sizeOf, writeFully } from '../lib/disk.ts';
import { checkpointFileName, checkpointOrdinals } from '../log/checkpoint.ts';
import { LogDamaged } from '../log/errors.ts';
import { verify } from '../log/inspect.ts';
import { cut } from '../log/recovery.ts';
import { segmentOrdinals } from '../log/replay.ts';
import { segmentFileName } from '../log/segment.ts';
import { checkpointDirectory, holdsData, logDirectory } from './load.ts';

export interface CopyOptions {
  readonly disk: Disk;
  readonly from: string;
  /** Must hold nothing. */
  readonly to: string;
  readonly onProgress: (copied: { readonly doneBytes: number; readonly totalBytes: number }) => void;
}

export interface Copied {
  readonly bytes: number;
  readonly segments: number;
  /** Commands in the log that was copied; those that a checkpoint stands for not counted. */
  readonly commands: number;
  /** Of the last command, milliseconds since the epoch; 0 where there is none. */
  readonly lastAtMs: number;
}

const SLICE_BYTES = 1024 * 1024;
const ATTEMPTS = 5;

/** @throws Error where `to` holds something, or `from` no data; LogDamaged where what was copied is not whole */
export async function copyData(options: CopyOptions): Promise<Copied> {
  const { disk, from, to } = options;
  if (!holdsData(disk, from)) throw new Error(`${from} holds no data of Foreshock`);
  if (isWithin(from, to)) throw new Error(`${to} lies in ${from}; give a directory outside of it`);
  disk.makeDirectory(to);
  if (disk.list(to).length > 0) throw new Error(`${to} is not empty; give a directory that is not there yet`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await verified(options, copyFiles(options));
    } catch (error) {
      if (attempt === ATTEMPTS || !(isGone(error) || isOfNewest(error, options))) throw error;
    }
  }
}

/** What was being written while it was copied can look damaged, and hardly does so twice. */
function isOfNewest(error: unknown, { disk, from }: CopyOptions): boolean {
  if (!(error instanceof LogDamaged)) return false;
  return segmentFileName(segmentOrdinals(disk, logDirectory(from)).at(-1) ?? 0) === error.segment;
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

interface FileToCopy {
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}

/** Checkpoints first: what they cover may be gone from the log a moment later. */
function copyFiles({ disk, from, to, onProgress }: CopyOptions): readonly FileToCopy[] {
  const directories = [checkpointDirectory, logDirectory] as const;
  for (const directory of directories) {
    disk.makeDirectory(directory(to));
    for (const name of disk.list(directory(to))) disk.remove(join(directory(to), name));
  }
  const files = [
    ...checkpointOrdinals(disk, checkpointDirectory(from)).map(
      (ordinal) => [checkpointDirectory, checkpointFileName(ordinal)] as const,
    ),
    ...segmentOrdinals(disk, logDirectory(from)).map(
      (ordinal) => [logDirectory, segmentFileName(ordinal)] as const,
    ),
  ].map(([directory, name]) => {
    const source = join(directory(from), name);
    return { from: source, to: join(directory(to), name), bytes: sizeOf(disk, source) };
  });
  const totalBytes = files.reduce((total, { bytes }) => total + bytes, 0);
  let doneBytes = 0;
  for (const file of files) {
    copyFile(disk, file, (more) => {
      doneBytes += more;
      onProgress({ doneBytes, totalBytes });
    });
  }
  for (const directory of directories) disk.syncDirectory(directory(to));
  return files;
}

function copyFile(disk: Disk, file: FileToCopy, onCopied: (bytes: number) => void): void {
  const slice = Buffer.allocUnsafe(SLICE_BYTES);
  within(disk.open(file.from, 'read'), (source) => {
    within(disk.open(file.to, 'create'), (target) => {
      // As long as it was when all were looked at: what was added since belongs to no moment that they share.
      for (let at = 0; at < file.bytes; ) {
        const length = readFully(source, slice, Math.min(slice.length, file.bytes - at), at);
        if (length === 0) break;
        writeFully(target, slice.subarray(0, length), at);
        at += length;
        onCopied(length);
      }
      target.sync();
    });
  });
}

/** The last record may have been copied half-written, or room for others with it: cut off, as a start would. */
async function verified({ disk, to }: CopyOptions, files: readonly FileToCopy[]): Promise<Copied> {
  const directories = { logDirectory: logDirectory(to), checkpointDirectory: checkpointDirectory(to) };
  const { commands, end, damage } = await verify({ disk, ...directories });
  if (damage !== undefined) throw new LogDamaged(damage.segment, damage.offset, damage.message);
  if (end !== undefined) {
    const name = segmentFileName(end.ordinal);
    const isLonger = sizeOf(disk, join(directories.logDirectory, name)) > end.lengthBytes;
    if (isLonger) cut(disk, directories.logDirectory, name, end.lengthBytes);
  }
  return {
    bytes: files.reduce((total, file) => total + sizeOf(disk, file.to), 0),
    segments: segmentOrdinals(disk, directories.logDirectory).length,
    commands,
    lastAtMs: end?.lastStamp.atMs ?? 0,
  };
}

function within<T>(file: DiskFile, use: (file: DiskFile) => T): T {
  try {
    return use(file);
  } finally {
    file.close();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
