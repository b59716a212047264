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

export class Duel<Name extends string> {
  readonly #best = new Map<Name, Figures>();

  /** May be called again, with others of the same names. */
  async fight(contenders: Readonly<Record<Name, Contender>>, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of Object.keys(contenders) as Name[]) {
        const measured = await measure(contenders[name]);
        const before = this.#best.get(name) ?? measured;
        this.#best.set(name, {
          perSecond: Math.max(before.perSecond, measured.perSecond),
          cpuMicros: Math.min(before.cpuMicros, measured.cpuMicros),
        });
      }
    }
  }

  /**
   * The best of the rounds so far, of each figure: what else goes on at a machine, and code that is not compiled yet,
   * only ever make a figure worse.
   */
  get figures(): Record<Name, Figures> {
    return Object.fromEntries(this.#best) as Record<Name, Figures>;
  }
}

/** All rounds at once. */
export async function duel<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
  rounds: number,
): Promise<Record<Name, Figures>> {
  const fought = new Duel<Name>();
  await fought.fight(contenders, rounds);
  return fought.figures;
}

async function measure({ pid, run }: Contender): Promise<Figures> {
  const before = cpuSeconds(pid);
  const { requests, perSecond } = await run();
  return { perSecond, cpuMicros: ((cpuSeconds(pid) - before) / requests) * 1e6 };
}
