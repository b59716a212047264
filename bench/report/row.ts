/** A line of the table, and whether it is good enough. */

interface Common {
  readonly what: string;
  readonly unit: Unit;
  readonly ours: number;
  readonly least: number;
  readonly aim: number;
  /** What else is to be known of the figure. */
  readonly note?: string;
  /** Other work took too much of the machine for the figure to say much. */
  readonly isDisturbed?: boolean;
}

/** Where higher is better, `least` is a floor; where lower is better, it is a ceiling. */
export type Better = 'higher' | 'lower';

/**
 * Held to a peer that ran in the same run. `speed` is how many times as good ours is (of a time, the peer's to
 * ours), so more is better; `growth` is how many times as much ours is, so less is better.
 */
export interface RatioRow extends Common {
  readonly type: 'speed' | 'growth';
  readonly peer: { readonly name: string; readonly figure: number };
}

/** Held to a figure. What the peer came to, if there is one, stands beside it for comparison only. */
export interface FigureRow extends Common {
  readonly type: 'figure';
  readonly better: Better;
  readonly peer?: { readonly name: string; readonly figure: number };
}

export type Row = RatioRow | FigureRow;

/** Figures that other work at the machine spoils: those that go by the wall clock. */
const DISTURBABLE: ReadonlySet<Unit> = new Set<Unit>(['requests/s', 'events/s', 'ms']);

/** Processors that others may take meanwhile. */
const CALM_PROCESSORS = 0.2;

/** A row as it is to be read, given how many processors other work took while it was measured. */
export function disturbed(row: Row, othersProcessors: number): Row {
  if (othersProcessors <= CALM_PROCESSORS || !DISTURBABLE.has(row.unit)) return row;
  return { ...row, isDisturbed: true };
}

export type Unit = 'requests/s' | 'events/s' | 'µs CPU' | 'ms' | 'B';

/** Units of which less is better. */
const COSTS: ReadonlySet<Unit> = new Set<Unit>(['µs CPU', 'ms', 'B']);

export interface Judgement {
  /** Ours held to the peer; undefined where a figure is held to nothing but the limits. */
  readonly ratio: number | undefined;
  readonly better: Better;
  readonly verdict: 'aim' | 'least' | 'missed';
}

export function judge(row: Row): Judgement {
  const ratio = ratioOf(row);
  const better = row.type === 'figure' ? row.better : row.type === 'speed' ? 'higher' : 'lower';
  const value = ratio ?? row.ours;
  const reaches = (limit: number) => (better === 'higher' ? value >= limit : value <= limit);
  return { ratio, better, verdict: reaches(row.aim) ? 'aim' : reaches(row.least) ? 'least' : 'missed' };
}

function ratioOf(row: Row): number | undefined {
  switch (row.type) {
    case 'speed':
      return COSTS.has(row.unit) ? row.peer.figure / row.ours : row.ours / row.peer.figure;
    case 'growth':
      return row.ours / row.peer.figure;
    case 'figure':
      return undefined;
  }
}
