/**
 * Large memory beside the heap whose pages go back to the system at once when nobody needs what is in it, without a
 * garbage collection, which a process at rest may not see for hours.
 *
 * It is shared memory where madvise(2) can be called, though no other thread is shown it: V8 counts all other by its
 * length, mapped or resident, and collects garbage for it. Where a million events came in and expired that was 22 full
 * collections of 10 to 16 ms, and is 5.
 *
 * What is large lies in huge pages where the kernel has them: of memory touched for the first time, 4 KiB took 2 to 4 µs,
 * and as part of a huge page 0.6; an ingest to one of 100 000 services took 7.7 µs, and 6.8 with them. Small memory
 * keeps small pages, or a server with little to do would hold 2 MiB for each kind of it. (In a virtual machine whose host
 * takes free memory back, 4 KiB that it has to give again took 11 µs either way: 5 ms at once for a huge page.)
 */
import { LARGEST_PAGE_BYTES, type SystemCalls, systemCalls } from './system-calls.ts';

/** Of x86-64, and of arm64 with pages of 4 KiB. */
const HUGE_PAGE_BYTES = 2 * 2 ** 20;
const LEAST_BYTES_FOR_HUGE_PAGES = 16 * HUGE_PAGE_BYTES;

export interface ReturnableMemory {
  readonly buffer: ArrayBufferLike;
  /** Gives its pages back. True where it can be used again, and holds zeros or what it held; else it is gone. */
  giveBack(): boolean;
}

export function returnableMemory(bytes: number): ReturnableMemory {
  const calls = systemCalls();
  return calls === undefined ? detachableMemory(bytes) : sharedMemory(bytes, calls);
}

/** Where there are no such calls. */
export function detachableMemory(bytes: number): ReturnableMemory {
  const buffer = new ArrayBuffer(bytes);
  const giveBack = () => {
    buffer.transfer(0);
    return false;
  };
  return { buffer, giveBack };
}

function sharedMemory(bytes: number, calls: SystemCalls): ReturnableMemory {
  const buffer = new SharedArrayBuffer(bytes);
  if (bytes >= LEAST_BYTES_FOR_HUGE_PAGES) {
    const { address, length } = wholePages(buffer, HUGE_PAGE_BYTES, calls);
    calls.askForHugePages(address, length);
  }
  const giveBack = () => {
    const { address, length } = wholePages(buffer, LARGEST_PAGE_BYTES, calls);
    if (length > 0) calls.giveBackPages(address, length);
    return true;
  };
  return { buffer, giveBack };
}

/** The pages of this size that lie in it from their first byte to their last. */
function wholePages(buffer: SharedArrayBuffer, pageBytes: number, calls: SystemCalls) {
  const start = calls.addressOf(new Uint8Array(buffer));
  const size = BigInt(pageBytes);
  const address = ((start + size - 1n) / size) * size;
  const end = ((start + BigInt(buffer.byteLength)) / size) * size;
  return { address, length: Math.max(0, Number(end - address)) };
}
