/**
 * Whether anything stands behind a request in the memory that it was received in, which uWebSockets.js does not tell: a
 * request that follows on the same connection before the answer (HTTP pipelining).
 *
 * It reads what the kernel has of a connection into one buffer, and hands out a body as a piece of that. Behind the last
 * byte received its parser puts a carriage return and an `a`, so that it finds an end, in 32 bytes that are there for
 * this; where more was received, there the next request begins, with a letter. So those two bytes, which are not part of
 * the body, say it. Whatever else is there, such as what an earlier request left, is taken for a request that follows.
 *
 * (uWebSockets.js 20.51: HttpParser.h, `fenceAndConsumePostPadded`. `test/http/held-answers.e2e.ts` fails where another
 * version does otherwise.)
 */
import type { SystemCalls } from '../lib/system-calls.ts';

const CARRIAGE_RETURN = 0x0d;
const LETTER_A = 0x61;
/** The buffer is half as long. */
const REACH_BYTES = 2 ** 20;

export class ReceiveBuffer {
  readonly #calls: SystemCalls | undefined;
  /** Around where the first body was; read nowhere but right behind bodies. */
  #memory: Uint8Array = new Uint8Array();
  #start = 0;
  #isFollowed = false;

  /** @param calls undefined where there are none: then nothing is known of any body */
  constructor(calls: SystemCalls | undefined) {
    this.#calls = calls;
  }

  /**
   * Whether a request was received by itself: none behind it, and none before, as far as it was asked about that one. To be
   * asked while the body is lent.
   */
  holdsAlone(body: Uint8Array): boolean {
    const follows = this.#isFollowed;
    this.#isFollowed = !this.#endsWith(body);
    return !follows && !this.#isFollowed;
  }

  #endsWith(body: Uint8Array): boolean {
    if (this.#calls === undefined || body.length === 0) return false;
    const behind = Number(this.#calls.addressOf(body)) + body.length;
    if (this.#memory.length === 0) {
      this.#start = behind - REACH_BYTES;
      this.#memory = this.#calls.memoryAt(BigInt(this.#start), 2 * REACH_BYTES);
    }
    const at = behind - this.#start;
    return this.#memory[at] === CARRIAGE_RETURN && this.#memory[at + 1] === LETTER_A;
  }
}
