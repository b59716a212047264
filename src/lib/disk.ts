/**
 * The disk as the log sees it: the few calls it makes, so that a simulation can stand in for them and
 * fail, tear and lose what it likes. Paths are those of the file system; all calls throw the system's errors.
 */
import fs from 'node:fs';

export interface Disk {
  /** Names of the entries of a directory, in no order. */
  list(directory: string): string[];
  makeDirectory(directory: string): void;
  open(path: string, mode: 'create' | 'read-write' | 'read'): DiskFile;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Makes created, renamed and removed entries of a directory durable. */
  syncDirectory(directory: string): void;
}

export interface DiskFile {
  /** Bytes read, 0 at the end. */
  read(buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Bytes written, which may be fewer than asked: a filling disk first shows as a short write. */
  write(buffer: Uint8Array, offset: number, length: number, position: number): number;
  truncate(lengthBytes: number): void;
  sizeBytes(): number;
  /** fdatasync(2), waiting for it. */
  sync(): void;
  /** fdatasync(2) off the event loop. */
  syncInBackground(done: (error: Error | null) => void): void;
  close(): void;
}

// The log holds what agents saw and webhook tokens: it is its owner's alone.
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

export const nodeDisk: Disk = {
  list: (directory) => fs.readdirSync(directory),
  makeDirectory: (directory) => {
    fs.mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  },
  open: (path, mode) => new NodeFile(path, mode),
  rename: (from, to) => fs.renameSync(from, to),
  remove: (path) => fs.unlinkSync(path),
  syncDirectory: (directory) => {
    const fd = fs.openSync(directory, 'r');
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  },
};

const OPEN_FLAGS = { create: 'wx+', 'read-write': 'r+', read: 'r' } as const;

class NodeFile implements DiskFile {
  readonly #fd: number;

  constructor(path: string, mode: keyof typeof OPEN_FLAGS) {
    this.#fd = fs.openSync(path, OPEN_FLAGS[mode], FILE_MODE);
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.readSync(this.#fd, buffer, offset, length, position);
  }

  write(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return fs.writeSync(this.#fd, buffer, offset, length, position);
  }

  truncate(lengthBytes: number): void {
    fs.ftruncateSync(this.#fd, lengthBytes);
  }

  sizeBytes(): number {
    return fs.fstatSync(this.#fd).size;
  }

  sync(): void {
    fs.fdatasyncSync(this.#fd);
  }

  syncInBackground(done: (error: Error | null) => void): void {
    fs.fdatasync(this.#fd, done);
  }

  close(): void {
    fs.closeSync(this.#fd);
  }
}

/** Writes all of a buffer at a position, or throws: a write that takes nothing more is a full disk. */
export function writeFully(file: DiskFile, bytes: Uint8Array, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    const taken = file.write(bytes, written, bytes.length - written, position + written);
    if (taken === 0) throw new Error('the disk took no more bytes');
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
