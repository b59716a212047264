/**
 * The mark of a clean shutdown: the file `clean-shutdown` beside the segments, holding the sequence number of
 * the last record as text. It is written when a log is closed and taken away when it is opened. A log that
 * ends before its mark has lost records that were durable.
 */
import { join } from 'node:path';
import { type Disk, readFully, writeFully } from '../lib/disk.ts';

const NAME = 'clean-shutdown';
const MAX_BYTES = 32;

export function leaveMark(disk: Disk, directory: string, sequence: number): void {
  const temporary = join(directory, `${NAME}.tmp`);
  if (disk.list(directory).includes(`${NAME}.tmp`)) disk.remove(temporary);
  const file = disk.open(temporary, 'create');
  try {
    writeFully(file, Buffer.from(String(sequence)), 0);
    file.sync();
  } finally {
    file.close();
  }
  disk.rename(temporary, join(directory, NAME));
  disk.syncDirectory(directory);
}

/** The sequence number that the log must reach, or undefined where there is no mark. */
export function readMark(disk: Disk, directory: string): number | undefined {
  if (!disk.list(directory).includes(NAME)) return undefined;
  const file = disk.open(join(directory, NAME), 'read');
  try {
    const bytes = Buffer.alloc(MAX_BYTES);
    const text = bytes.toString('latin1', 0, readFully(file, bytes, MAX_BYTES, 0));
    return /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  } finally {
    file.close();
  }
}

/** Durably: a mark that came back after a power cut would call that a clean shutdown. */
export function removeMark(disk: Disk, directory: string): void {
  if (!disk.list(directory).includes(NAME)) return;
  disk.remove(join(directory, NAME));
  disk.syncDirectory(directory);
}
