/** Where the bars of a timeline lie: a lane for each type of event, and rows in it for those that overlap. */
import { EVENT_TYPES, type EventType, type ServiceEvent } from '../model.ts';

export interface Lane {
  readonly type: EventType;
  readonly top: number;
  readonly height: number;
  /** Not all that is in it has a row. */
  readonly isCrowded: boolean;
}

export interface Placed {
  readonly event: ServiceEvent;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Events that had no row left, and lie close to one another: one bar stands for them. */
export interface Crowd {
  readonly type: EventType;
  /** Key of the first of them. */
  readonly first: string;
  readonly count: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  /** In the order of their beginning. */
  readonly bars: readonly Placed[];
  readonly crowds: readonly Crowd[];
  readonly height: number;
}

export interface LayoutOptions {
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the picture. */
  readonly width: number;
  /** Keys of events that have a row before all others, in that order. */
  readonly foremost: ReadonlySet<string>;
  /** Lanes that have as many rows as they need. */
  readonly wide: ReadonlySet<EventType>;
}

/** Above the lanes: the times, and what the lines stand for. */
export const TOP = 40;
export const BAR = 15;
const ROW = 18;
const LABEL = 18;
const FOOT = 4;
const MOST_ROWS = 4;
const MOST_ROWS_WIDE = 1000;
const NARROWEST = 3;
/** A bar that began before the picture is seen to have. */
const BEYOND = 4;
/** Crowds that lie closer are one. */
const CROWD_GAP = 24;

interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

export function layOut(
  events: readonly ServiceEvent[],
  { fromMs, toMs, width, foremost, wide }: LayoutOptions,
): Layout {
  const scale = width / (toMs - fromMs);
  const rowsOf = new Map<EventType, Rows>(
    EVENT_TYPES.map((type) => [type, new Rows(wide.has(type) ? MOST_ROWS_WIDE : MOST_ROWS)]),
  );
  const byBeginning = [...events].sort((a, b) => a.fromMs - b.fromMs);
  const rows = new Map<ServiceEvent, number | undefined>();
  const intervalOf = ({ fromMs: from, untilMs }: ServiceEvent): Interval => ({
    fromMs: from,
    untilMs: Math.max(untilMs, from + NARROWEST / scale),
  });
  const byKey = new Map(events.map((event) => [event.key, event]));
  for (const key of foremost) {
    const event = byKey.get(key);
    if (event !== undefined) rows.set(event, rowsOf.get(event.event_type)?.takeForemost(intervalOf(event)));
  }
  for (const event of byBeginning) {
    if (!foremost.has(event.key)) rows.set(event, rowsOf.get(event.event_type)?.take(intervalOf(event)));
  }
  const lanes: Lane[] = [];
  const rowTop = new Map<EventType, number>();
  let top = TOP;
  for (const [type, { count, isFull }] of rowsOf) {
    const height = LABEL + (count + (isFull ? 1 : 0)) * ROW + FOOT;
    lanes.push({ type, top, height, isCrowded: isFull });
    rowTop.set(type, top + LABEL);
    top += height;
  }
  // Whole pixels: what moves with the present moves seldom, and sharply.
  const place = ({ fromMs: from, untilMs }: Interval) => {
    const x = Math.round(Math.max(-BEYOND, (from - fromMs) * scale));
    const end = Math.round(Math.min(width + BEYOND, (untilMs - fromMs) * scale));
    return { x, width: Math.max(NARROWEST, end - x) };
  };
  const bars: Placed[] = [];
  const crowds = new Map<EventType, Crowd[]>();
  for (const event of byBeginning) {
    const { event_type: type } = event;
    const row = rows.get(event);
    const topOfRows = rowTop.get(type) ?? TOP;
    if (row !== undefined) {
      bars.push({ event, y: topOfRows + row * ROW, ...place(event) });
      continue;
    }
    const ofType = crowds.get(type) ?? [];
    crowds.set(type, ofType);
    const { x, width: length } = place(event);
    const last = ofType.at(-1);
    if (last !== undefined && x <= last.x + last.width + CROWD_GAP) {
      const end = Math.max(last.x + last.width, x + length);
      ofType[ofType.length - 1] = { ...last, count: last.count + 1, width: end - last.x };
    } else {
      const y = topOfRows + (rowsOf.get(type)?.count ?? 0) * ROW;
      ofType.push({ type, first: event.key, count: 1, x, y, width: length });
    }
  }
  return { lanes, bars, crowds: [...crowds.values()].flat(), height: top };
}

/** The rows of a lane: what is taken lies in the first in which nothing else lies then. */
class Rows {
  readonly #most: number;
  readonly #rows: { ends: number; readonly foremost: Interval[] }[] = [];
  isFull = false;

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return this.#rows.length;
  }

  /** What comes first, in any order, and before all else. Undefined where there is no row for it. */
  takeForemost(interval: Interval): number | undefined {
    const row = this.#rowFor(interval);
    if (row !== undefined) this.#rows[row]?.foremost.push(interval);
    return row;
  }

  /** The rest, in the order of its beginning: an end is all there is to know of a row then. */
  take(interval: Interval): number | undefined {
    const row = this.#rowFor(interval);
    const taken = row === undefined ? undefined : this.#rows[row];
    if (taken !== undefined) taken.ends = interval.untilMs;
    return row;
  }

  #rowFor({ fromMs, untilMs }: Interval): number | undefined {
    const row = this.#rows.findIndex(
      ({ ends, foremost }) =>
        ends <= fromMs && foremost.every((other) => other.untilMs <= fromMs || other.fromMs >= untilMs),
    );
    if (row !== -1) return row;
    if (this.#rows.length < this.#most)
      return this.#rows.push({ ends: Number.NEGATIVE_INFINITY, foremost: [] }) - 1;
    this.isFull = true;
    return undefined;
  }
}
