/** A file with room, as `nodeDisk` gives it, against a naive model: bytes that are there or not. */
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DiskFile, nodeDisk, writeFully } from '../../src/lib/disk.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const ROOM_BYTES = [4096, 100_000, 1024 * 1024];

type Step =
  | { readonly type: 'append'; readonly bytes: number }
  | { readonly type: 'reserve'; readonly bytes: number }
  | { readonly type: 'sync' }
  /** Takes back so many of the bytes that were written, and the room. */
  | { readonly type: 'cut'; readonly bytes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('append' as const),
      // Most are small, as events are; some are larger than what is made ready at once.
      bytes: fc.oneof(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 1, max: 400_000 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('reserve' as const), bytes: fc.constantFrom(...ROOM_BYTES) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('sync' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('cut' as const), bytes: fc.integer({ min: 0, max: 200_000 }) }),
  },
);

class Model {
  readonly bytes = Buffer.alloc(MAX_BYTES);
  length = 0;
  /** Where the last room ends. */
  #roomEnd = 0;
  #letter = 0;

  get fileBytes(): number {
    return Math.max(this.length, this.#roomEnd);
  }

  take(file: DiskFile, step: Step): void {
    if (step.type === 'sync') {
      file.sync();
      return;
    }
    const { type, bytes } = step;
    if (type === 'reserve') {
      this.#roomEnd = Math.max(this.#roomEnd, file.reserve(this.length, bytes));
    } else if (type === 'cut') {
      this.length -= Math.min(this.length, bytes);
      file.truncate(this.length);
      this.#roomEnd = this.length;
      this.bytes.fill(0, this.length);
    } else if (this.length + bytes <= MAX_BYTES) {
      this.#letter = (this.#letter % 255) + 1;
      this.bytes.fill(this.#letter, this.length, this.length + bytes);
      writeFully(file, this.bytes, this.length, this.length, this.length + bytes);
      this.length += bytes;
    }
  }
}

describe('a file with room', () => {
  it('holds what was written, by whatever way, and nothing but zeros behind it', () => {
    const directory = fs.mkdtempSync(join(tmpdir(), 'foreshock-room-'));
    const path = join(directory, 'file');
    try {
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
          const file = nodeDisk.open(path, 'create');
          try {
            const model = new Model();
            for (const each of steps) {
              model.take(file, each);
              const held = fs.readFileSync(path);
              expect(held.length).toBe(model.fileBytes);
              expect(held.subarray(0, model.length).equals(model.bytes.subarray(0, model.length))).toBe(true);
              expect(held.subarray(model.length).every((byte) => byte === 0)).toBe(true);
            }
          } finally {
            file.close();
            fs.unlinkSync(path);
          }
        }),
        { numRuns: 60 },
      );
    } finally {
      fs.rmSync(directory, { recursive: true });
    }
  }, 60_000);

  it('has little more written to the disk than was stored, where little is between two syncs', () => {
    const directory = fs.mkdtempSync(join(tmpdir(), 'foreshock-room-'));
    const file = nodeDisk.open(join(directory, 'file'), 'create');
    try {
      file.reserve(0, 1024 * 1024);
      const model = new Model();
      for (let n = 0; n < 2000; n += 1) model.take(file, { type: 'append', bytes: 250 });
      // Out of what much was stored to, which was made ready at once.
      for (let n = 0; n < 50; n += 1) {
        file.sync();
        model.take(file, { type: 'append', bytes: 5000 });
      }
      const before = writtenToDisk();
      for (let n = 0; n < 50; n += 1) {
        model.take(file, { type: 'append', bytes: 250 });
        file.sync();
      }
      expect(writtenToDisk() - before).toBeLessThan(2 * 1024 * 1024);
    } finally {
      file.close();
      fs.rmSync(directory, { recursive: true });
    }
  });
});

/** By this process, in bytes, whatever else runs in it; 0 where that is not told. */
function writtenToDisk(): number {
  if (!fs.existsSync('/proc/self/io')) return 0;
  return Number(/^write_bytes: (\d+)$/m.exec(fs.readFileSync('/proc/self/io', 'latin1'))?.[1]);
}
