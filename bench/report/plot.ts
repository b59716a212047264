/** What is drawn, as data. */

export interface LinePlot {
  readonly type: 'lines';
  /** Beside the results. */
  readonly file: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
}

export interface Axis {
  readonly label: string;
  /** `percentile` gives every further nine the same room: 90, 99, 99.9 … */
  readonly scale: 'linear' | 'log' | 'percentile';
}

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly dashed?: boolean;
}

export interface BarPlot {
  readonly type: 'bars';
  readonly file: string;
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

/** Ours and what it is held to; bars of a group share a scale with all others. */
export interface BarGroup {
  readonly name: string;
  readonly bars: readonly { readonly name: string; readonly value: number; readonly isOurs: boolean }[];
}

export type Plot = LinePlot | BarPlot;
