/**
 * What an event that comes in needs of its agent's history, in a row of 64 bytes, one history's behind the other's. The
 * number of an agent is that of its row.
 *
 *   word  what
 *   0     u32 the block that grows, 0 where there is none; u32 free
 *   1     f64 entries ever appended
 *   2 …   whoever's history it is: commands/agents.ts
 */
import type { AgentNumber } from '../domain/ids.ts';
import type { BlockEntry, HistoryBlocks } from './history-blocks.ts';
import { Rows } from './rows.ts';

const ROW_BYTES = 64;

/** Of a row, in halves of words … */
const GROWING = 0;
/** … and in words. */
const APPENDED = 1;
/** From here to the end of a row is whatever else there is to know of whoever's history it is. */
export const FIRST_FREE_WORD = 2;

export class HistoryRows extends Rows<AgentNumber> {
  readonly blocks: HistoryBlocks;

  constructor(blocks: HistoryBlocks) {
    super(ROW_BYTES);
    this.blocks = blocks;
  }

  /** Appends what the block that grows has room for; false where there is none, or it has not. */
  append(row: AgentNumber, entry: BlockEntry): boolean {
    const { words, halves } = this.spanOf(row);
    const at = this.wordOf(row);
    const block = halves[2 * at + GROWING] ?? 0;
    if (block === 0 || !this.blocks.append(block, entry)) return false;
    words[at + APPENDED] = (words[at + APPENDED] ?? 0) + 1;
    return true;
  }

  /** 0 where there is none. */
  growing(row: AgentNumber): number {
    return this.half(row, GROWING);
  }

  setGrowing(row: AgentNumber, block: number): void {
    this.setHalf(row, GROWING, block);
  }

  appended(row: AgentNumber): number {
    return this.get(row, APPENDED);
  }
}
