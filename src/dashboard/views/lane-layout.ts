/** Where the bars of a timeline lie: a lane for each type of event, and rows in it for those that overlap. */
import { EVENT_TYPES, type EventType, type ServiceEvent } from '../model.ts';

export interface Lane {
  readonly type: EventType;
  readonly top: number;
  readonly height: number;
}

export interface Placed {
  readonly event: ServiceEvent;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Nothing else lies over it. */
  readonly isFree: boolean;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  readonly bars: readonly Placed[];
  readonly height: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  /** Of the picture. */
  readonly width: number;
}

/** Above the lanes: the times, and what the lines stand for. */
export const TOP = 40;
export const BAR = 15;
const ROW = 18;
const LABEL = 18;
const FOOT = 5;
/** What overlaps more than this lies on one another in the last row. */
const MOST_ROWS = 4;
const NARROWEST = 3;
/** A bar that began before the picture is seen to have. */
const BEYOND = 4;

export function layOut(events: readonly ServiceEvent[], { fromMs, toMs, width }: Span): Layout {
  const scale = width / (toMs - fromMs);
  const ends = new Map<EventType, number[]>();
  const inRows = [...events]
    .sort((a, b) => a.fromMs - b.fromMs)
    .map((event) => {
      const rows = ends.get(event.event_type) ?? [];
      ends.set(event.event_type, rows);
      const free = rows.findIndex((end) => end <= event.fromMs);
      const isFree = free !== -1 || rows.length < MOST_ROWS;
      const row = free !== -1 ? free : Math.min(rows.length, MOST_ROWS - 1);
      rows[row] = Math.max(rows[row] ?? 0, event.untilMs, event.fromMs + NARROWEST / scale);
      return { event, row, isFree };
    });
  const lanes: Lane[] = [];
  let top = TOP;
  for (const type of EVENT_TYPES) {
    const height = LABEL + (ends.get(type)?.length ?? 0) * ROW + FOOT;
    lanes.push({ type, top, height });
    top += height;
  }
  const tops = new Map(lanes.map((lane) => [lane.type, lane.top]));
  const bars = inRows.map(({ event, row, isFree }) => {
    const x = Math.max(-BEYOND, (event.fromMs - fromMs) * scale);
    const end = Math.min(width + BEYOND, (event.untilMs - fromMs) * scale);
    const y = (tops.get(event.event_type) ?? TOP) + LABEL + row * ROW;
    return { event, x, y, width: Math.max(NARROWEST, end - x), isFree };
  });
  return { lanes, bars, height: top };
}
