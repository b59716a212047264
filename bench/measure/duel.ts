/** Ours and a peer, in turns, so that a noisy machine is noisy for both. */
import { cpuSeconds } from './process-usage.ts';

export interface Contender {
  readonly pid: number;
  /** Loads it for a few seconds. */
  readonly run: () => Promise<Answered>;
}

export interface Answered {
  readonly requests: number;
  readonly perSecond: number;
}

export interface Figures {
  readonly perSecond: number;
  /** CPU time a request, of all threads of the server. */
  readonly cpuMicros: number;
}

/**
 * The best of the rounds, of each figure: what else goes on at a machine, and code that is not compiled yet,
 * only ever make a figure worse.
 */
export async function duel<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  rounds: number,
): Promise<Record<Name, Figures>> {
  const names = Object.keys(contenders) as Name[];
  const best = new Map<Name, Figures>();
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const measured = await measure(contenders[name]);
      const before = best.get(name) ?? measured;
      best.set(name, {
        perSecond: Math.max(before.perSecond, measured.perSecond),
        cpuMicros: Math.min(before.cpuMicros, measured.cpuMicros),
      });
    }
  }
  return Object.fromEntries(best) as Record<Name, Figures>;
}

async function measure({ pid, run }: Contender): Promise<Figures> {
  const before = cpuSeconds(pid);
  const { requests, perSecond } = await run();
  return { perSecond, cpuMicros: ((cpuSeconds(pid) - before) / requests) * 1e6 };
}
