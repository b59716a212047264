/** Virtual time: tasks run in the order of their times, and the clock moves only as they do. */
import { ManualClock } from '../../src/lib/clock.ts';
import type { Scheduler } from '../../src/lib/scheduler.ts';

interface Task {
  readonly atMs: number;
  run: (() => void) | undefined;
}

/** Of a whole machine: what a disk has under way goes on when the process that asked for it is gone. */
export class SimulatedScheduler implements Scheduler {
  /** The wall clock. It moves with virtual time, and may be set besides. */
  readonly clock: ManualClock;
  /** Virtual time: it never jumps. */
  nowMs = 0;
  /** By time; among equal times in the order of scheduling. */
  readonly #tasks: Task[] = [];

  constructor(wallClockMs: number) {
    this.clock = new ManualClock(wallClockMs);
  }

  after(delayMs: number, run: () => void): () => void {
    const task: Task = { atMs: this.nowMs + Math.max(0, delayMs), run };
    let place = this.#tasks.length;
    while (place > 0 && (this.#tasks[place - 1]?.atMs ?? 0) > task.atMs) place -= 1;
    this.#tasks.splice(place, 0, task);
    return () => {
      task.run = undefined;
    };
  }

  soon(run: () => void): void {
    this.after(0, run);
  }

  /** When the next task is due; undefined where there is none. */
  get nextAtMs(): number | undefined {
    while (this.#tasks[0] !== undefined && this.#tasks[0].run === undefined) this.#tasks.shift();
    return this.#tasks[0]?.atMs;
  }

  /** Runs the next task, if it is due by `untilMs`, and all that follows from it at once. */
  async runNext(untilMs: number): Promise<boolean> {
    const atMs = this.nextAtMs;
    if (atMs === undefined || atMs > untilMs) return false;
    this.#moveTo(atMs);
    const task = this.#tasks.shift();
    task?.run?.();
    await promisesSettle();
    return true;
  }

  /** Lets time pass, unless `isOver` says that nothing more is to happen. */
  async pass(milliseconds: number, isOver: () => boolean): Promise<void> {
    const untilMs = this.nowMs + milliseconds;
    while (!isOver() && (await this.runNext(untilMs)));
    if (!isOver()) this.#moveTo(untilMs);
  }

  #moveTo(atMs: number): void {
    this.clock.step(atMs - this.nowMs);
    this.nowMs = atMs;
  }
}

/** What one process has scheduled: none of it runs once the process has ended. */
export class ProcessScheduler implements Scheduler {
  readonly #machine: SimulatedScheduler;
  ended = false;

  constructor(machine: SimulatedScheduler) {
    this.#machine = machine;
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#machine.after(delayMs, () => {
      if (!this.ended) task();
    });
  }

  soon(task: () => void): void {
    this.after(0, task);
  }
}

/** Resolves once no promise has anything left to do that it could do now. */
export function promisesSettle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
