/** The picture of a service's time: bars from receipt to expiry, alerts as lines, and what an alert may be due to. */
import { axisTimes, clockTime } from '../clock.ts';
import { patch, set, setText, svg } from '../dom.ts';
import { type Alert, type EventType, type ServiceEvent, typeName } from '../model.ts';
import { count } from '../parts.ts';
import { FLAG_CHARACTER, type Flag, flagsOf, flagText } from './alert-flags.ts';
import {
  type BarOptions,
  makeBar,
  makeCrowd,
  makeRank,
  RANK_RADIUS,
  updateBar,
  updateCrowd,
} from './bars.ts';
import { isolated } from './change-text.ts';
import { BAR, type Lane, layOut, type Placed, TOP } from './lane-layout.ts';

export interface LanesData extends BarOptions {
  readonly events: readonly ServiceEvent[];
  readonly alerts: readonly Alert[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly chosenAlert: string | undefined;
  /** Lanes that show all that is in them. */
  readonly wide: ReadonlySet<EventType>;
}

export interface LanesListener {
  /** The pointer is over a bar, or it has the focus; undefined where none is. */
  readonly onPoint: (key: string | undefined) => void;
  readonly onChoose: (key: string) => void;
  readonly onAlert: (ids: readonly string[]) => void;
  /** A lane is to show all that is in it, or no more than others. */
  readonly onCrowd: (type: EventType) => void;
  readonly onNothing: () => void;
}

const AXIS_Y = 13;
const FLAG_Y = 31;
const NOW_WIDTH = 40;
const TICK_WIDTH = 22;
/** Round distances between the lines of the time axis, seconds. */
const STEPS = [10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400];
const STEP_WIDTH = 80;

export class Lanes {
  readonly element = svg('svg', { class: 'lanes', role: 'group' });
  readonly #listener: LanesListener;
  readonly #axis = svg('g', { class: 'axis', 'aria-hidden': 'true' });
  readonly #lanes = svg('g', { 'aria-hidden': 'true' });
  readonly #bars = svg('g', { class: 'bars' });
  readonly #crowds = svg('g', { class: 'crowds' });
  readonly #fewer = svg('g', { class: 'fewer' });
  readonly #ranks = svg('g', { class: 'ranks', 'aria-hidden': 'true' });
  readonly #alerts = svg('g', { class: 'alerts' });
  readonly #now = svg(
    'g',
    { class: 'now', 'aria-hidden': 'true' },
    svg('line', { y1: FLAG_Y - 9 }),
    svg('text', { y: FLAG_Y }, 'now'),
  );

  constructor(listener: LanesListener) {
    this.#listener = listener;
    this.element.append(
      this.#axis,
      this.#lanes,
      this.#bars,
      this.#crowds,
      this.#fewer,
      this.#now,
      this.#alerts,
      this.#ranks,
    );
    this.element.addEventListener('pointerover', (event) => listener.onPoint(keyAt(event.target)));
    this.element.addEventListener('pointerleave', () => listener.onPoint(undefined));
    this.element.addEventListener('focusin', (event) => {
      const key = keyAt(event.target);
      listener.onPoint(key);
      if (key !== undefined && event.target instanceof Element) this.#rove(event.target);
    });
    this.element.addEventListener('focusout', () => listener.onPoint(undefined));
    this.element.addEventListener('click', (event) => this.#choose(event.target));
    this.element.addEventListener('keydown', (event) => {
      if (event instanceof KeyboardEvent) this.#press(event);
    });
  }

  /** The element of a bar. */
  barOf(key: string): SVGElement | undefined {
    for (const bar of this.#bars.children) {
      if (bar instanceof SVGElement && bar.dataset['key'] === key) return bar;
    }
    return undefined;
  }

  draw(data: LanesData): void {
    const { events, alerts, fromMs, toMs, nowMs, ranks, wide } = data;
    const width = this.element.clientWidth || 800;
    const xOf = (ms: number) => ((ms - fromMs) / (toMs - fromMs)) * width;
    const visible = events.filter(({ fromMs: from, untilMs }) => untilMs > fromMs && from < toMs);
    const foremost = new Set(ranks.keys());
    const { lanes, bars, crowds, height } = layOut(visible, { fromMs, toMs, width, foremost, wide });
    set(this.element, { height });
    this.#drawLanes(lanes);
    patch(this.#bars, bars, {
      key: ({ event }) => event.key,
      make: makeBar,
      update: (bar, placed) => updateBar(bar, placed, data),
    });
    // One of them is where Tab leads; arrows lead to the others.
    const first = this.#bars.firstElementChild;
    if (first !== null && this.#bars.querySelector('[tabindex="0"]') === null) set(first, { tabindex: 0 });
    patch(this.#crowds, crowds, {
      key: ({ type, first }) => `${type} ${first}`,
      make: makeCrowd,
      update: updateCrowd,
    });
    patch(
      this.#fewer,
      lanes.filter(({ type }) => wide.has(type)),
      {
        key: ({ type }) => type,
        make: ({ type }) =>
          svg(
            'g',
            { 'data-crowd': type, role: 'button', tabindex: 0 },
            svg('text', { x: -8, y: 14, 'text-anchor': 'end' }, 'show fewer'),
          ),
        update: (button, { top }) => set(button, { transform: `translate(${width} ${top})` }),
      },
    );
    const rankOf = ({ event }: Placed) => ranks.get(event.key) ?? 0;
    patch(
      this.#ranks,
      bars.filter(({ event }) => ranks.has(event.key)).sort((a, b) => rankOf(b) - rankOf(a)),
      {
        key: (placed) => `${placed.event.key} ${rankOf(placed)}`,
        make: (placed) => makeRank(placed.event.key, rankOf(placed)),
        update: (rank, { x, y }) =>
          set(rank, {
            transform: `translate(${Math.max(RANK_RADIUS + 1, x + RANK_RADIUS)} ${y + BAR / 2})`,
          }),
      },
    );
    const inView = alerts.filter(({ started_at }) => {
      const atMs = Date.parse(started_at);
      return atMs >= fromMs && atMs <= toMs;
    });
    const nowX = xOf(nowMs);
    const flags = flagsOf(inView, xOf, width);
    this.#drawAlerts(flags, data, height);
    const isCovered = flags.some((flag) => {
      const length = flagText(flag).length * FLAG_CHARACTER + NOW_WIDTH;
      return flag.room < 0
        ? nowX > flag.x - length && nowX < flag.x
        : nowX > flag.x - NOW_WIDTH && nowX < flag.x + length;
    });
    set(this.#now.lastElementChild ?? this.#now, { hidden: isCovered });
    placeLine(this.#now, nowX, height, nowX > width - NOW_WIDTH);
    this.#drawAxis(data, width, height);
    const told = [count(visible.length, 'event'), count(inView.length, 'alert')].join(', ');
    set(this.element, {
      'aria-label': `Timeline: ${told}. Arrow keys lead from event to event; they are listed below.`,
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

  #drawAlerts(flags: readonly Flag[], { chosenAlert, nowMs }: LanesData, height: number): void {
    const lines = flags.flatMap((flag) => flag.alerts.map((alert, index) => ({ alert, flag, index })));
    patch(this.#alerts, lines, {
      key: ({ alert }) => alert.id,
      make: () =>
        svg(
          'g',
          { role: 'button', tabindex: 0 },
          svg('line', { y1: FLAG_Y - 9 }),
          svg('text', { y: FLAG_Y }),
        ),
      update: (line, { alert, flag, index }) => {
        const { id, status, started_at, title } = alert;
        set(line, {
          class: `${status}${id === chosenAlert ? ' chosen' : ''}`,
          'data-alerts': flag.alerts.map((each) => each.id).join(' '),
          'aria-label': `Alert ${isolated(title)}, ${status}, began ${clockTime(Date.parse(started_at), nowMs)}`,
          'aria-pressed': id === chosenAlert ? 'true' : 'false',
        });
        placeLine(line, flag.x, height, flag.room < 0);
        const text = line.lastElementChild;
        if (text !== null) setText(text, index === 0 ? flagText(flag) : '');
      },
    });
  }

  #drawAxis({ fromMs, toMs }: LanesData, width: number, height: number): void {
    const most = Math.max(2, Math.floor(width / STEP_WIDTH));
    const step = (STEPS.find((seconds) => (toMs - fromMs) / 1000 / seconds <= most) ?? 86_400) * 1000;
    patch(this.#axis, axisTimes(fromMs, toMs, step), {
      key: ([at, said]) => `${at} ${said}`,
      make: ([, said]) => {
        const text = svg('text', { y: AXIS_Y });
        text.textContent = said;
        return svg('g', {}, svg('line', { y1: TOP }), text);
      },
      update: (tick, [at]) => {
        const x = ((at - fromMs) / (toMs - fromMs)) * width;
        set(tick, { transform: `translate(${x.toFixed(1)} 0)` });
        const [line, text] = tick.children;
        if (line !== undefined) set(line, { y2: height });
        // One that would be cut off at the edge is left out.
        if (text !== undefined) set(text, { hidden: x < TICK_WIDTH || x > width - TICK_WIDTH });
      },
    });
  }

  #choose(target: EventTarget | null): void {
    if (!(target instanceof Element)) return;
    const key = keyAt(target);
    const alerts = target.closest('[data-alerts]')?.getAttribute('data-alerts');
    const crowd = target.closest('[data-crowd]')?.getAttribute('data-crowd');
    if (key !== undefined) this.#listener.onChoose(key);
    else if (alerts != null) this.#listener.onAlert(alerts.split(' '));
    else if (crowd != null) this.#listener.onCrowd(crowd as EventType);
    else this.#listener.onNothing();
  }

  #press(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!(target instanceof Element)) return;
    if (key === 'Enter' || key === ' ') {
      event.preventDefault();
      return this.#choose(target);
    }
    if (keyAt(target) === undefined) return;
    const next =
      key === 'ArrowRight' || key === 'ArrowDown'
        ? target.nextElementSibling
        : key === 'ArrowLeft' || key === 'ArrowUp'
          ? target.previousElementSibling
          : key === 'Home'
            ? this.#bars.firstElementChild
            : key === 'End'
              ? this.#bars.lastElementChild
              : null;
    if (!(next instanceof SVGElement)) return;
    event.preventDefault();
    next.focus();
  }

  #rove(bar: Element): void {
    for (const other of this.#bars.querySelectorAll('[tabindex="0"]')) set(other, { tabindex: -1 });
    set(bar, { tabindex: 0 });
  }
}

function keyAt(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element)) return undefined;
  return target.closest('[data-key]')?.getAttribute('data-key') ?? undefined;
}

function placeLine(line: Element, x: number, height: number, isTextBefore: boolean): void {
  set(line, { transform: `translate(${x.toFixed(1)} 0)` });
  const [stroke, text] = line.children;
  if (stroke !== undefined) set(stroke, { y2: height });
  if (text === undefined) return;
  set(text, { x: isTextBefore ? -5 : 5, 'text-anchor': isTextBefore ? 'end' : 'start' });
}
