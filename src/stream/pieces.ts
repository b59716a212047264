/** Messages put together to what goes out in one write each. */
import type { Piece } from './reader.ts';
import type { ResumePoint } from './resume-point.ts';

/** Of text: so much may wait for a reader that has stopped reading, beside what the kernel holds. */
const PIECE_LENGTH = 32 * 1024;

export class Pieces {
  #pieces: Piece[] = [];
  #text = '';
  #after: ResumePoint = { sequence: 0, taken: 0 };

  add(text: string, after: ResumePoint): void {
    this.#text += text;
    this.#after = after;
    if (this.#text.length >= PIECE_LENGTH) this.#cut();
  }

  /** All that was added since the last time. */
  take(): readonly Piece[] {
    this.#cut();
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #cut(): void {
    if (this.#text === '') return;
    this.#pieces.push({ bytes: Buffer.from(this.#text), after: this.#after });
    this.#text = '';
  }
}
