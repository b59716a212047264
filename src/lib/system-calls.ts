/** Calls of Linux that Node does not make, over koffi; where it does not load, there are none. */
import { createRequire } from 'node:module';
import type { LibraryHandle } from 'koffi';

/** Where the numbers that the calls take are the same. */
const ARCHITECTURES: ReadonlySet<string> = new Set(['x64', 'arm64']);

/** Of these architectures: what begins at a multiple of it begins with a page. */
export const LARGEST_PAGE_BYTES = 64 * 1024;

const MADV_DONTNEED = 4;
const MADV_HUGEPAGE = 14;

export interface SystemCalls {
  /** An address as a number of 64 bits; -1 where it failed. */
  mmap(
    address: bigint,
    length: number,
    protection: number,
    flags: number,
    fd: number,
    offset: number,
  ): bigint;
  munmap(address: bigint, length: number): void;
  /** madvise(2): what the pages held, but for a file's, is zeros from then on. */
  giveBackPages(address: bigint, length: number): void;
  /** madvise(2): the kernel may put huge pages there; where it has none to give, it is as it was. */
  askForHugePages(address: bigint, length: number): void;
  /** 0, or -1 where it failed. */
  fallocate(fd: number, offset: number, length: number): number;
  /**
   * malloc_trim(3), on another thread, though others wait for a heap while it is gone through; undefined where the C library
   * is not glibc. It may reject.
   */
  readonly trimHeaps: (() => Promise<void>) | undefined;
  memoryAt(address: bigint, length: number): Uint8Array;
  addressOf(memory: Uint8Array): bigint;
  /** What the last call failed with. */
  lastError(): string;
}

let found: { readonly calls: SystemCalls | undefined } | undefined;

/** Loaded where they are first asked for, which most commands never do; undefined where they cannot be made. */
export function systemCalls(): SystemCalls | undefined {
  found ??= { calls: load() };
  return found.calls;
}

function load(): SystemCalls | undefined {
  if (process.platform !== 'linux' || !ARCHITECTURES.has(process.arch)) return undefined;
  try {
    const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
    const program = koffi.load(null);
    const mmap = program.func('intptr_t mmap(intptr_t, size_t, int, int, int, int64_t)');
    const munmap = program.func('int munmap(intptr_t, size_t)');
    const madvise = program.func('int madvise(intptr_t, size_t, int)');
    const fallocate = program.func('int fallocate(int, int, int64_t, int64_t)');
    return {
      mmap: (...call) => BigInt(mmap(...call)),
      munmap: (address, length) => munmap(address, length),
      giveBackPages: (address, length) => madvise(address, length, MADV_DONTNEED),
      askForHugePages: (address, length) => madvise(address, length, MADV_HUGEPAGE),
      fallocate: (fd, offset, length) => fallocate(fd, 0, offset, length),
      trimHeaps: trimOf(program),
      addressOf: (memory) => koffi.address(memory),
      memoryAt: (address, length) => new Uint8Array(koffi.view(address, length)),
      lastError: () => String(koffi.errno()),
    };
  } catch {
    return undefined;
  }
}

function trimOf(program: LibraryHandle): SystemCalls['trimHeaps'] {
  try {
    const trim = program.func('int malloc_trim(size_t)');
    return () =>
      new Promise((done, failed) => {
        trim.async(0, (error: unknown) => (error ? failed(error) : done()));
      });
  } catch {
    return undefined;
  }
}
