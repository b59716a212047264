/**
 * The disk as the log sees it: the few calls it makes, so that a simulation can stand in for them and
 * fail, tear and lose what it likes. Paths are those of the file system; all calls throw, or reject with,
 * the system's errors. Names ending in `Async` run off the event loop.
 */
import fs from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { MappedWindow } from './mapped-window.ts';

export interface Disk {
  /** Names of the entries of a directory, in no order. */
  list(directory: string): string[];
  /** Makes a directory and those above it that are missing, durably. */
  makeDirectory(directory: string): void;
  open(path: string, mode: OpenMode): DiskFile;
  openAsync(path: string, mode: OpenMode): Promise<DiskFile>;
  rename(from: string, to: string): void;
  renameAsync(from: string, to: string): Promise<void>;
  remove(path: string): void;
  /** Makes created, renamed and removed entries of a directory durable. */
  syncDirectory(directory: string): void;
  syncDirectoryAsync(directory: string): Promise<void>;
}

/** `create` fails where the file exists. */
export type OpenMode = 'create' | 'read-write' | 'read';

export interface DiskFile {
  /** Bytes read, 0 at the end. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Bytes written, which may be fewer than asked: a filling disk first shows as a short write. */
  write(buffer: Buffer, offset: number, length: number, position: number): number;
  writeAsync(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  /**
   * Makes room for so many bytes and more from a position on: the file grows by zeros, and until it is cut, writing there
   * costs no system call. Answers where the room ends; the position where this file can have none. A file has one room.
   */
  reserve(position: number, bytes: number): number;
  truncate(lengthBytes: number): void;
  truncateAsync(lengthBytes: number): Promise<void>;
  sizeBytes(): number;
  /** fdatasync(2), waiting for it. */
  sync(): void;
  syncAsync(): Promise<void>;
  close(): void;
}

// The log holds what agents saw and webhook tokens: it is its owner's alone.
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

const OPEN_FLAGS: { readonly [M in OpenMode]: string } = { create: 'wx+', 'read-write': 'r+', read: 'r' };

export const nodeDisk: Disk = {
  list: (directory) => fs.readdirSync(directory),
  makeDirectory: (directory) => {
    // One by one: Node's own way of making those above does not end where a file system takes none, as in /proc.
    for (const made of missingOf(resolve(directory))) {
      try {
        fs.mkdirSync(made, { mode: DIRECTORY_MODE });
      } catch (error) {
        // Another process may have made it meanwhile.
        if (missingOf(made).length > 0) throw error;
      }
      giveToOwnerOf(dirname(made), made);
      // It is an entry of its parent, which a power cut could still lose.
      syncFolder(dirname(made));
    }
  },
  open: (path, mode) => {
    const fd = fs.openSync(path, OPEN_FLAGS[mode], FILE_MODE);
    if (mode === 'create') giveToOwnerOf(dirname(path), path);
    return new NodeFile(fd);
  },
  openAsync: (path, mode) =>
    new Promise((done, reject) => {
      fs.open(path, OPEN_FLAGS[mode], FILE_MODE, (error, fd) => {
        if (error !== null) return reject(error);
        if (mode === 'create') giveToOwnerOf(dirname(path), path);
        done(new NodeFile(fd));
      });
    }),
  rename: (from, to) => fs.renameSync(from, to),
  renameAsync: (from, to) => rename(from, to),
  remove: (path) => fs.unlinkSync(path),
  syncDirectory: syncFolder,
  syncDirectoryAsync: async (directory) => {
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** A directory and those above it that are not there, the outermost first. */
function missingOf(directory: string): string[] {
  const status = fs.statSync(directory, { throwIfNoEntry: false });
  if (status?.isDirectory() === true) return [];
  if (status !== undefined)
    throw new Error(`${directory}: it is a file, and a directory is needed; give another path`);
  return [...missingOf(dirname(directory)), directory];
}

/** Root looks after the data of a service that is not root: what it leaves there must be the service's to read. */
function giveToOwnerOf(directory: string, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(directory);
  if (uid !== 0) fs.chownSync(path, uid, gid);
}

function syncFolder(directory: string): void {
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

class NodeFile implements DiskFile {
  readonly #fd: number;
  /** Null where this file can have none. */
  #window: MappedWindow | null | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.readSync(this.#fd, buffer, offset, length, position);
  }

  write(buffer: Buffer, offset: number, length: number, position: number): number {
    if (this.#window?.write(buffer, offset, length, position) === true) return length;
    return fs.writeSync(this.#fd, buffer, offset, length, position);
  }

  writeAsync(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.#fd, buffer, offset, length, position, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  }

  reserve(position: number, bytes: number): number {
    this.#window ??= MappedWindow.over(this.#fd, bytes) ?? null;
    return this.#window?.moveTo(position) ?? position;
  }

  truncate(lengthBytes: number): void {
    this.#window?.shut();
    fs.ftruncateSync(this.#fd, lengthBytes);
  }

  truncateAsync(lengthBytes: number): Promise<void> {
    this.#window?.shut();
    return settled((done) => fs.ftruncate(this.#fd, lengthBytes, done));
  }

  sizeBytes(): number {
    return fs.fstatSync(this.#fd).size;
  }

  sync(): void {
    this.#window?.syncing();
    fs.fdatasyncSync(this.#fd);
  }

  syncAsync(): Promise<void> {
    this.#window?.syncing();
    return settled((done) => fs.fdatasync(this.#fd, done));
  }

  close(): void {
    this.#window?.close();
    this.#window = null;
    fs.closeSync(this.#fd);
  }
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => {
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}

/** How long the file at a path is. */
export function sizeOf(disk: Disk, path: string): number {
  const file = disk.open(path, 'read');
  try {
    return file.sizeBytes();
  } finally {
    file.close();
  }
}

/** There is no room, or none for this user. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** A write that takes nothing more is a full disk too. */
function tookNoMore(): Error {
  return Object.assign(new Error('the disk took no more bytes'), { code: 'ENOSPC' });
}

/** Writes a buffer, or so much of it, at a position, or throws. */
export function writeFully(
  file: DiskFile,
  bytes: Buffer,
  position: number,
  start = 0,
  end = bytes.length,
): void {
  let from = start;
  while (from < end) {
    const taken = file.write(bytes, from, end - from, position + from - start);
    if (taken === 0) throw tookNoMore();
    from += taken;
  }
}

export async function writeFullyAsync(file: DiskFile, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const taken = await file.writeAsync(bytes, written, bytes.length - written, position + written);
    if (taken === 0) throw tookNoMore();
    written += taken;
  }
}

/** Reads up to `length` bytes at a position, fewer only where the file ends. */
export function readFully(file: DiskFile, buffer: Uint8Array, length: number, position: number): number {
  let read = 0;
  while (read < length) {
    const got = file.read(buffer, read, length - read, position + read);
    if (got === 0) break;
    read += got;
  }
  return read;
}
