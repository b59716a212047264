/** One service: its time as a picture and as a list, and what an alert may be due to. */
import { ago, clockTime, nowMs, span } from '../clock.ts';
import { foreign, h, patch, set, setText } from '../dom.ts';
import { needAlert, needHistory, needService } from '../feed.ts';
import type { Alert, Candidate, ServiceEvent } from '../model.ts';
import { copyButton, emptyState, eventText, stateBadge, typeBadge } from '../parts.ts';

import { all, eventsOf, get } from '../store.ts';
import { addressOf, keepInAddress, type Route, type View } from '../view.ts';
import { candidateList } from './candidates.ts';
import { Lanes } from './lanes.ts';

const SPANS_SECONDS = [900, 3600, 6 * 3600, 24 * 3600];
const DEFAULT_SPAN_SECONDS = 3600;
const MAX_SPAN_SECONDS = 7 * 86_400;
const MIN_SPAN_SECONDS = 60;
/** How much of the picture lies ahead: what is live is seen to end. */
const AHEAD = 0.12;
const LISTED = 50;

export function serviceView(root: HTMLElement, { parts, query }: Route): View {
  const id = parts[1] ?? '';
  let spanSeconds = Number(query.get('span')) || DEFAULT_SPAN_SECONDS;
  /** The right edge, where it does not follow the present. */
  let toMs = Date.parse(query.get('to') ?? '') || undefined;
  let alertId = query.get('alert') ?? undefined;
  /** Until somebody chooses, the alert that fires is what one has come for. */
  let isAlertChosen = alertId !== undefined;
  let chosenKey: string | undefined;

  const name = h('h1', {});
  const fire = h('span', { class: 'state firing', hidden: true }, 'firing');
  const alertsHeading = h('h2', {}, 'Alerts');
  const lanes = new Lanes((key, isChosen) => {
    if (key === undefined && !isChosen) return;
    chosenKey = key;
    update();
  });
  const details = h('div', { class: 'details', 'aria-live': 'polite' });
  const alerts = h('ul', { class: 'rows alerts', 'aria-label': 'Alerts of this service' });
  const causes = h('section', { class: 'causes', 'aria-labelledby': 'causes-heading' });
  const events = h('ol', { class: 'rows events', 'aria-label': 'Events in view, newest first' });
  const nothing = emptyState(
    'Nothing in this span',
    'Nothing was reported of this service here. Zoom out to see more.',
  );
  const button = (text: string, label: string, click: () => void) =>
    h('button', { type: 'button', class: 'quiet', 'aria-label': label, click }, text);
  const follow = button('Now', 'Now: follow the present', () => move(spanSeconds, undefined));
  const spans = SPANS_SECONDS.map((seconds) =>
    button(span(seconds), `${span(seconds)} in view`, () => move(seconds, toMs)),
  );
  const zoom = (factor: number) => () => move(spanSeconds * factor, toMs);
  const shift = (part: number) => () => move(spanSeconds, right() + part * spanSeconds * 1000);
  const group = (...buttons: readonly HTMLElement[]) => h('div', { class: 'joined' }, ...buttons);
  root.append(
    h('p', { class: 'crumbs' }, h('a', { href: '#/services' }, 'Services')),
    h('div', { class: 'bar' }, name, fire, copyButton('Copy link', link)),
    h(
      'div',
      { class: 'tools', role: 'group', 'aria-label': 'Span of time' },
      group(...spans),
      group(button('−', 'Zoom out', zoom(2)), button('+', 'Zoom in', zoom(0.5))),
      group(button('‹', 'Earlier', shift(-0.5)), follow, button('›', 'Later', shift(0.5))),
    ),
    h('div', { class: 'picture' }, lanes.element),
    details,
    causes,
    alertsHeading,
    alerts,
    h('h2', {}, 'Events in view'),
    events,
    nothing,
  );
  lanes.element.addEventListener(
    'wheel',
    (event) => {
      if (!(event instanceof WheelEvent) || !event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8)();
    },
    { passive: false },
  );
  needService(id);
  if (alertId !== undefined) needAlert(alertId);

  function right(): number {
    return toMs ?? nowMs() + AHEAD * spanSeconds * 1000;
  }

  function move(seconds: number, to: number | undefined): void {
    spanSeconds = Math.min(MAX_SPAN_SECONDS, Math.max(MIN_SPAN_SECONDS, Math.round(seconds)));
    toMs = to;
    remember();
    update();
  }

  function addressAt(to: number | undefined): Record<string, string> {
    return {
      span: String(spanSeconds),
      ...(to !== undefined && { to: new Date(to).toISOString() }),
      ...(alertId !== undefined && { alert: alertId }),
    };
  }

  function remember(): void {
    keepInAddress(['services', id], addressAt(toMs));
  }

  /** Leads a colleague to what is seen here now, also when that is past. */
  function link(): string {
    return new URL(addressOf(['services', id], addressAt(right())), location.href).href;
  }

  function choose(alert: Alert): void {
    isAlertChosen = true;
    alertId = alertId === alert.id ? undefined : alert.id;
    if (alertId !== undefined) needAlert(alertId);
    remember();
    update();
  }

  function update(): void {
    const service = get('services', id);
    if (service !== undefined) needHistory(service);
    const now = nowMs();
    name.replaceChildren(foreign(service?.name ?? 'Service'));
    const to = right();
    const from = to - spanSeconds * 1000;
    const known = eventsOf(id);
    const ours = all('alerts')
      .filter(({ service_id }) => service_id === id)
      .sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
    const firing = ours.find(({ status }) => status === 'firing');
    if (!isAlertChosen && firing !== undefined && alertId === undefined) {
      alertId = firing.id;
      needAlert(firing.id);
    }
    fire.hidden = firing === undefined;
    const chosen = ours.find((alert) => alert.id === alertId);
    const { ranks, others } = candidatesAmong(known, chosen?.candidates ?? []);
    lanes.draw({
      events: [...known, ...others],
      service: service?.name,
      alerts: ours,
      fromMs: from,
      toMs: to,
      nowMs: now,
      ranks,
      chosenAlert: chosen?.id,
    });
    for (const [index, each] of spans.entries()) {
      set(each, { 'aria-pressed': SPANS_SECONDS[index] === spanSeconds ? 'true' : 'false' });
    }
    set(follow, { 'aria-pressed': toMs === undefined ? 'true' : 'false' });
    showDetails(
      details,
      [...known, ...others].find(({ key }) => key === chosenKey),
      now,
    );
    showCauses(causes, chosen, now);
    alertsHeading.hidden = ours.length === 0;
    patch(alerts, ours, {
      key: (alert) => `${alert.id} ${alert.status}`,
      make: (alert) =>
        h(
          'li',
          { class: alert.status },
          h(
            'button',
            { type: 'button', class: 'row', click: () => choose(alert) },
            h('span', { class: 'name' }, foreign(alert.title)),
            stateBadge(alert.status),
            h('span', { class: 'when' }),
          ),
        ),
      update: (row, alert) => {
        set(row.firstElementChild ?? row, { 'aria-pressed': alert.id === alertId ? 'true' : 'false' });
        const when = row.querySelector('.when');
        if (when !== null) setText(when, ago(Date.parse(alert.started_at), now));
      },
    });
    const inView = known
      .filter(({ fromMs, untilMs }) => untilMs > from && fromMs < to)
      .sort((a, b) => b.fromMs - a.fromMs);
    patch(events, inView.slice(0, LISTED), {
      key: ({ key }) => key,
      make: makeEvent,
      update: (row, event) => {
        const isOver = event.untilMs <= now;
        set(row, { class: isOver ? 'over' : undefined });
        const when = row.querySelector('.when');
        const until = isOver ? 'expired' : `until ${clockTime(event.untilMs, now)}`;
        if (when !== null) setText(when, `${ago(event.fromMs, now)}, ${until}`);
      },
    });
    nothing.hidden = inView.length > 0;
  }

  return { title: 'Service', update };
}

/** Of the candidates those that are known, by rank; and those of other services, which are shown beside them. */
function candidatesAmong(events: readonly ServiceEvent[], candidates: readonly Candidate[]) {
  const ranks = new Map<string, number>();
  const others: ServiceEvent[] = [];
  for (const [index, { event }] of candidates.entries()) {
    // By what both agree on, as all is that comes without an id.
    const same = events.find(
      (each) =>
        (each.id !== undefined && each.id === event.id) ||
        (each.event_type === event.event_type &&
          each.entity === event.entity &&
          each.timestamp === event.timestamp &&
          each.expires_at === event.expires_at),
    );
    const key = same?.key ?? `candidate ${event.id ?? index}`;
    if (same === undefined) {
      const fromMs = Date.parse(event.received_at ?? event.timestamp);
      others.push({ ...event, key, service_id: '', fromMs, untilMs: Date.parse(event.expires_at) });
    }
    if (!ranks.has(key)) ranks.set(key, index + 1);
  }
  return { ranks, others };
}

function makeEvent(event: ServiceEvent): Element {
  return h(
    'li',
    {},
    typeBadge(event.event_type),
    eventText(event),
    h('span', { class: 'by' }, foreign(event.actor ?? event.vendor)),
    h('span', { class: 'when' }),
  );
}

function showDetails(container: HTMLElement, event: ServiceEvent | undefined, now: number): void {
  container.hidden = event === undefined;
  if (event === undefined || container.dataset['key'] === event.key) return;
  container.dataset['key'] = event.key;
  const fact = (term: string, value: string | null) =>
    value === null ? [] : [h('dt', {}, term), h('dd', {}, foreign(value))];
  container.replaceChildren(
    typeBadge(event.event_type),
    eventText(event),
    h(
      'dl',
      {},
      ...fact('vendor', event.vendor),
      ...fact('by', event.actor),
      ...fact('revision', event.sha),
      ...fact('confidence', String(event.confidence)),
      ...fact('happened', clockTime(Date.parse(event.timestamp), now)),
      ...fact('relevant until', clockTime(event.untilMs, now)),
    ),
  );
}

function showCauses(container: HTMLElement, alert: Alert | undefined, now: number): void {
  container.hidden = alert === undefined;
  if (alert === undefined) return;
  const version = JSON.stringify([alert.id, alert.status, alert.candidates]);
  if (container.dataset['version'] === version) return;
  container.dataset['version'] = version;
  const began = Date.parse(alert.started_at);
  const at = `${alert.status === 'firing' ? 'Fires' : 'Fired'} since ${clockTime(began, now)}. `;
  container.replaceChildren(
    h('h2', { id: 'causes-heading' }, 'What changed before ', foreign(alert.title)),
    h('p', { class: 'facts' }, at, h('a', { href: addressOf(['alerts', alert.id]) }, 'All of this alert')),
    candidateList(alert.candidates ?? [], alert.service),
  );
}
