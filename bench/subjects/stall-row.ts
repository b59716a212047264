import type { ProbeAnswer } from '../measure/probe.ts';
import type { FigureRow } from '../report/row.ts';

/** The longest stall of the event loop while something happened, beside that of the same server without it. */
export function stallRow(
  what: string,
  perSecond: number,
  during: ProbeAnswer,
  without: ProbeAnswer & { readonly name: string },
): FigureRow {
  return {
    type: 'figure',
    better: 'lower',
    what: `longest stall as ${what}, ingest at ${perSecond.toLocaleString('en')}/s`,
    unit: 'ms',
    ours: during.longestMs,
    peer: { name: without.name, figure: without.longestMs },
    note: `at most ${during.longestCpuMs.toFixed(0)} ms of CPU; ${during.longestWithWaitsMs.toFixed(0)} ms with what the machine took`,
    least: 20,
    aim: 5,
  };
}
