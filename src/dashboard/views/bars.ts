/** The bars of a timeline: of events, of those that are only counted, and the ranks of what an alert may be due to. */
import { clockTime } from '../clock.ts';
import { set, setText, svg } from '../dom.ts';
import { type ServiceEvent, typeName } from '../model.ts';
import { FOREMOST } from './candidates.ts';
import { changeText, isolated } from './change-text.ts';
import { BAR, type Crowd, type Placed } from './lane-layout.ts';

/** A bar narrower than this says nothing. */
const NARROWEST_TEXT = 44;
export const RANK_RADIUS = 8;

export interface BarOptions {
  readonly nowMs: number;
  /** Keys of the events that the alert in view may be due to, by rank from 1. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly chosenEvent: string | undefined;
  /** Whose picture it is: an event of another service says so. */
  readonly service: string | undefined;
}

export function makeBar({ event }: Placed): SVGElement {
  const bar = svg(
    'svg',
    { 'data-key': event.key, height: BAR, role: 'button', tabindex: -1 },
    svg('rect', { height: BAR, rx: 3 }),
    svg('text', { y: BAR - 4 }),
  );
  return bar;
}

export function updateBar(
  bar: Element,
  { event, x, y, width }: Placed,
  { nowMs, ranks, service, chosenEvent }: BarOptions,
): void {
  const isLive = event.untilMs > nowMs;
  const rank = ranks.get(event.key);
  const part = rank !== undefined ? ' candidate' : ranks.size > 0 ? ' aside' : '';
  const className = `${event.event_type} ${isLive ? 'live' : 'over'}${part}`;
  const said = barText(event, service);
  const order = rank === undefined ? '' : `, candidate ${rank}`;
  set(bar, {
    x,
    y,
    width,
    class: event.key === chosenEvent ? `${className} chosen` : className,
    'aria-label': `${typeName(event.event_type)} ${said}, ${clockTime(event.fromMs, nowMs)}, ${isLive ? 'live' : 'over'}${order}`,
  });
  const [rect, text] = bar.children;
  if (rect !== undefined) set(rect, { class: className, width });
  if (text === undefined) return;
  set(text, { x: Math.max(0, -x) + (rank === undefined ? 5 : 2 * RANK_RADIUS + 4) });
  setText(text, width >= NARROWEST_TEXT ? said : '');
}

function barText(event: ServiceEvent, service: string | undefined): string {
  const { service_name } = event;
  const change = changeText(event, service);
  const isOther = service_name !== undefined && service_name !== service;
  return isOther ? `${isolated(service_name)}: ${change}` : change;
}

export function makeCrowd({ type }: Crowd): SVGElement {
  return svg(
    'svg',
    { 'data-crowd': type, height: BAR, role: 'button', tabindex: 0 },
    svg('rect', { height: BAR, rx: 3, class: type }),
    svg('text', { y: BAR - 4, x: 5 }),
  );
}

export function updateCrowd(bar: Element, { type, count: events, x, y, width }: Crowd): void {
  // A number is to be read, however short the time is.
  const wide = Math.max(width, NARROWEST_TEXT);
  set(bar, {
    x,
    y,
    width: wide,
    class: type,
    'aria-label': `${events} more ${typeName(type)} events: show all`,
  });
  const [rect, text] = bar.children;
  if (rect !== undefined) set(rect, { width: wide });
  if (text === undefined) return;
  set(text, { x: Math.max(0, -x) + 5 });
  setText(text, wide > 2 * NARROWEST_TEXT ? `+${events} more` : `+${events}`);
}

export function makeRank(key: string, rank: number): SVGElement {
  const text = svg('text', { y: 4 });
  text.textContent = String(rank);
  const className = rank <= FOREMOST ? 'foremost' : undefined;
  return svg('g', { class: className, 'data-key': key }, svg('circle', { r: RANK_RADIUS }), text);
}
