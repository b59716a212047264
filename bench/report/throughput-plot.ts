import type { BarPlot } from './plot.ts';
import type { Row } from './row.ts';

/** All rows of requests a second, ours beside the peer; undefined where there are none. */
export function throughputPlot(rows: readonly Row[]): BarPlot | undefined {
  const groups = rows.flatMap(({ what, unit, ours, peer }) => {
    if (unit !== 'requests/s' || peer === undefined) return [];
    const bars = [
      { name: 'Foreshock', value: ours, isOurs: true },
      { name: peer.name, value: peer.figure, isOurs: false },
    ];
    return [{ name: what, bars }];
  });
  if (groups.length === 0) return undefined;
  return { type: 'bars', file: 'throughput.svg', title: 'Requests a second', unit: '/s', groups };
}
