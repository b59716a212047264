/**
 * A disk that does what it is told to: node's, except that any call can be made to fail or to fall short. Syncs
 * that succeed only note what they cover: no test here outlives a power cut, and real ones take their time.
 */
import fs from 'node:fs';
import { basename } from 'node:path';
import { type Disk, type DiskFile, nodeDisk, type OpenMode } from '../../src/lib/disk.ts';

/** A call that changes something, or makes it durable. Those off the event loop have the same names. */
export interface DiskCall {
  readonly name: 'create' | 'write' | 'reserve' | 'truncate' | 'sync' | 'rename' | 'sync-directory';
  readonly path: string;
}

/** `bytes` says how much of a write is taken first: without a `code` the write is short, and no more than that. */
export interface Fault {
  readonly bytes?: number;
  readonly code?: 'ENOSPC' | 'EIO';
}

export type Judge = (call: DiskCall) => Fault | undefined;

const faultless: Judge = () => undefined;

export class FaultyDisk implements Disk {
  /** Asked before every call. */
  judge: Judge = faultless;
  bytesRead = 0;
  /** Files opened so far. */
  opened = 0;
  readonly #open = new Set<FaultyFile>();
  /** Processes that have ended so far. */
  #ended = 0;

  /** Names of the files that are open. */
  get openFiles(): string[] {
    return [...this.#open].map(({ path }) => basename(path)).sort();
  }

  mend(): void {
    this.judge = faultless;
  }

  /** What the end of the process does: whatever is open is closed, nobody is answered, and nothing else happens. */
  crash(): void {
    this.#ended += 1;
    for (const file of this.#open) file.close();
  }

  /** What a power cut does: of the bytes that no sync covered, what `damage` leaves of them. */
  powerCut(damage: (unsynced: Buffer) => Buffer): void {
    for (const file of this.#open) if (file.mode !== 'read') file.lose(damage);
    this.crash();
  }

  list(directory: string): string[] {
    return nodeDisk.list(directory);
  }

  makeDirectory(directory: string): void {
    fs.mkdirSync(directory, { recursive: true });
  }

  open(path: string, mode: OpenMode): DiskFile {
    if (mode === 'create') this.try({ name: 'create', path });
    this.opened += 1;
    const file = new FaultyFile(this, this.#open, path, mode, nodeDisk.open(path, mode));
    this.#open.add(file);
    return file;
  }

  openAsync(path: string, mode: OpenMode): Promise<DiskFile> {
    return this.later(() => this.open(path, mode));
  }

  rename(from: string, to: string): void {
    this.try({ name: 'rename', path: to });
    nodeDisk.rename(from, to);
    for (const file of this.#open) if (file.path === from) file.path = to;
  }

  renameAsync(from: string, to: string): Promise<void> {
    return this.later(() => this.rename(from, to));
  }

  remove(path: string): void {
    nodeDisk.remove(path);
  }

  syncDirectory(directory: string): void {
    this.try({ name: 'sync-directory', path: directory });
  }

  syncDirectoryAsync(directory: string): Promise<void> {
    return this.later(() => this.syncDirectory(directory));
  }

  /** Throws the error of a call that is to fail. */
  try(call: DiskCall): void {
    const code = this.judge(call)?.code;
    if (code !== undefined) throw systemError(code, call);
  }

  /** Does something at once, and answers about it later: never, where the process has ended meanwhile. */
  later<T>(act: () => T): Promise<T> {
    const process = this.#ended;
    return new Promise((resolve, reject) => {
      const answer = attempted(act);
      setImmediate(() => {
        if (process !== this.#ended) return;
        if (answer.type === 'done') resolve(answer.value);
        else reject(answer.error);
      });
    });
  }
}

type Answer<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'failed'; readonly error: unknown };

function attempted<T>(act: () => T): Answer<T> {
  try {
    return { type: 'done', value: act() };
  } catch (error) {
    return { type: 'failed', error };
  }
}

class FaultyFile implements DiskFile {
  /** Follows the file where it is renamed. */
  path: string;
  readonly mode: OpenMode;
  #syncedBytes: number;
  /** Where what was written ends: behind it there may be room. */
  #writtenBytes: number;
  readonly #disk: FaultyDisk;
  readonly #open: Set<FaultyFile>;
  readonly #file: DiskFile;

  constructor(disk: FaultyDisk, open: Set<FaultyFile>, path: string, mode: OpenMode, file: DiskFile) {
    this.path = path;
    this.mode = mode;
    this.#disk = disk;
    this.#open = open;
    this.#file = file;
    // What a test put there is there.
    this.#syncedBytes = file.sizeBytes();
    this.#writtenBytes = this.#syncedBytes;
  }

  lose(damage: (unsynced: Buffer) => Buffer): void {
    const unsynced = Buffer.alloc(Math.max(0, this.#writtenBytes - this.#syncedBytes));
    if (unsynced.length === 0) return;
    this.#file.read(unsynced, 0, unsynced.length, this.#syncedBytes);
    const left = damage(unsynced);
    this.#file.truncate(this.#syncedBytes + left.length);
    this.#file.write(left, 0, left.length, this.#syncedBytes);
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    const got = this.#file.read(buffer, offset, length, position);
    this.#disk.bytesRead += got;
    return got;
  }

  write(buffer: Buffer, offset: number, length: number, position: number): number {
    const call: DiskCall = { name: 'write', path: this.path };
    const fault = this.#disk.judge(call);
    if (fault === undefined) {
      const written = this.#file.write(buffer, offset, length, position);
      this.#writtenBytes = Math.max(this.#writtenBytes, position + written);
      return written;
    }
    // A write that fails has not taken everything.
    const taken = Math.min(fault.code === undefined ? length : length - 1, fault.bytes ?? 0);
    if (taken > 0) this.#file.write(buffer, offset, taken, position);
    this.#writtenBytes = Math.max(this.#writtenBytes, position + taken);
    if (fault.code !== undefined) throw systemError(fault.code, call);
    return taken;
  }

  writeAsync(buffer: Buffer, offset: number, length: number, position: number): Promise<number> {
    return this.#disk.later(() => this.write(buffer, offset, length, position));
  }

  reserve(position: number, bytes: number): number {
    const call: DiskCall = { name: 'reserve', path: this.path };
    const fault = this.#disk.judge(call);
    if (fault === undefined) return this.#file.reserve(position, bytes);
    // Some of it, where the disk was nearly full.
    this.#file.truncate(position + (fault.bytes ?? 0));
    throw systemError(fault.code ?? 'ENOSPC', call);
  }

  truncate(lengthBytes: number): void {
    this.#disk.try({ name: 'truncate', path: this.path });
    this.#file.truncate(lengthBytes);
    this.#writtenBytes = lengthBytes;
    this.#syncedBytes = Math.min(this.#syncedBytes, lengthBytes);
  }

  truncateAsync(lengthBytes: number): Promise<void> {
    return this.#disk.later(() => this.truncate(lengthBytes));
  }

  sizeBytes(): number {
    return this.#file.sizeBytes();
  }

  sync(): void {
    this.#disk.try({ name: 'sync', path: this.path });
    this.#syncedBytes = this.#writtenBytes;
  }

  /** Covers what was written before it was asked for, once it answers. */
  async syncAsync(): Promise<void> {
    const coveredBytes = this.#writtenBytes;
    await this.#disk.later(() => this.#disk.try({ name: 'sync', path: this.path }));
    if (!this.#open.has(this)) throw systemError('EBADF', { name: 'sync', path: this.path });
    this.#syncedBytes = Math.max(this.#syncedBytes, coveredBytes);
  }

  close(): void {
    this.#open.delete(this);
    this.#file.close();
  }
}

function systemError(code: string, { name, path }: DiskCall): Error {
  return Object.assign(new Error(`${code}: ${name} '${path}'`), { code });
}
