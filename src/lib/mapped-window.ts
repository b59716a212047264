/**
 * Writing to a file without a system call: a stretch of it lies in memory (mmap(2)), and what is copied there is where
 * write(2) would have put it. It survives the death of the process, other programs read it at once, and fdatasync(2)
 * makes it durable. A write(2) of 300 bytes was 1.9 µs of the 13 of an ingest; this is 0.1.
 *
 * A store to a page for which the disk has no room would end the process (SIGBUS). So the room is there before the
 * stretch is: fallocate(2), and only on file systems that keep what it promises. Others are written with system calls,
 * as they are where the library that makes these calls does not load.
 */
import { statfsSync, writeSync } from 'node:fs';
import { LARGEST_PAGE_BYTES, type SystemCalls, systemCalls } from './system-calls.ts';

/** By statfs(2): ext4, XFS, tmpfs. Not those that write elsewhere than they have reserved, as btrfs and ZFS do. */
const FILE_SYSTEMS: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x01021994]);

/**
 * Zeros are written so many at a time, at the most, before the window is stored to: what was written together lies
 * together in the page cache and is mapped by one fault (Linux 6.16, ext4; XFS before), not one for each 4 KiB, which
 * was 0.2 µs of an ingest, five times what this takes. Where each page has its own fault all the same, tmpfs for one,
 * it costs 0.02 µs.
 *
 * But what lies together is also written to the disk together, whichever page of it was stored to. So it is no more
 * than has been stored since the last sync: of twenty events a second, synced each, one had 43 KB written for it.
 */
const ZEROS = Buffer.alloc(128 * 1024);
const LEAST_ZEROS = 4096;

const PROT_NONE = 0;
const PROT_READ_WRITE = 3;
const MAP_SHARED = 0x01;
const MAP_PRIVATE = 0x02;
const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;

export class MappedWindow {
  readonly #calls: SystemCalls;
  readonly #fd: number;
  readonly #address: bigint;
  readonly #memory: Uint8Array;
  /** What of the file may be written here: nothing where both are the same. */
  #from = 0;
  #to = 0;
  /** Nothing but zeros has been written from here on. */
  #untouched = 0;
  /** Another stretch could not be put in its place: what lies there by now may be another's. */
  #isLost = false;
  /** Bytes stored since the last sync of the file began. */
  #unsynced = 0;

  private constructor(calls: SystemCalls, fd: number, address: bigint, bytes: number) {
    this.#calls = calls;
    this.#fd = fd;
    this.#address = address;
    this.#memory = calls.memoryAt(address, bytes);
  }

  /** A window on a file, on nothing of it yet; undefined where there cannot be one. */
  static over(fd: number, bytes: number): MappedWindow | undefined {
    const calls = systemCalls();
    if (calls === undefined || !FILE_SYSTEMS.has(statfsSync(`/proc/self/fd/${fd}`).type)) return undefined;
    // Addresses that stay the same while the stretch of the file behind them changes.
    const length = bytes + LARGEST_PAGE_BYTES;
    const address = calls.mmap(0n, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return address === -1n ? undefined : new MappedWindow(calls, fd, address, length);
  }

  /**
   * Moves to where a position is at its beginning, and makes the file as long as the window is; answers where it ends.
   * What the file holds behind the position is given up: it may be written over by zeros.
   *
   * @throws Error where there is no room; the file may be longer than it was, by zeros
   */
  moveTo(position: number): number {
    const from = position - (position % LARGEST_PAGE_BYTES);
    const length = this.#memory.length;
    this.shut();
    if (this.#isLost) throw new Error('the memory for it is gone');
    if (this.#calls.fallocate(this.#fd, from, length) !== 0) throw this.#failure('fallocate');
    const flags = MAP_SHARED | MAP_FIXED;
    const address = this.#calls.mmap(this.#address, length, PROT_READ_WRITE, flags, this.#fd, from);
    this.#isLost = address !== this.#address;
    if (this.#isLost) throw this.#failure('mmap');
    this.#from = from;
    this.#to = from + length;
    this.#untouched = position;
    return this.#to;
  }

  /** Writes bytes from an offset on at a position of the file; answers false where the window is not there. */
  write(bytes: Buffer, offset: number, length: number, position: number): boolean {
    const end = position + length;
    if (position < this.#from || end > this.#to) return false;
    if (end > this.#untouched) this.#touch(end);
    this.#unsynced += length;
    bytes.copy(this.#memory, position - this.#from, offset, offset + length);
    return true;
  }

  /**
   * To be called before the file is synced. The sync would take the pages that were stored to back from the process one
   * by one, and interrupt the other processor for each 4 KiB (0.5 µs of an ingest); here they are all given back at once.
   * What they hold is the file's and stays.
   */
  syncing(): void {
    const isStored = this.#unsynced > 0;
    this.#unsynced = 0;
    if (isStored && !this.#isLost) this.#calls.giveBackPages(this.#address, this.#memory.length);
  }

  /** To be called before what is not touched yet is stored to, up to `end`. */
  #touch(end: number): void {
    const stored = 2 ** (31 - Math.clz32(this.#unsynced | LEAST_ZEROS));
    const stretch = Math.min(ZEROS.length, stored);
    while (this.#untouched < end) {
      const position = this.#untouched;
      const length = Math.min(stretch - (position % stretch), this.#to - position);
      this.#untouched = position + length;
      try {
        writeSync(this.#fd, ZEROS, 0, length, position);
      } catch {
        // The room is there, and the stores that follow only cost more.
      }
    }
  }

  /** To be called before the file is cut: nothing is written here until the window is moved. */
  shut(): void {
    this.#from = 0;
    this.#to = 0;
  }

  /** Gives the memory back; nothing may be called afterwards. */
  close(): void {
    this.shut();
    if (!this.#isLost) this.#calls.munmap(this.#address, this.#memory.length);
  }

  #failure(call: string): Error {
    return new Error(`${call}: ${this.#calls.lastError()}`);
  }
}
