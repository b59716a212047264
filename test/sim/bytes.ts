/** What a file holds, and what becomes of it when only some of what was written to it reached the disk. */
import type { Random } from './random.ts';

/** The disk writes these whole or not at all. */
export const SECTOR_BYTES = 512;

export type Change =
  | { readonly type: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly type: 'truncate'; readonly length: number };

/** Bytes that can grow and be cut; what lies between them and a write beyond their end is zeros. */
export class Bytes {
  #data = Buffer.alloc(0);
  length = 0;

  copy(): Bytes {
    const copy = new Bytes();
    copy.#data = Buffer.from(this.#data.subarray(0, this.length));
    copy.length = this.length;
    return copy;
  }

  equals(other: Bytes): boolean {
    return this.view().equals(other.view());
  }

  view(): Buffer {
    return this.#data.subarray(0, this.length);
  }

  apply(change: Change): void {
    if (change.type === 'write') this.write(change.at, change.bytes);
    else this.resize(change.length);
  }

  write(at: number, bytes: Uint8Array): void {
    if (at + bytes.length > this.length) this.resize(at + bytes.length);
    this.#data.set(bytes, at);
  }

  resize(length: number): void {
    if (length > this.#data.length) {
      const grown = Buffer.alloc(Math.max(2 * this.#data.length, length, 256));
      grown.set(this.view());
      this.#data = grown;
    } else if (length < this.length) this.#data.fill(0, length, this.length);
    this.length = length;
  }
}

/**
 * What is on the disk after a power cut: what was durable, and of the changes since, by sector, some. A sector
 * holds what it held after any one of the changes, whatever the sectors beside it hold; so does the length.
 */
export function afterPowerCut(durable: Bytes, changes: readonly Change[], random: Random): Bytes {
  const bytes = durable.copy();
  if (changes.length === 0) return bytes;
  switch (random.weighted({ nothing: 1, everything: 1, prefix: 2, sectors: 3 })) {
    case 'nothing':
      return bytes;
    case 'everything':
      for (const change of changes) bytes.apply(change);
      return bytes;
    case 'prefix':
      applyPrefix(bytes, changes, random);
      return bytes;
    case 'sectors':
      return mixSectors(durable, changes, random);
  }
}

/** The first changes, the last of them torn. */
function applyPrefix(bytes: Bytes, changes: readonly Change[], random: Random): void {
  const whole = random.below(changes.length + 1);
  for (const change of changes.slice(0, whole)) bytes.apply(change);
  const torn = changes[whole];
  if (torn?.type !== 'write') return;
  const firstBoundary = SECTOR_BYTES - (torn.at % SECTOR_BYTES);
  const boundaries = Math.ceil((torn.bytes.length - firstBoundary) / SECTOR_BYTES);
  if (boundaries <= 0) return;
  const length = firstBoundary + random.below(boundaries) * SECTOR_BYTES;
  bytes.write(torn.at, torn.bytes.subarray(0, length));
}

function mixSectors(durable: Bytes, changes: readonly Change[], random: Random): Bytes {
  const mixed = new Bytes();
  let length = durable.length;
  const lengthFrom = random.below(changes.length + 1);
  let chosenLength = length;
  for (const [index, change] of changes.entries()) {
    length = change.type === 'truncate' ? change.length : Math.max(length, change.at + change.bytes.length);
    if (index + 1 === lengthFrom) chosenLength = length;
  }
  mixed.resize(chosenLength);
  for (let start = 0; start < chosenLength; start += SECTOR_BYTES) {
    const end = Math.min(start + SECTOR_BYTES, chosenLength);
    const sector = Buffer.alloc(end - start);
    sector.set(durable.view().subarray(start, end));
    const upTo = random.below(changes.length + 1);
    for (const change of changes.slice(0, upTo)) applyToSector(sector, start, change);
    mixed.write(start, sector);
  }
  return mixed;
}

function applyToSector(sector: Buffer, start: number, change: Change): void {
  const end = start + sector.length;
  if (change.type === 'truncate') {
    if (change.length < end) sector.fill(0, Math.max(0, change.length - start));
    return;
  }
  const from = Math.max(start, change.at);
  const to = Math.min(end, change.at + change.bytes.length);
  if (from < to) sector.set(change.bytes.subarray(from - change.at, to - change.at), from - start);
}
