/** The asking side of probe-preload.ts. */
import type { ChildProcess } from 'node:child_process';

export type ProbeRequest = 'start' | 'read';

export interface ProbeAnswer {
  /** From one look of the probe to the next, so at the least the millisecond between them. */
  readonly longestMs: number;
}

export interface Probe {
  /** The longest that the event loop did not come round while `work` went on, milliseconds. */
  longestStallMs(work: () => Promise<unknown>): Promise<number>;
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
    longestStallMs: async (work) => {
      await ask('start');
      await work();
      const { longestMs } = await ask('read');
      return longestMs;
    },
  };
}
