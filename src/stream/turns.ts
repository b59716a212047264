/**
 * Turns: work in short turns, with rests between them. Whoever looks on must not keep those who report from reporting:
 * of a second, readers get a part of what the event loop would be idle otherwise, and little where it would not be.
 */
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';

export interface TurnsOptions {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly scheduler: Scheduler;
  /** Which part of the time since it was asked before the event loop was busy, from 0 to 1. */
  readonly busyShare: () => number;
  /** One step of the work; false where nothing is left to do. */
  readonly step: () => boolean;
}

/** How long a turn takes, but for its last step. */
const TURN_MS = 2;
/**
 * Of all time, where the event loop has none to spare. Those who report feel it several times over, in sockets and
 * caches: twice as much for a hundred readers cost them 7 to 12 %, and this costs them 5 to 6.
 */
const LEAST_SHARE = 0.01;
/** Of all time, where the event loop has nothing else to do; with what else it does, this falls off fast. */
const MOST_SHARE = 0.5;
/** How far back it is looked to see how much that is. */
const MEMORY_MS = 250;

export class Turns {
  readonly #options: TurnsOptions;
  #isArmed = false;
  #isStopped = false;
  /** Of what others do. */
  #othersShare = 0;
  #turnAtMs = 0;
  #tookMs = 0;
  #restUntilMs = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Work is there to be done in a moment: after this time, or after the rest where that is longer. */
  arm(delayMs: number): void {
    if (this.#isArmed || this.#isStopped) return;
    this.#isArmed = true;
    const restMs = this.#restUntilMs - this.#options.clock.monotonic();
    this.#options.scheduler.after(Math.max(delayMs, restMs), () => {
      this.#isArmed = false;
      if (!this.#isStopped) this.#turn();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #turn(): void {
    const { clock, step } = this.#options;
    const startMs = clock.monotonic();
    const share = this.#shareAt(startMs);
    let isLeft = true;
    let nowMs = startMs;
    while (isLeft && nowMs - startMs < TURN_MS) {
      isLeft = step();
      nowMs = clock.monotonic();
    }
    this.#tookMs = nowMs - startMs;
    this.#restUntilMs = nowMs + this.#tookMs * (1 / share - 1);
    if (isLeft) this.arm(0);
  }

  #shareAt(nowMs: number): number {
    const sinceMs = Math.max(1, nowMs - this.#turnAtMs);
    const others = Math.min(1, Math.max(0, this.#options.busyShare() - this.#tookMs / sinceMs));
    this.#othersShare += (others - this.#othersShare) * Math.min(1, sinceMs / MEMORY_MS);
    this.#turnAtMs = nowMs;
    return Math.max(LEAST_SHARE, MOST_SHARE * (1 - this.#othersShare) ** 2);
  }
}
