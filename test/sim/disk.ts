/**
 * A disk in memory that fails as real ones do, repeatably.
 *
 *   what was done                      survives the end of the process    survives a power cut
 *   ---------------------------------  ---------------------------------  -------------------------------------
 *   bytes written, then synced         yes                                yes
 *   bytes written                      yes (the page cache has them)      each 512-byte sector or not
 *   entry made, renamed or removed     yes                                as far as its folder was synced since,
 *                                                                         and a prefix of what came after
 *   bytes written to room              yes; where the process ends in the  as bytes written
 *                                      middle of it, any part of them
 *   bytes whose sync failed            yes, or what the disk has instead  what reached the disk, though a later
 *                                                                         sync claims success ("fsyncgate")
 *   asynchronous, not yet answered     some first ones, the last in part  as the above
 *
 * Asynchronous operations on one file settle in their order, on different files in any. Operations that change
 * something are counted, so that the process can be made to end at any one of them: before or after it, or half-way.
 */
import { basename, dirname } from 'node:path';
import type { Disk, DiskFile, OpenMode } from '../../src/lib/disk.ts';
import { afterPowerCut, Bytes, type Change } from './bytes.ts';
import type { Random } from './random.ts';
import type { SimulatedScheduler } from './scheduler.ts';

/** The process has ended: thrown out of every operation from then on. */
export class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}

/** What the system answers where an operation fails. */
export class DiskFault extends Error {
  readonly code: string;

  constructor(code: string, operation: string) {
    super(`${code}: simulated, ${operation}`);
    this.name = 'DiskFault';
    this.code = code;
  }
}

/** Probabilities, of each operation. */
export interface Faults {
  /** Bytes that the disk still takes; undefined where it is not filling up. */
  spaceBytes: number | undefined;
  writeError: number;
  syncError: number;
  truncateError: number;
  /** Opening, renaming and syncing folders. */
  entryError: number;
}

export const NO_FAULTS: Readonly<Faults> = {
  spaceBytes: undefined,
  writeError: 0,
  syncError: 0,
  truncateError: 0,
  entryError: 0,
};

export interface SimulatedDiskOptions {
  readonly scheduler: SimulatedScheduler;
  readonly random: Random;
  /** How long an asynchronous operation takes. */
  readonly latencyMs: () => number;
  /** Whether its files can have room. */
  readonly hasRoom: boolean;
  /** Told of every operation that changes something, and of its failures. */
  readonly onOperation: (text: string) => void;
  /** Told when a sync of a file starts; what it answers is called when that has succeeded. */
  readonly onSync: (name: string) => () => void;
}

/** `kill`: the machine lives on. `power`: it does not. */
export type End = 'kill' | 'power';

class Inode {
  /** The name it goes by now. */
  name: string;
  /** What processes read: disk and page cache. */
  content = new Bytes();
  durable = new Bytes();
  unsynced: readonly Change[] = [];
  /** A sync of it has failed: content may differ from what is durable though nothing is unsynced. */
  isSuspect = false;
  freeAtMs = 0;
  /** Room for writing, in the process that asked for it. */
  room = { from: 0, to: 0 };

  constructor(name: string) {
    this.name = name;
  }

  change(change: Change): void {
    if (change.type === 'truncate') this.room = { from: 0, to: 0 };
    this.content.apply(change);
    this.unsynced = [...this.unsynced, change];
  }

  sync(): void {
    for (const change of this.unsynced) this.durable.apply(change);
    this.unsynced = [];
  }

  /** The kernel gives up on what it could not write, and says so once. */
  failSync(random: Random): void {
    this.durable = afterPowerCut(this.durable, this.unsynced, random);
    this.unsynced = [];
    this.isSuspect = true;
  }
}

type EntryChange =
  | { readonly type: 'put'; readonly name: string; readonly inode: Inode }
  | { readonly type: 'rename'; readonly from: string; readonly to: string; readonly inode: Inode }
  | { readonly type: 'remove'; readonly name: string };

class Folder {
  entries = new Map<string, Inode>();
  durable = new Map<string, Inode>();
  unsynced: EntryChange[] = [];
  freeAtMs = 0;

  change(change: EntryChange): void {
    applyEntryChange(this.entries, change);
    this.unsynced.push(change);
  }

  sync(): void {
    this.durable = new Map(this.entries);
    this.unsynced = [];
  }
}

function applyEntryChange(entries: Map<string, Inode>, change: EntryChange): void {
  if (change.type === 'put') entries.set(change.name, change.inode);
  else if (change.type === 'remove') entries.delete(change.name);
  else {
    entries.delete(change.from);
    entries.set(change.to, change.inode);
  }
}

interface InFlight {
  readonly queue: { freeAtMs: number };
  /** Does what the operation does, or some of it. */
  readonly land: () => void;
}

export class SimulatedDisk implements Disk {
  readonly #options: SimulatedDiskOptions;
  readonly #random: Random;
  #folders = new Map<string, Folder>();
  readonly #inFlight = new Set<InFlight>();
  readonly faults: Faults = { ...NO_FAULTS };
  /** Operations so far that change something. */
  operations = 0;
  /** The operation at which the process ends. */
  endAt = Number.POSITIVE_INFINITY;
  /** The process that used the disk has ended. */
  ended = false;
  /** Operations that failed, of whichever kind. */
  failures = 0;
  syncFailures = 0;
  longestLatencyMs = 0;

  constructor(options: SimulatedDiskOptions) {
    this.#options = options;
    this.#random = options.random;
  }

  /** What the next process finds, and whether anything that this one had written is missing. */
  after(end: End): { readonly disk: SimulatedDisk; readonly isLossless: boolean } {
    this.ended = true;
    this.#landSome();
    const next = new SimulatedDisk(this.#options);
    let isLossless = end === 'kill';
    const inodes = new Map<Inode, Inode>();
    const inodeAfter = (inode: Inode): Inode => {
      const known = inodes.get(inode);
      if (known !== undefined) return known;
      const after = new Inode(inode.name);
      inodes.set(inode, after);
      if (end === 'power') {
        after.content = afterPowerCut(inode.durable, inode.unsynced, this.#random);
        after.durable = after.content.copy();
        return after;
      }
      after.durable = inode.durable.copy();
      after.unsynced = inode.unsynced;
      after.content = inode.content.copy();
      after.isSuspect = inode.isSuspect;
      if (inode.isSuspect && this.#random.chance(0.5)) {
        // The pages of a failed sync are clean to the kernel, which may drop them.
        after.content = inode.durable.copy();
        for (const change of inode.unsynced) after.content.apply(change);
        after.isSuspect = false;
        if (!after.content.equals(inode.content)) isLossless = false;
      }
      return after;
    };
    for (const [path, folder] of this.#folders) {
      const after = new Folder();
      next.#folders.set(path, after);
      if (end === 'kill') {
        for (const [name, inode] of folder.entries) after.entries.set(name, inodeAfter(inode));
        for (const [name, inode] of folder.durable) after.durable.set(name, inodeAfter(inode));
        after.unsynced = folder.unsynced.map((change) =>
          change.type === 'remove' ? change : { ...change, inode: inodeAfter(change.inode) },
        );
        continue;
      }
      const entries = new Map(folder.durable);
      const kept = this.#random.pick([
        0,
        folder.unsynced.length,
        this.#random.below(folder.unsynced.length + 1),
      ]);
      for (const change of folder.unsynced.slice(0, kept)) applyEntryChange(entries, change);
      for (const [name, inode] of entries) {
        const found = inodeAfter(inode);
        found.name = name;
        after.entries.set(name, found);
      }
      after.durable = new Map(after.entries);
    }
    return { disk: next, isLossless };
  }

  /** The same files, all durable, on a disk that never fails and that another process uses. */
  copy(options: SimulatedDiskOptions): SimulatedDisk {
    const copy = new SimulatedDisk(options);
    for (const [path, { entries }] of this.#folders) {
      const folder = new Folder();
      copy.#folders.set(path, folder);
      for (const [name, inode] of entries) {
        const same = new Inode(name);
        same.content = inode.content.copy();
        same.durable = inode.content.copy();
        folder.entries.set(name, same);
      }
      folder.sync();
    }
    return copy;
  }

  /** The bytes of a file as processes see them. */
  contentOf(path: string): Buffer {
    return this.#inode(path).content.view();
  }

  /** Turns a bit of a file, on the disk itself. */
  damage(path: string): void {
    const inode = this.#inode(path);
    const bytes = Buffer.from(inode.content.view());
    const at = this.#random.below(bytes.length);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << this.#random.below(8)), at);
    inode.content.write(0, bytes);
    inode.durable = inode.content.copy();
    inode.unsynced = [];
  }

  list(directory: string): string[] {
    this.#mustLive();
    return [...this.#folder(directory).entries.keys()];
  }

  makeDirectory(directory: string): void {
    this.#mustLive();
    if (this.#folders.has(directory)) return;
    this.#operation(`make ${directory}`, () => this.#folders.set(directory, new Folder()));
  }

  open(path: string, mode: OpenMode): DiskFile {
    this.#mustLive();
    const folder = this.#folder(dirname(path));
    const name = basename(path);
    const found = folder.entries.get(name);
    if (mode !== 'create') {
      if (found === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      return new SimulatedFile(this, found, mode);
    }
    if (found !== undefined) throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' });
    const inode = new Inode(name);
    this.#operation(`create ${path}`, () => {
      this.#entryFault('create');
      folder.change({ type: 'put', name, inode });
    });
    return new SimulatedFile(this, inode, mode);
  }

  openAsync(path: string, mode: OpenMode): Promise<DiskFile> {
    const folder = this.#folder(dirname(path));
    return this.#later(
      folder,
      `open ${path}`,
      () => this.open(path, mode),
      () => {
        if (mode !== 'create' || folder.entries.has(basename(path))) return;
        folder.change({ type: 'put', name: basename(path), inode: new Inode(basename(path)) });
      },
    );
  }

  rename(from: string, to: string): void {
    this.#mustLive();
    this.#operation(`rename ${from} ${to}`, () => {
      this.#entryFault('rename');
      this.#rename(from, to);
    });
  }

  renameAsync(from: string, to: string): Promise<void> {
    const folder = this.#folder(dirname(from));
    return this.#later(
      folder,
      `rename ${from}`,
      () => this.rename(from, to),
      () => this.#rename(from, to),
    );
  }

  remove(path: string): void {
    this.#mustLive();
    this.#inode(path);
    this.#operation(`remove ${path}`, () =>
      this.#folder(dirname(path)).change({ type: 'remove', name: basename(path) }),
    );
  }

  syncDirectory(directory: string): void {
    this.#mustLive();
    const folder = this.#folder(directory);
    this.#operation(`sync folder ${directory}`, () => {
      this.#entryFault('sync of a folder');
      folder.sync();
    });
  }

  syncDirectoryAsync(directory: string): Promise<void> {
    const folder = this.#folder(directory);
    return this.#later(
      folder,
      `sync folder ${directory}`,
      () => this.syncDirectory(directory),
      () => folder.sync(),
    );
  }

  // For the files.

  write(inode: Inode, bytes: Uint8Array, at: number): number {
    this.#mustLive();
    const { from, to } = inode.room;
    if (at >= from && at + bytes.length <= to) return this.#writeToRoom(inode, bytes, at);
    let written = 0;
    this.#operation(
      `write ${inode.name} ${at} ${bytes.length}`,
      () => {
        written = this.#takenOf(bytes.length);
        if (this.#random.chance(this.faults.writeError)) {
          inode.change({
            type: 'write',
            at,
            bytes: Buffer.from(bytes.subarray(0, this.#random.below(written))),
          });
          throw this.#fault('EIO', 'write');
        }
        inode.change({ type: 'write', at, bytes: Buffer.from(bytes.subarray(0, written)) });
      },
      () => this.#writeSome(inode, bytes, at),
    );
    return written;
  }

  /** To memory: the disk has no part in it. */
  #writeToRoom(inode: Inode, bytes: Uint8Array, at: number): number {
    const from = this.#random.below(bytes.length + 1);
    const to = from + this.#random.below(bytes.length - from + 1);
    this.#operation(
      `write ${inode.name} ${at} ${bytes.length}, to room`,
      () => inode.change({ type: 'write', at, bytes: Buffer.from(bytes) }),
      () => inode.change({ type: 'write', at: at + from, bytes: Buffer.from(bytes.subarray(from, to)) }),
    );
    return bytes.length;
  }

  reserve(inode: Inode, position: number, bytes: number): number {
    this.#mustLive();
    if (!this.#options.hasRoom) return position;
    const to = position + bytes;
    const before = inode.content.length;
    const grow = (length: number) => {
      if (length > before) inode.change({ type: 'truncate', length });
    };
    const growSome = () => grow(before + this.#random.below(Math.max(1, to - before)));
    this.#operation(
      `reserve ${inode.name} ${position} ${bytes}`,
      () => {
        const { spaceBytes } = this.faults;
        const needed = Math.max(0, to - before);
        if (spaceBytes !== undefined && spaceBytes < needed) {
          growSome();
          throw this.#fault('ENOSPC', 'reserve');
        }
        if (this.#random.chance(this.faults.writeError)) {
          growSome();
          throw this.#fault('EIO', 'reserve');
        }
        if (spaceBytes !== undefined) this.faults.spaceBytes = spaceBytes - needed;
        grow(to);
        inode.room = { from: position, to };
      },
      growSome,
    );
    return to;
  }

  writeAsync(inode: Inode, bytes: Uint8Array, at: number): Promise<number> {
    const copy = Buffer.from(bytes);
    return this.#later(
      inode,
      `write ${inode.name}`,
      () => this.write(inode, copy, at),
      () => this.#writeSome(inode, copy, at),
    );
  }

  truncate(inode: Inode, length: number): void {
    this.#mustLive();
    this.#operation(`truncate ${inode.name} ${length}`, () => {
      if (this.#random.chance(this.faults.truncateError)) throw this.#fault('EIO', 'truncate');
      inode.change({ type: 'truncate', length });
    });
  }

  truncateAsync(inode: Inode, length: number): Promise<void> {
    const land = () => inode.change({ type: 'truncate', length });
    return this.#later(inode, `truncate ${inode.name}`, () => this.truncate(inode, length), land);
  }

  sync(inode: Inode): void {
    this.#mustLive();
    const succeeded = this.#options.onSync(inode.name);
    this.#sync(inode);
    succeeded();
  }

  syncAsync(inode: Inode): Promise<void> {
    const succeeded = this.#options.onSync(inode.name);
    return this.#later(
      inode,
      `sync ${inode.name}`,
      () => {
        this.#sync(inode);
        succeeded();
      },
      () => inode.sync(),
    );
  }

  #sync(inode: Inode): void {
    this.#operation(`sync ${inode.name}`, () => {
      if (this.#random.chance(this.faults.syncError)) {
        inode.failSync(this.#random);
        this.syncFailures += 1;
        throw this.#fault('EIO', 'sync');
      }
      inode.sync();
    });
  }

  #rename(from: string, to: string): void {
    const inode = this.#inode(from);
    inode.name = basename(to);
    this.#folder(dirname(from)).change({ type: 'rename', from: basename(from), to: basename(to), inode });
  }

  /** Bytes that are taken of so many, at least one: a filling disk first takes fewer. */
  #takenOf(length: number): number {
    const { spaceBytes } = this.faults;
    if (spaceBytes === undefined) return length;
    if (spaceBytes === 0) throw this.#fault('ENOSPC', 'write');
    const taken = Math.min(length, spaceBytes);
    this.faults.spaceBytes = spaceBytes - taken;
    return taken;
  }

  #writeSome(inode: Inode, bytes: Uint8Array, at: number): void {
    const some = bytes.subarray(0, this.#random.below(bytes.length + 1));
    inode.change({ type: 'write', at, bytes: Buffer.from(some) });
  }

  #entryFault(operation: string): void {
    if (this.faults.spaceBytes === 0 && operation === 'create' && this.#random.chance(0.5)) {
      throw this.#fault('ENOSPC', operation);
    }
    if (this.#random.chance(this.faults.entryError)) throw this.#fault('EIO', operation);
  }

  #fault(code: string, operation: string): DiskFault {
    this.failures += 1;
    this.#options.onOperation(`${code} on ${operation}`);
    return new DiskFault(code, operation);
  }

  /** Counts an operation and does it; or ends the process at it, before, after, or in the middle. */
  #operation(text: string, effect: () => void, halfEffect: () => void = effect): void {
    this.operations += 1;
    this.#options.onOperation(text);
    if (this.operations < this.endAt) return effect();
    try {
      this.#random.pick([() => {}, effect, halfEffect])();
    } catch {
      // It has failed, and nobody is told any more.
    }
    this.ended = true;
    throw new ProcessEnded();
  }

  /** Does something later; `land` is what may be done of it where the process ends before that. */
  #later<T>(queue: { freeAtMs: number }, text: string, act: () => T, land: () => void): Promise<T> {
    this.#mustLive();
    const { scheduler, latencyMs, onOperation } = this.#options;
    const latency = latencyMs();
    this.longestLatencyMs = Math.max(this.longestLatencyMs, latency);
    onOperation(`begin ${text}`);
    const inFlight = { queue, land };
    this.#inFlight.add(inFlight);
    queue.freeAtMs = Math.max(queue.freeAtMs, scheduler.nowMs + latency);
    return new Promise((resolve, reject) => {
      scheduler.after(queue.freeAtMs - scheduler.nowMs, () => {
        if (this.ended) return;
        this.#inFlight.delete(inFlight);
        try {
          resolve(act());
        } catch (error) {
          if (!(error instanceof ProcessEnded)) reject(error);
        }
      });
    });
  }

  /** What the kernel had been asked for and still does, of each file up to some point. */
  #landSome(): void {
    const stuck = new Set<object>();
    for (const { queue, land } of this.#inFlight) {
      if (stuck.has(queue)) continue;
      if (this.#random.chance(0.5)) land();
      else stuck.add(queue);
    }
    this.#inFlight.clear();
  }

  #mustLive(): void {
    if (this.ended) throw new ProcessEnded();
  }

  #folder(directory: string): Folder {
    const folder = this.#folders.get(directory);
    if (folder === undefined) throw Object.assign(new Error(`ENOENT: ${directory}`), { code: 'ENOENT' });
    return folder;
  }

  #inode(path: string): Inode {
    const inode = this.#folder(dirname(path)).entries.get(basename(path));
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return inode;
  }
}

class SimulatedFile implements DiskFile {
  readonly #disk: SimulatedDisk;
  readonly #inode: Inode;
  readonly #isWritable: boolean;
  #isClosed = false;
  #underWay = 0;

  constructor(disk: SimulatedDisk, inode: Inode, mode: OpenMode) {
    this.#disk = disk;
    this.#inode = inode;
    this.#isWritable = mode !== 'read';
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): number {
    const content = this.#opened().content.view();
    if (this.#disk.ended) throw new ProcessEnded();
    const part = content.subarray(position, Math.max(position, Math.min(content.length, position + length)));
    buffer.set(part, offset);
    return part.length;
  }

  write(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.#disk.write(this.#forWriting(), buffer.subarray(offset, offset + length), position);
  }

  writeAsync(buffer: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    const bytes = buffer.subarray(offset, offset + length);
    return this.#during(this.#disk.writeAsync(this.#forWriting(), bytes, position));
  }

  reserve(position: number, bytes: number): number {
    return this.#disk.reserve(this.#forWriting(), position, bytes);
  }

  truncate(lengthBytes: number): void {
    this.#disk.truncate(this.#forWriting(), lengthBytes);
  }

  truncateAsync(lengthBytes: number): Promise<void> {
    return this.#during(this.#disk.truncateAsync(this.#forWriting(), lengthBytes));
  }

  sizeBytes(): number {
    return this.#opened().content.length;
  }

  sync(): void {
    this.#disk.sync(this.#opened());
  }

  syncAsync(): Promise<void> {
    return this.#during(this.#disk.syncAsync(this.#opened()));
  }

  close(): void {
    if (this.#disk.ended) return;
    if (this.#isClosed) throw new Error(`${this.#inode.name} is closed twice`);
    // The number of the descriptor may be another file's before the operation gets to it.
    if (this.#underWay > 0) throw new Error(`${this.#inode.name} is closed while it is being used`);
    this.#isClosed = true;
    if (this.#isWritable) this.#inode.room = { from: 0, to: 0 };
  }

  #during<T>(operation: Promise<T>): Promise<T> {
    this.#underWay += 1;
    const over = () => {
      this.#underWay -= 1;
    };
    operation.then(over, over);
    return operation;
  }

  #forWriting(): Inode {
    if (!this.#isWritable) throw new Error(`${this.#inode.name} was opened for reading`);
    return this.#opened();
  }

  #opened(): Inode {
    if (this.#isClosed) throw new Error(`${this.#inode.name} is used after it was closed`);
    return this.#inode;
  }
}
