/** One service: its time as a picture and as a list, and what an alert may be due to. */
import { clockTime, nowMs } from '../clock.ts';
import { foreign, h, patch, setText } from '../dom.ts';
import type { Alert, EventType, ServiceEvent } from '../model.ts';
import { copyButton, emptyState, missing, moreButton, sentence, showMore } from '../parts.ts';
import { addressOf, keepInAddress, type Page, type Route, type View } from '../view.ts';
import { AlertChoice } from './alert-choice.ts';
import { Causes } from './causes.ts';
import { EventDetails } from './event-details.ts';
import { makeEvent, updateEvent } from './event-rows.ts';
import { listenForGestures } from './gestures.ts';
import { Lanes } from './lanes.ts';
import { candidatesAmong, type Marked } from './marked-candidates.ts';
import { TimeSpan } from './time-span.ts';
import { TimeTools } from './time-tools.ts';

const LISTED = 50;
const REMEMBER_AFTER_MS = 150;

/** What there is to be seen, wherever it is. */
interface Shown {
  readonly known: readonly ServiceEvent[];
  readonly alert: Alert | undefined;
  readonly marked: Marked;
}

export function serviceView(page: Page, root: HTMLElement, { parts, query }: Route): View {
  const { store, needs } = page;
  const id = parts[1] ?? '';
  const time = new TimeSpan(query);
  let alertId = query.get('alert') ?? undefined;
  /** Until somebody chooses, the alert that fires is what one has come for. */
  let isAlertChosen = alertId !== undefined;
  /** Of an alert that was come for or chosen, until its candidates are known: they are to be in view. */
  let isToFrame = isAlertChosen && !query.has('to');
  let pointedKey: string | undefined;
  let chosenKey: string | undefined;
  let listed = LISTED;
  const wide = new Set<EventType>();

  const name = h('h1', {});
  const fire = h('span', { class: 'state firing', hidden: true }, 'firing');
  const problem = h('p', { class: 'problem', role: 'alert' });
  const lanes = new Lanes({
    onPoint: (key) => {
      if (key === pointedKey) return;
      pointedKey = key;
      showDetails();
    },
    onChoose: (key) => choose(chosenKey === key ? undefined : key),
    onAlert: (ids) => chooseAlert(ids[(ids.indexOf(alertId ?? '') + 1) % ids.length] ?? ''),
    onCrowd: (type) => {
      if (!wide.delete(type)) wide.add(type);
      update();
    },
    onNothing: () => choose(undefined),
  });
  const details = new EventDetails();
  const picture = h('div', { class: 'picture' }, lanes.element, details.element);
  const older = h('p', { class: 'facts', hidden: true });
  const olderText = h('span', {});
  const olderButton = h(
    'button',
    { type: 'button', class: 'quiet', click: () => needs.older(id) },
    'Load older',
  );
  older.append(olderText, olderButton);
  const causes = new Causes(page, (index) => {
    // As it is by then: more may be known of it.
    const event = shown().marked.events[index];
    if (event !== undefined) reveal(event);
  });
  const events = h('ol', { class: 'rows events', 'aria-label': 'Events in view, newest first' });
  const more = moreButton(() => {
    listed += 4 * LISTED;
    update();
  });
  const loading = h('p', { class: 'facts', role: 'status' });
  const nothing = emptyState(
    'Nothing in this span',
    'Nothing was reported of this service here. Zoom out to see more.',
  );
  const nothingKnown = missing('There is no such service', '#/services', 'All services');
  let isDue = false;
  let rememberTimer: ReturnType<typeof setTimeout> | undefined;
  /** As often as it can be seen; browsers take an address less often than a finger moves. */
  const moved = () => {
    clearTimeout(rememberTimer);
    rememberTimer = setTimeout(() => {
      if (root.isConnected) remember();
    }, REMEMBER_AFTER_MS);
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (root.isConnected) update();
    });
  };
  const tools = new TimeTools(time, zoomPlace, moved);
  const alerts = new AlertChoice(chooseAlert);
  const content = h(
    'div',
    {},
    h('div', { class: 'bar' }, name, fire, copyButton('Copy link', link)),
    tools.element,
    problem,
    picture,
    older,
    causes.element,
    alerts.element,
    h('h2', {}, 'Events in view'),
    loading,
    events,
    more,
    nothing,
  );
  root.append(h('p', { class: 'crumbs' }, h('a', { href: '#/services' }, 'Services')), content);
  listenForGestures(lanes.element, {
    width: () => lanes.element.clientWidth || 1,
    pan: (widths) => {
      time.pan(widths);
      moved();
    },
    zoom: (factor, about) => {
      time.zoom(factor, about);
      moved();
    },
  });
  const unchoose = (event: KeyboardEvent) => {
    if (!root.isConnected) return document.removeEventListener('keydown', unchoose);
    if (event.key !== 'Escape') return;
    pointedKey = undefined;
    choose(undefined);
  };
  document.addEventListener('keydown', unchoose);

  /** What one looks at stays where it is: the alert, where there is one in view. */
  function zoomPlace(): number {
    const alert = alertId === undefined ? undefined : store.get('alerts', alertId);
    const place =
      alert === undefined ? Number.NaN : (Date.parse(alert.started_at) - time.leftMs) / (time.seconds * 1000);
    return place >= 0 && place <= 1 ? place : 0.5;
  }

  function addressAt(toMs: number | undefined): Record<string, string> {
    return {
      span: String(time.seconds),
      ...(toMs !== undefined && { to: new Date(toMs).toISOString() }),
      ...(alertId !== undefined && { alert: alertId }),
    };
  }

  function remember(): void {
    keepInAddress(['services', id], addressAt(time.toMs));
  }

  /** Leads a colleague to what is seen here now, also when that is past. */
  function link(): string {
    return new URL(addressOf(['services', id], addressAt(time.rightMs)), location.href).href;
  }

  function chooseAlert(chosen: string): void {
    isAlertChosen = true;
    alertId = alertId === chosen ? undefined : chosen;
    isToFrame = alertId !== undefined;
    remember();
    update();
  }

  function choose(key: string | undefined): void {
    chosenKey = key;
    update();
  }

  /** Shows an event's bar, wherever it is. */
  function reveal(event: ServiceEvent): void {
    chosenKey = event.key;
    pointedKey = undefined;
    wide.add(event.event_type);
    if (event.fromMs < time.leftMs || event.fromMs > time.rightMs) {
      time.pan((event.fromMs - (time.leftMs + time.rightMs) / 2) / (time.seconds * 1000));
      remember();
    }
    update();
    picture.scrollIntoView({ block: 'nearest' });
  }

  function shown(): Shown {
    const known = store.where('eventsByService', id);
    const alert = alertId === undefined ? undefined : store.get('alerts', alertId);
    return { known, alert, marked: candidatesAmong(known, alert?.candidates ?? [], serviceName()) };
  }

  function serviceName(): string | undefined {
    return store.get('services', id)?.name;
  }

  function showDetails(now = shown()): void {
    const key = pointedKey ?? chosenKey;
    const bar = key === undefined ? undefined : lanes.barOf(key);
    const { known, alert, marked } = now;
    const event = [...known, ...marked.others].find((each) => each.key === key);
    if (bar === undefined || event === undefined) return details.hide();
    const rank = marked.ranks.get(event.key);
    const candidate = rank === undefined ? undefined : alert?.candidates?.[rank - 1];
    details.show(event, {
      nowMs: nowMs(),
      service: serviceName(),
      agentName: (agentId) => store.get('agents', agentId)?.name,
      candidate: rank === undefined || candidate === undefined ? undefined : { rank, candidate },
    });
    details.placeAt(bar, picture);
  }

  function update(): void {
    const service = store.get('services', id);
    const window = needs.load('window', id);
    const isMissing = service === undefined && window?.state === 'missing';
    content.hidden = isMissing;
    if (isMissing) root.append(nothingKnown);
    else nothingKnown.remove();
    needs.past(id, time.leftMs);
    if (service !== undefined) needs.alertsOf(service);
    if (isMissing) return;
    const now = nowMs();
    if (name.textContent !== (service?.name ?? 'Service')) {
      name.replaceChildren(foreign(service?.name ?? 'Service'));
    }
    const ours = store.where('alertsByService', id).sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
    const firing = ours.find(({ status }) => status === 'firing');
    if (!isAlertChosen && firing !== undefined && alertId === undefined) {
      alertId = firing.id;
      // Whoever looks at another time has chosen that.
      isToFrame = time.isFollowing;
    }
    if (alertId !== undefined) needs.alert(alertId);
    const all = shown();
    const { known, alert, marked } = all;
    if (isToFrame && alert?.candidates !== undefined) {
      isToFrame = false;
      time.frame(alert, !query.has('span'));
      remember();
    }
    fire.hidden = firing === undefined;
    const { leftMs, rightMs } = time;
    const drawn = alert === undefined || ours.includes(alert) ? ours : [alert, ...ours];
    lanes.draw({
      events: [...known, ...marked.others],
      service: service?.name,
      alerts: drawn,
      fromMs: leftMs,
      toMs: rightMs,
      nowMs: now,
      ranks: marked.ranks,
      chosenAlert: alert?.id,
      chosenEvent: chosenKey,
      wide,
    });
    showDetails(all);
    tools.update();
    updateLoads(now);
    causes.show(alert, now);
    alerts.show(drawn, alertId, now);
    const inView = known
      .filter(({ fromMs, untilMs }) => untilMs > leftMs && fromMs < rightMs)
      .sort((a, b) => b.fromMs - a.fromMs);
    patch(events, inView.slice(0, listed), {
      key: ({ key }) => key,
      make: (event) => makeEvent(event, () => reveal(event)),
      update: (row, event) => updateEvent(row, event, event.key === chosenKey, now),
    });
    showMore(more, inView.length - listed);
    nothing.hidden = inView.length > 0 || window?.state !== 'loaded';
  }

  function updateLoads(now: number): void {
    const loads = [needs.load('window', id), needs.load('past', id)];
    const failed = loads.find((load) => load?.state === 'failed');
    const isLoading = loads.some((load) => load === undefined || load.state === 'loading');
    const isAlertMissing = alertId !== undefined && needs.load('alert', alertId)?.state === 'missing';
    const problems = isAlertMissing ? ['There is no such alert.'] : [];
    if (failed !== undefined) problems.push(sentence(`not all events could be loaded: ${failed.detail}`));
    setText(problem, problems.join(' '));
    setText(loading, isLoading ? 'Loading…' : '');
    const past = store.get('pasts', id);
    const isCut = past?.before != null && past.oldestMs !== undefined && past.oldestMs > time.leftMs;
    older.hidden = !isCut || isLoading;
    if (!isCut) return;
    const said = `What expired before ${clockTime(past.oldestMs, now)} is not loaded`;
    setText(olderText, past.isFull ? `${said}: it is too much to be shown.` : `${said}. `);
    olderButton.hidden = past.isFull;
  }

  return {
    title: () => serviceName() ?? 'Service',
    reads: ['services', 'events', 'alerts', 'agents', 'loads', 'pasts'],
    update,
  };
}
