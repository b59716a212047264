import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import type { Pipeline } from './pipeline.ts';
import type { State } from './state.ts';

export interface HousekeepingOptions {
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly time: Pick<Clock, 'now'>;
  readonly pipeline: Pick<Pipeline, 'appliedUntil'>;
  readonly scheduler: Scheduler;
}

const INTERVAL_MS = 100;
/** Steps between two looks at the sockets: half a millisecond, and about a millisecond. */
const RECLAIM_SLICE = 500;
const PROJECT_SLICE = 100;

/**
 * Work that no reader waits for, in slices so that requests are answered in between: giving back the memory
 * of expired events, and projecting changes into the snapshots.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #stopped = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.scheduler.after(INTERVAL_MS, () => this.#slice());
  }

  stop(): void {
    this.#stopped = true;
  }

  #slice(): void {
    if (this.#stopped) return;
    const { state, snapshots, time, pipeline, scheduler } = this.#options;
    const reclaimed = state.reclaim(pipeline.appliedUntil(time.now()), RECLAIM_SLICE);
    const projected = snapshots.project(PROJECT_SLICE);
    if (reclaimed && projected) this.start();
    else scheduler.soon(() => this.#slice());
  }
}
