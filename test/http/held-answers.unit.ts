/** Which answers wait for the end of a turn, and that all of them go out then. */
import { beforeEach, describe, expect, it } from 'vitest';
import { HeldAnswers } from '../../src/http/held-answers.ts';

const BODY = new Uint8Array(1);

/** An event loop that is turned by hand, and connections that say what the test wants. */
class Turns {
  readonly connections = { open: 64 };
  /** Of the bodies to come: nothing was received with them. */
  areAlone = true;
  /** Answers that were held and have gone out, in that order. */
  readonly released: number[] = [];
  readonly #soon: (() => void)[] = [];
  readonly #held = new HeldAnswers(
    { after: () => () => {}, soon: (task) => this.#soon.push(task) },
    this.connections,
    { holdsAlone: () => this.areAlone },
  );
  #answers = 0;

  /** So many answers; the numbers of those that are held. */
  answer(count: number): number[] {
    const held: number[] = [];
    for (let n = 0; n < count; n += 1) {
      this.#answers += 1;
      const number = this.#answers;
      if (this.#held.hold({ release: () => this.released.push(number) }, BODY)) held.push(number);
    }
    return held;
  }

  end(): void {
    for (const task of this.#soon.splice(0)) task();
  }

  close(): void {
    this.#held.release();
  }
}

let turns: Turns;

beforeEach(() => {
  turns = new Turns();
});

/** Turns in which many requests come, until it has been seen that they do. */
function makeBusy(): void {
  for (let turn = 0; turn < 4; turn += 1) {
    turns.answer(32);
    turns.end();
  }
  turns.released.length = 0;
}

describe('an answer', () => {
  it('goes out at once where few come in a turn', () => {
    for (let turn = 0; turn < 1000; turn += 1) {
      expect(turns.answer(3)).toEqual([]);
      turns.end();
    }
  });

  it('waits for the end of the turn where many come in one, and goes out once, in order', () => {
    makeBusy();
    for (let turn = 0; turn < 5; turn += 1) {
      const held = turns.answer(32);
      expect(held.length).toBe(32);
      expect(turns.released).toEqual([]);
      turns.end();
      expect(turns.released.splice(0)).toEqual(held);
      turns.end();
      expect(turns.released).toEqual([]);
    }
  });

  it('goes out at once again when turns bring few', () => {
    makeBusy();
    expect(turns.answer(3).length).toBe(3);
    turns.end();
    expect(turns.answer(3)).toEqual([]);
  });

  it('goes out at once where another request was received with it', () => {
    makeBusy();
    turns.areAlone = false;
    expect(turns.answer(1)).toEqual([]);
  });

  it('goes out at once for a while after one such, since nobody knows of the next', () => {
    makeBusy();
    turns.areAlone = false;
    turns.answer(1);
    turns.areAlone = true;
    expect(turns.answer(20)).toEqual([]);
    makeBusy();
    expect(turns.answer(20).length).toBe(20);
  });

  it('goes out at once where so many connections are open that one may be read from twice in a turn', () => {
    makeBusy();
    turns.connections.open = 513;
    expect(turns.answer(10)).toEqual([]);
    turns.connections.open = 512;
    expect(turns.answer(10).length).toBe(10);
  });

  it('waits for no more than 64', () => {
    makeBusy();
    expect(turns.answer(100).length).toBe(64);
    turns.end();
    expect(turns.answer(100).length).toBe(64);
  });

  it('goes out when the server closes, and not again at the end of the turn', () => {
    makeBusy();
    const held = turns.answer(10);
    turns.close();
    expect(turns.released).toEqual(held);
    turns.end();
    expect(turns.released).toEqual(held);
  });
});
