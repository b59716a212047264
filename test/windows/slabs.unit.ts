import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detachableMemory, returnableMemory } from '../../src/lib/returnable-memory.ts';
import { Slabs } from '../../src/windows/slabs.ts';

const SPAN_BYTES = 64 * 1024;
/** A slab's first span stands for none. */
const PER_SLAB = (33 * 1024) / 64 - 1;
/** In the first three slabs, which are smaller. */
const IN_FIRST_SLABS = 4 + 32 + 128 - 3;

function take(slabs: Slabs, count: number): number[] {
  return Array.from({ length: count }, () => slabs.take());
}

describe.each([
  ['that is returned and used again', returnableMemory],
  ['that is returned by detaching it', detachableMemory],
])('spans of memory %s', (_, allocate) => {
  it('have numbers of their own, and none is 0', () => {
    const spans = take(new Slabs(SPAN_BYTES, allocate), IN_FIRST_SLABS + 3 * PER_SLAB);
    expect(new Set(spans).size).toBe(IN_FIRST_SLABS + 3 * PER_SLAB);
    expect(spans).not.toContain(0);
  });

  it('keep what was written, whatever the others hold', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    const spans = take(slabs, IN_FIRST_SLABS + PER_SLAB + 100);
    const bytesOf = (span: number) =>
      slabs.spanOf(span).bytes.subarray(slabs.startOf(span), slabs.startOf(span) + SPAN_BYTES);
    for (const span of spans) bytesOf(span).fill(span % 251);
    for (const span of spans) {
      const bytes = bytesOf(span);
      expect(bytes.length).toBe(SPAN_BYTES);
      expect([bytes[0], bytes[SPAN_BYTES - 1]]).toEqual([span % 251, span % 251]);
    }
  });

  it('are used again before new memory is taken', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    let spans = take(slabs, PER_SLAB);
    const { slabCount } = slabs;
    for (let round = 0; round < 20; round += 1) {
      for (const span of spans.slice(round)) slabs.give(span);
      spans = [...spans.slice(0, round), ...take(slabs, PER_SLAB - round)];
      expect(new Set(spans).size).toBe(PER_SLAB);
      expect(slabs.slabCount).toBe(slabCount);
    }
  });

  it('give their memory back to the system when a slab holds none any more', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    const spans = take(slabs, 5 * PER_SLAB);
    const [kept = 0, ...others] = spans;
    const last = spans.at(-1) ?? 0;
    const { bytes } = slabs.spanOf(last);
    const at = slabs.startOf(last);
    bytes[at] = 7;
    for (const span of others) slabs.give(span);
    expect(slabs.slabCount).toBe(1);
    expect(() => slabs.spanOf(last)).toThrow('given back');
    // Zeros, or detached.
    expect(bytes[at] ?? 0).toBe(0);
    if (allocate === detachableMemory) expect(bytes.buffer.byteLength).toBe(0);
    // The first is small, and stays.
    slabs.give(kept);
    expect(slabs.slabCount).toBe(1);
    expect(slabs.take()).toBeGreaterThan(0);
  });

  it('are taken of memory that was given back as of new', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    for (let round = 0; round < 3; round += 1) {
      const spans = take(slabs, 3 * PER_SLAB);
      expect(new Set(spans).size).toBe(3 * PER_SLAB);
      const { bytes } = slabs.spanOf(spans.at(-1) ?? 0);
      bytes.fill(round + 1);
      for (const span of spans) slabs.give(span);
      expect(slabs.slabCount).toBe(1);
    }
  });

  it('come first from the slabs before, so that the later ones run empty', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    const spans = take(slabs, 3 * PER_SLAB);
    const first = spans.slice(0, 5);
    for (const span of [...spans.slice(-5), ...first]) slabs.give(span);
    expect(take(slabs, 5).toSorted()).toEqual(first.toSorted());
  });

  it('stay where little was ever used: a server at rest does not map and free for every event', () => {
    const slabs = new Slabs(SPAN_BYTES, allocate);
    for (let round = 0; round < 100; round += 1) slabs.give(slabs.take());
    expect(slabs.slabCount).toBe(1);
  });
});

it('a slab that comes again has the memory that was given back', () => {
  let allocated = 0;
  const slabs = new Slabs(SPAN_BYTES, (bytes) => {
    allocated += 1;
    return { buffer: new ArrayBuffer(bytes), giveBack: () => true };
  });
  for (let round = 0; round < 3; round += 1) {
    const spans = take(slabs, IN_FIRST_SLABS + 2 * PER_SLAB);
    expect(allocated).toBe(5);
    for (const span of spans) slabs.give(span);
  }
});

/** Kernels built without them have no such directory. */
const HAS_HUGE_PAGES = existsSync('/sys/kernel/mm/transparent_hugepage');

it.skipIf(!HAS_HUGE_PAGES)('memory of large slabs may lie in huge pages, and that of small ones not', () => {
  const large = 33 * 2 ** 20;
  const kept = [returnableMemory(2 ** 23)];
  const before = advisedBytes();
  for (let i = 0; i < 3; i += 1) kept.push(returnableMemory(large));
  const advised = advisedBytes() - before;
  // Whole huge pages of each, so up to two of them less.
  expect(advised).toBeGreaterThanOrEqual(3 * (large - 2 * 2 ** 21));
  expect(advised).toBeLessThanOrEqual(3 * large);
  kept.push(returnableMemory(2 ** 23));
  expect(advisedBytes() - before).toBe(advised);
  expect(kept.length).toBe(5);
});

/** Of this process, memory for which madvise(2) was told of huge pages. */
function advisedBytes(): number {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const advised = mappings.filter((mapping) => /^VmFlags:.* hg\b/m.test(mapping));
  return advised.reduce((sum, mapping) => sum + Number(/^Size: +(\d+) kB/m.exec(mapping)?.[1]) * 1024, 0);
}
