/** From a figure to its place along an axis, and the figures that are written beside it. */
import type { Axis } from './plot.ts';

export interface Scale {
  /** 0 at the begin of the axis, 1 at its end. */
  place(value: number): number;
  readonly ticks: readonly number[];
}

const PERCENTILE_TICKS = [1, 50, 90, 99, 99.9, 99.99];

export function scaleOf(axis: Axis, values: readonly number[]): Scale {
  switch (axis.scale) {
    case 'linear':
      return linear(Math.max(...values));
    case 'log':
      return logarithmic(Math.min(...values), Math.max(...values));
    case 'percentile':
      return percentiles();
  }
}

/** From 0, in steps of 1, 2 or 5 times a power of ten. */
function linear(highest: number): Scale {
  const power = 10 ** Math.floor(Math.log10(highest / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each * 6 >= highest) ?? highest;
  const end = Math.ceil(highest / step) * step;
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, n) => n * step);
  return { place: (value) => value / end, ticks };
}

function logarithmic(lowest: number, highest: number): Scale {
  const first = Math.floor(Math.log10(lowest));
  const last = Math.max(first + 1, Math.ceil(Math.log10(highest)));
  const ticks = Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n));
  return { place: (value) => (Math.log10(value) - first) / (last - first), ticks };
}

function percentiles(): Scale {
  const nines = (percentile: number) => -Math.log10(1 - percentile / 100);
  const most = nines(PERCENTILE_TICKS.at(-1) ?? 0);
  return { place: (percentile) => nines(percentile) / most, ticks: PERCENTILE_TICKS };
}
