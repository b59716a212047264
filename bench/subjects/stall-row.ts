import type { ProbeAnswer } from '../measure/probe.ts';
import type { FigureRow } from '../report/row.ts';

/** A machine that stops for a moment makes a stall of its own, in one of them and seldom in two. */
const TIMES = 3;

/** Watches something that can happen over and over. */
export async function thrice(watch: () => Promise<ProbeAnswer>): Promise<ProbeAnswer[]> {
  const answers: ProbeAnswer[] = [];
  while (answers.length < TIMES) answers.push(await watch());
  return answers;
}

/**
 * The longest stall of the event loop while something happened, beside that of the same server without it; of the times
 * that it happened the middle one.
 */
export function stallRow(
  what: string,
  perSecond: number,
  times: readonly ProbeAnswer[],
  without: { readonly name: string; readonly times: readonly ProbeAnswer[] },
): FigureRow {
  const during = middle(times);
  return {
    type: 'figure',
    better: 'lower',
    what: `longest stall as ${what}, ingest at ${perSecond.toLocaleString('en')}/s`,
    unit: 'ms',
    ours: during.longestMs,
    peer: { name: without.name, figure: middle(without.times).longestMs },
    note: `${times.map(({ longestMs }) => longestMs.toFixed(1)).join(', ')}; at most ${during.longestCpuMs.toFixed(0)} ms of CPU; ${during.longestWithWaitsMs.toFixed(0)} ms with what the machine took`,
    least: 20,
    aim: 5,
  };
}

function middle(times: readonly ProbeAnswer[]): ProbeAnswer {
  const sorted = times.toSorted((a, b) => a.longestMs - b.longestMs);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error('nothing was watched');
  return found;
}
