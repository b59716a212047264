/** The picture of a service's time: a lane for each type of event, bars from receipt to expiry, alerts as lines. */
import { axisTime } from '../clock.ts';
import { patch, set, svg } from '../dom.ts';
import { type Alert, EVENT_TYPES, type ServiceEvent, typeName } from '../model.ts';

export interface LanesData {
  readonly events: readonly ServiceEvent[];
  readonly alerts: readonly Alert[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Keys of the events that the alert in view may be due to, by rank from 1. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly chosenAlert: string | undefined;
}

const LANE = 44;
const TOP = 22;
const BAR = 9;
const DEPTH = 4;
const NARROWEST = 3;
/** Round distances between the lines of the time axis, seconds. */
const STEPS = [10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400];

export class Lanes {
  readonly element: SVGElement;
  readonly #bars = svg('g', { class: 'bars' });
  readonly #alerts = svg('g', { class: 'alerts' });
  readonly #axis = svg('g', { class: 'axis' });
  readonly #now = svg('line', { class: 'now' });

  constructor(onEvent: (key: string | undefined, isChosen: boolean) => void) {
    const height = TOP + LANE * EVENT_TYPES.length;
    this.element = svg('svg', { class: 'lanes', height, role: 'img' });
    for (const [index, type] of EVENT_TYPES.entries()) {
      const y = TOP + index * LANE;
      this.element.append(svg('line', { class: 'lane', x1: 0, x2: '100%', y1: y + LANE, y2: y + LANE }));
      const label = svg('text', { class: 'label', x: 6, y: y + 13 });
      label.textContent = typeName(type);
      this.element.append(label);
    }
    this.element.append(this.#axis, this.#bars, this.#now, this.#alerts);
    const keyAt = (event: Event) =>
      event.target instanceof Element ? (event.target.getAttribute('data-key') ?? undefined) : undefined;
    this.element.addEventListener('pointerover', (event) => onEvent(keyAt(event), false));
    this.element.addEventListener('click', (event) => onEvent(keyAt(event), true));
  }

  draw({ events, alerts, fromMs, toMs, nowMs, ranks, chosenAlert }: LanesData): void {
    const width = this.element.clientWidth || 800;
    const scale = width / (toMs - fromMs);
    const xOf = (ms: number) => (ms - fromMs) * scale;
    const visible = events.filter(({ fromMs: from, untilMs }) => untilMs > fromMs && from < toMs);
    // Bars that overlap lie below one another, as far as a lane goes.
    const ends = new Map<string, number[]>();
    const placed = [...visible]
      .sort((a, b) => a.fromMs - b.fromMs)
      .map((event) => {
        const rows = ends.get(event.event_type) ?? [];
        ends.set(event.event_type, rows);
        const free = rows.findIndex((end) => end <= event.fromMs);
        const row = free !== -1 ? free : rows.length < DEPTH - 1 ? rows.length : DEPTH - 2;
        rows[row] = Math.max(rows[row] ?? 0, event.untilMs, event.fromMs + NARROWEST / scale);
        return { event, row };
      });
    patch(this.#bars, placed, {
      key: ({ event }) => event.key,
      make: ({ event }) => svg('rect', { 'data-key': event.key, height: BAR, rx: 2 }),
      update: (bar, { event, row }) => {
        const x = Math.max(-2, xOf(event.fromMs));
        const end = Math.min(width + 2, xOf(event.untilMs));
        const lane = EVENT_TYPES.indexOf(event.event_type);
        const rank = ranks.get(event.key);
        const life = event.untilMs > nowMs ? 'live' : 'over';
        set(bar, {
          class: `${event.event_type} ${life}${rank === undefined ? '' : ' candidate'}`,
          x: x.toFixed(1),
          y: TOP + lane * LANE + 18 + (row % (DEPTH - 1)) * BAR * 0.9,
          width: Math.max(NARROWEST, end - x).toFixed(1),
        });
      },
    });
    patch(this.#alerts, alerts, {
      key: ({ id }) => id,
      make: () => svg('line', { y1: TOP, y2: '100%' }),
      update: (line, alert) => {
        const x = xOf(Date.parse(alert.started_at)).toFixed(1);
        set(line, { class: `${alert.status}${alert.id === chosenAlert ? ' chosen' : ''}`, x1: x, x2: x });
      },
    });
    const x = xOf(nowMs).toFixed(1);
    set(this.#now, { x1: x, x2: x, y1: TOP, y2: '100%' });
    this.#drawAxis(fromMs, toMs, width);
    const firing = alerts.length === 0 ? 'no alert' : `${alerts.length} alerts`;
    set(this.element, {
      'aria-label': `Timeline: ${visible.length} events, ${firing}; they are listed below`,
    });
  }

  #drawAxis(fromMs: number, toMs: number, width: number): void {
    const most = Math.max(2, Math.floor(width / 110));
    const step = (STEPS.find((seconds) => (toMs - fromMs) / 1000 / seconds <= most) ?? 86_400) * 1000;
    const times: number[] = [];
    for (let at = Math.ceil(fromMs / step) * step; at < toMs; at += step) times.push(at);
    patch(this.#axis, times, {
      key: (at) => `${at} ${step}`,
      make: (at) => {
        const text = svg('text', { y: 13 });
        text.textContent = axisTime(at, step);
        return svg('g', {}, svg('line', { y1: TOP, y2: '100%' }), text);
      },
      update: (tick, at) => {
        const x = (((at - fromMs) / (toMs - fromMs)) * width).toFixed(1);
        set(tick, { transform: `translate(${x} 0)` });
      },
    });
  }
}
