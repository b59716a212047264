/**
 * Which names the blocks of a history use: in how many each is, of those to which nothing is added any more and which
 * nothing has left. Counted by the block and not by the entry, for of 50 000 agents the counts are in no cache.
 */
import type { HistoryBlocks } from './history-blocks.ts';
import { NumberCounts } from './number-counts.ts';

export type NameKind = 'service' | 'vendor';

/** A block and the first of its entries that is looked at. */
export interface Part {
  readonly block: number;
  readonly first: number;
}

export class NamesUsed {
  readonly #memory: HistoryBlocks;
  /** Twice the number of a service, and one more than that of a vendor. */
  #counts: NumberCounts | undefined;

  constructor(memory: HistoryBlocks) {
    this.#memory = memory;
  }

  /** Nothing is added any more to a block that nothing has left. */
  add(block: number): void {
    this.#counts ??= new NumberCounts();
    for (const use of this.#usesIn({ block, first: 0 })) this.#counts.add(use);
  }

  /** A block that was added is about to lose its first entry. */
  remove(block: number): void {
    for (const use of this.#usesIn({ block, first: 0 })) this.#counts?.remove(use);
  }

  /** Whether a service is in any of those that were added. */
  hasService(number: number): boolean {
    return this.#counts?.has(2 * number) === true;
  }

  /** The names of those that were added, and of others beside them. */
  numbers(kind: NameKind, others: readonly Part[]): number[] {
    const uses = new Set(this.#counts?.numbers());
    for (const part of others) for (const use of this.#usesIn(part)) uses.add(use);
    const odd = kind === 'vendor' ? 1 : 0;
    return [...uses].filter((use) => use % 2 === odd).map((use) => (use - odd) / 2);
  }

  /** Each once. */
  #usesIn({ block, first }: Part): number[] {
    const uses: number[] = [];
    for (let at = this.#memory.count(block) - 1; at >= first; at -= 1) {
      const service = 2 * this.#memory.service(block, at);
      const vendor = 2 * this.#memory.vendor(block, at) + 1;
      if (!uses.includes(service)) uses.push(service);
      if (!uses.includes(vendor)) uses.push(vendor);
    }
    return uses;
  }
}
