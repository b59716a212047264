/** The picture of a service's time: bars from receipt to expiry, alerts as lines, and what an alert may be due to. */
import { axisTime } from '../clock.ts';
import { patch, set, setText, svg } from '../dom.ts';
import { type Alert, type ServiceEvent, typeName } from '../model.ts';
import { BAR, type Lane, layOut, type Placed, TOP } from './lane-layout.ts';

export interface LanesData {
  readonly events: readonly ServiceEvent[];
  readonly alerts: readonly Alert[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Keys of the events that the alert in view may be due to, by rank from 1. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly chosenAlert: string | undefined;
  /** Whose picture it is: an event of another service says so. */
  readonly service: string | undefined;
}

/** A bar narrower than this says nothing. */
const NARROWEST_TEXT = 44;
const RANK_RADIUS = 8;
/** Ranks up to this are what is to be looked at first. */
const FOREMOST = 3;
const AXIS_Y = 13;
const FLAG_Y = 31;
/** How much room a text at a line takes. */
const FLAG_WIDTH = 90;
const SHORT_FLAG_WIDTH = 40;
const TICK_WIDTH = 22;
/** Round distances between the lines of the time axis, seconds. */
const STEPS = [10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400];

export class Lanes {
  readonly element = svg('svg', { class: 'lanes', role: 'img' });
  readonly #lanes = svg('g');
  readonly #bars = svg('g', { class: 'bars' });
  readonly #ranks = svg('g', { class: 'ranks' });
  readonly #alerts = svg('g', { class: 'alerts' });
  readonly #axis = svg('g', { class: 'axis' });
  readonly #now = flag('now');

  constructor(onEvent: (key: string | undefined, isChosen: boolean) => void) {
    this.element.append(this.#axis, this.#lanes, this.#bars, this.#now, this.#alerts, this.#ranks);
    const keyAt = ({ target }: Event) =>
      target instanceof Element
        ? (target.closest('[data-key]')?.getAttribute('data-key') ?? undefined)
        : undefined;
    this.element.addEventListener('pointerover', (event) => onEvent(keyAt(event), false));
    this.element.addEventListener('click', (event) => onEvent(keyAt(event), true));
  }

  draw({ events, alerts, fromMs, toMs, nowMs, ranks, chosenAlert, service }: LanesData): void {
    const width = this.element.clientWidth || 800;
    const xOf = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * width;
    const visible = events.filter(({ fromMs: from, untilMs }) => untilMs > fromMs && from < toMs);
    const { lanes, bars, height } = layOut(visible, { fromMs, toMs, width });
    set(this.element, { height });
    this.#drawLanes(lanes);
    patch(this.#bars, bars, {
      key: ({ event }) => event.key,
      make: makeBar,
      update: (bar, placed) => {
        const life = placed.event.untilMs > nowMs ? 'live' : 'over';
        const rank = ranks.get(placed.event.key);
        const part = rank !== undefined ? ' candidate' : ranks.size > 0 ? ' aside' : '';
        updateBar(bar, placed, `${placed.event.event_type} ${life}${part}`);
        const text = bar.lastElementChild;
        if (text === null) return;
        set(text, { x: Math.max(0, -placed.x) + (rank === undefined ? 5 : 2 * RANK_RADIUS + 4) });
        const isSaid = placed.isFree && placed.width >= NARROWEST_TEXT;
        setText(text, isSaid ? barText(placed.event, service) : '');
      },
    });
    patch(
      this.#ranks,
      bars.filter(({ event }) => ranks.has(event.key)).sort((a, b) => rankOf(b) - rankOf(a)),
      {
        key: (placed) => `${placed.event.key} ${rankOf(placed)}`,
        make: (placed) => makeRank(placed.event.key, rankOf(placed)),
        update: (rank, { x, y }) =>
          set(rank, {
            transform: `translate(${Math.max(RANK_RADIUS + 1, x + RANK_RADIUS).toFixed(1)} ${y + BAR / 2})`,
          }),
      },
    );
    function rankOf({ event }: Placed): number {
      return ranks.get(event.key) ?? 0;
    }
    const inView = alerts.filter(({ started_at }) => {
      const atMs = Date.parse(started_at);
      return atMs >= fromMs && atMs <= toMs;
    });
    patch(this.#alerts, inView, {
      key: ({ id }) => id,
      make: () => flag(''),
      update: (line, { id, status, started_at }) => {
        set(line, { class: `${status}${id === chosenAlert ? ' chosen' : ''}` });
        const isFiring = status === 'firing';
        const x = xOf(Date.parse(started_at));
        place(line, x, { width, height, room: isFiring ? SHORT_FLAG_WIDTH : FLAG_WIDTH });
        const text = line.lastElementChild;
        if (text !== null) setText(text, isFiring ? 'alert' : 'alert, resolved');
      },
    });
    const nowX = xOf(nowMs);
    place(this.#now, nowX, { width, height, room: SHORT_FLAG_WIDTH });
    const isHidden = inView.some(
      ({ started_at }) => Math.abs(xOf(Date.parse(started_at)) - nowX) < FLAG_WIDTH / 2,
    );
    set(this.#now.lastElementChild ?? this.#now, { hidden: isHidden });
    this.#drawAxis(fromMs, toMs, width, height);
    const firing = alerts.length === 1 ? '1 alert' : `${alerts.length} alerts`;
    set(this.element, {
      'aria-label': `Timeline: ${visible.length} events, ${firing}; they are listed below`,
    });
  }

  #drawLanes(lanes: readonly Lane[]): void {
    patch(this.#lanes, lanes, {
      key: ({ type }) => type,
      make: ({ type }) => {
        const label = svg('text', { class: 'label', x: 8, y: 14 });
        label.textContent = typeName(type);
        return svg('g', {}, svg('line', { class: 'lane', x1: 0, x2: '100%' }), label);
      },
      update: (lane, { top }) => set(lane, { transform: `translate(0 ${top})` }),
    });
  }

  #drawAxis(fromMs: number, toMs: number, width: number, height: number): void {
    const most = Math.max(2, Math.floor(width / 90));
    const step = (STEPS.find((seconds) => (toMs - fromMs) / 1000 / seconds <= most) ?? 86_400) * 1000;
    const times: number[] = [];
    for (let at = Math.ceil(fromMs / step) * step; at < toMs; at += step) times.push(at);
    patch(this.#axis, times, {
      key: (at) => `${at} ${step}`,
      make: (at) => {
        const text = svg('text', { y: AXIS_Y });
        text.textContent = axisTime(at, step);
        return svg('g', {}, svg('line', { y1: TOP }), text);
      },
      update: (tick, at) => {
        const x = ((at - fromMs) / (toMs - fromMs)) * width;
        set(tick, { transform: `translate(${x.toFixed(1)} 0)` });
        const [line, text] = tick.children;
        if (line !== undefined) set(line, { y2: height });
        // One that would be cut off at the edge is left out.
        if (text !== undefined) set(text, { hidden: x < TICK_WIDTH || x > width - TICK_WIDTH });
      },
    });
  }
}

function makeBar({ event }: Placed): SVGElement {
  const text = svg('text', { y: BAR - 4 });
  return svg('svg', { 'data-key': event.key, height: BAR }, svg('rect', { height: BAR, rx: 3 }), text);
}

function updateBar(bar: Element, { x, y, width }: Placed, className: string): void {
  set(bar, { x: x.toFixed(1), y, width: width.toFixed(1) });
  const rect = bar.firstElementChild;
  if (rect !== null) set(rect, { class: className, width: width.toFixed(1) });
  set(bar, { class: className });
}

/** What changed, as short as it can be said: a bar is small, and whose it is stands above. */
function barText(event: ServiceEvent, service: string | undefined): string {
  const { entity, old_value, new_value, service_name } = event;
  const isOther = service_name !== undefined && service_name !== service;
  const after = new_value === null ? '' : isolated(new_value);
  const change = old_value === null || new_value === null ? after : `${isolated(old_value)} → ${after}`;
  if (entity === service && change !== '') return change;
  return `${isOther ? `${isolated(service_name)}: ` : ''}${isolated(entity)} ${change}`;
}

/** There is no <bdi> in a picture: these are the characters that it stands for. */
function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

function makeRank(key: string, rank: number): SVGElement {
  const text = svg('text', { y: 4 });
  text.textContent = String(rank);
  const className = rank <= FOREMOST ? 'foremost' : undefined;
  return svg('g', { class: className, 'data-key': key }, svg('circle', { r: RANK_RADIUS }), text);
}

function flag(said: string): SVGElement {
  const text = svg('text', { y: FLAG_Y });
  text.textContent = said;
  return svg('g', { class: said }, svg('line', { y1: FLAG_Y - 9 }), text);
}

interface Room {
  readonly width: number;
  readonly height: number;
  /** That the text at the line takes. */
  readonly room: number;
}

function place(line: Element, x: number, { width, height, room }: Room): void {
  set(line, { transform: `translate(${x.toFixed(1)} 0)` });
  const [stroke, text] = line.children;
  if (stroke !== undefined) set(stroke, { y2: height });
  const isAtEdge = x > width - room;
  if (text !== undefined) set(text, { x: isAtEdge ? -5 : 5, 'text-anchor': isAtEdge ? 'end' : 'start' });
}
