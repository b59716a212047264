/** The asking side of probe-preload.ts. */
import type { ChildProcess } from 'node:child_process';

export type ProbeRequest = 'start' | 'read';

/** From one look of the probe to the next, so at the least the millisecond between them. */
export interface ProbeAnswer {
  /** Without the time in which the machine ran somebody else. */
  readonly longestMs: number;
  readonly longestWithWaitsMs: number;
  /** What the main thread itself worked, without what it waited for: disks, and its own helpers in a collection. */
  readonly longestCpuMs: number;
}

export interface Probe {
  /** The longest that the event loop did not come round while `work` went on. */
  longestStall(work: () => Promise<unknown>): Promise<ProbeAnswer>;
}

export function probeOf(child: ChildProcess): Probe {
  const ask = (request: ProbeRequest) =>
    new Promise<ProbeAnswer>((resolve, reject) => {
      child.once('message', (answer) => resolve(answer as ProbeAnswer));
      child.send(request, (error) => {
        if (error !== null) reject(error);
      });
    });
  return {
    longestStall: async (work) => {
      await ask('start');
      await work();
      return ask('read');
    },
  };
}
