/** Heartbeats: every reader hears something every so often, each second a part of them, so that no proxy takes it for dead. */
import type { Scheduler } from '../lib/scheduler.ts';
import type { StreamReader } from './reader.ts';

const SECOND_MS = 1000;
const EVERY_SECONDS = 15;

export class Heartbeats {
  readonly #scheduler: Scheduler;
  readonly #beat: (readers: Iterable<StreamReader>) => void;
  /** By the second of a round in which they hear of us. */
  readonly #rounds = Array.from({ length: EVERY_SECONDS }, () => new Set<StreamReader>());
  #added = 0;
  #count = 0;
  #second = 0;
  #isArmed = false;

  /** @param beat called every second, as long as there is anybody, with those whose turn it is */
  constructor(scheduler: Scheduler, beat: (readers: Iterable<StreamReader>) => void) {
    this.#scheduler = scheduler;
    this.#beat = beat;
  }

  /** The answer takes it away again. */
  add(reader: StreamReader): () => void {
    this.#added += 1;
    const round = this.#round(this.#added);
    round.add(reader);
    this.#count += 1;
    this.#arm();
    return () => {
      if (round.delete(reader)) this.#count -= 1;
    };
  }

  #round(number: number): Set<StreamReader> {
    const round = this.#rounds[number % EVERY_SECONDS];
    if (round === undefined) throw new Error('a round for every second');
    return round;
  }

  #arm(): void {
    if (this.#isArmed || this.#count === 0) return;
    this.#isArmed = true;
    this.#scheduler.after(SECOND_MS, () => {
      this.#isArmed = false;
      this.#second += 1;
      this.#beat(this.#round(this.#second));
      this.#arm();
    });
  }
}
