/** How busy the event loop is, and how late what is due on it comes. */
import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Of the timer that is measured: what comes later than this is late. */
const RESOLUTION_MS = 10;

export interface EventLoopDelay {
  readonly medianSeconds: number;
  readonly p99Seconds: number;
  readonly longestSeconds: number;
}

export class EventLoopMeter {
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  start(): void {
    this.#delay.enable();
  }

  stop(): void {
    this.#delay.disable();
  }

  /** Since it was asked before. */
  delay(): EventLoopDelay {
    const seconds = (nanoseconds: number) =>
      Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) : 0;
    const delay = {
      medianSeconds: seconds(this.#delay.percentile(50)),
      p99Seconds: seconds(this.#delay.percentile(99)),
      longestSeconds: seconds(this.#delay.max),
    };
    this.#delay.reset();
    return delay;
  }

  /** How long it has waited with nothing to do, since the process began. */
  idleMs(): number {
    return performance.eventLoopUtilization().idle;
  }

  /** Since the process began. */
  activeSeconds(): number {
    const { active }: EventLoopUtilization = performance.eventLoopUtilization();
    return active / 1000;
  }
}

/** Asks, each time, for which part of the time since the last it was busy, from 0 to 1. */
export function busyShareMeter(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
