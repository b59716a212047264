/** One service: its time as a picture and as a list, and what an alert may be due to. */
import { ago, clockTime, nowMs, span } from '../clock.ts';
import { foreign, h, patch, set, setText } from '../dom.ts';
import { needAlert, needHistory, needService } from '../feed.ts';
import type { Alert, Candidate, ServiceEvent } from '../model.ts';
import { emptyState, eventText, stateBadge, typeBadge } from '../parts.ts';
import { all, eventsOf, get } from '../store.ts';
import { addressOf, keepInAddress, type Route, type View } from '../view.ts';
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
  let chosenKey: string | undefined;

  const name = h('h1', {});
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
  const follow = h(
    'button',
    { type: 'button', class: 'quiet', click: () => move(spanSeconds, undefined) },
    'Now',
  );
  const spans = SPANS_SECONDS.map((seconds) =>
    h('button', { type: 'button', class: 'quiet', click: () => move(seconds, toMs) }, span(seconds)),
  );
  const zoom = (factor: number) => () => move(spanSeconds * factor, toMs);
  const shift = (part: number) => () => move(spanSeconds, right() + part * spanSeconds * 1000);
  const button = (text: string, label: string, click: () => void) =>
    h('button', { type: 'button', class: 'quiet', 'aria-label': label, click }, text);
  root.append(
    h('p', { class: 'crumbs' }, h('a', { href: '#/services' }, 'Services'), ' /'),
    h('div', { class: 'bar' }, name),
    h(
      'div',
      { class: 'tools', role: 'group', 'aria-label': 'Span of time' },
      button('‹', 'Earlier', shift(-0.5)),
      ...spans,
      button('−', 'Zoom out', zoom(2)),
      button('+', 'Zoom in', zoom(0.5)),
      button('›', 'Later', shift(0.5)),
      follow,
    ),
    h('div', { class: 'picture' }, lanes.element),
    details,
    causes,
    h('h2', {}, 'Alerts'),
    alerts,
    h('h2', {}, 'Events'),
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

  /** The address leads a colleague to what is seen here. */
  function remember(): void {
    keepInAddress(['services', id], {
      span: String(spanSeconds),
      ...(toMs !== undefined && { to: new Date(toMs).toISOString() }),
      ...(alertId !== undefined && { alert: alertId }),
    });
  }

  function choose(alert: Alert): void {
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
    const chosen = ours.find((alert) => alert.id === alertId);
    const ranks = ranksOf(chosen?.candidates ?? [], known);
    lanes.draw({
      events: known,
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
      known.find(({ key }) => key === chosenKey),
      now,
    );
    showCauses(causes, chosen, now);
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

/** Candidates are told by what an event and they agree on, as all is that comes without an id. */
function ranksOf(candidates: readonly Candidate[], events: readonly ServiceEvent[]): Map<string, number> {
  const ranks = new Map<string, number>();
  for (const [index, { event }] of candidates.entries()) {
    const same = events.find(
      (each) =>
        (each.id !== undefined && each.id === event.id) ||
        (each.event_type === event.event_type &&
          each.entity === event.entity &&
          each.timestamp === event.timestamp &&
          each.expires_at === event.expires_at),
    );
    if (same !== undefined && !ranks.has(same.key)) ranks.set(same.key, index + 1);
  }
  return ranks;
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
  const heading = h('h2', { id: 'causes-heading' }, 'What changed before ', foreign(alert.title));
  const at = `${alert.status === 'firing' ? 'Firing' : 'Resolved'}; began ${clockTime(Date.parse(alert.started_at), now)}.`;
  container.replaceChildren(
    heading,
    h('p', {}, at, ' ', h('a', { href: addressOf(['alerts', alert.id]) }, 'All of this alert')),
    candidateList(alert.candidates ?? []),
  );
}

export function candidateList(candidates: readonly Candidate[]): HTMLElement {
  if (candidates.length === 0) return h('p', {}, 'Nothing is known to have changed before it.');
  return h(
    'ol',
    { class: 'rows candidates', 'aria-label': 'Candidates, the likeliest first' },
    ...candidates.map(({ event, score, reasons, minutes_before, occurrences }) =>
      h(
        'li',
        {},
        h('span', { class: 'score', title: 'score' }, score.toFixed(2)),
        typeBadge(event.event_type),
        h('span', {}, foreign(event.service_name, 'entity'), ': ', eventText(event)),
        h(
          'span',
          { class: 'reasons' },
          ...reasons.map((reason) => h('span', {}, reason.replaceAll('_', ' '))),
        ),
        h(
          'span',
          { class: 'when' },
          `${minutes_before} min before${occurrences > 1 ? `, ${occurrences} times` : ''}`,
        ),
      ),
    ),
  );
}
