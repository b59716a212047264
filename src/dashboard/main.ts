/** The page: which view is shown, and when it is brought up to date. */
import { api, storedKey, storeKey } from './api.ts';
import { lasting, nowMs } from './clock.ts';
import { h, set, setText } from './dom.ts';
import { Feed } from './feed.ts';
import { Needs } from './needs.ts';
import { sentence } from './parts.ts';
import { PageStore, type TableName } from './store.ts';
import { addressOf, type Page, type Route, routeOf, type View } from './view.ts';
import { agentView } from './views/agent.ts';
import { agentsView } from './views/agents.ts';
import { alertView } from './views/alert.ts';
import { alertsView } from './views/alerts.ts';
import { integrationsView } from './views/integrations.ts';
import { loginView } from './views/login.ts';
import { serviceView } from './views/service.ts';
import { servicesView } from './views/services.ts';

interface Section {
  readonly name: string;
  readonly title: string;
  readonly list: (page: Page, root: HTMLElement, route: Route) => View;
  readonly one?: (page: Page, root: HTMLElement, route: Route) => View;
}

const SECTIONS: readonly [Section, ...Section[]] = [
  { name: 'services', title: 'Services', list: servicesView, one: serviceView },
  { name: 'agents', title: 'Agents', list: agentsView, one: agentView },
  { name: 'alerts', title: 'Alerts', list: alertsView, one: alertView },
  { name: 'integrations', title: 'Integrations', list: integrationsView },
];

/** Often enough to be at once, seldom enough for thousands of events a second. */
const UPDATE_EVERY_MS = 150;
/** An update is followed by so many times its length without one: the page is to be used meanwhile. */
const REST = 4;
const TICK_MS = 1000;
/** What the head of the page shows. */
const HEAD_READS: readonly TableName[] = ['alerts'];

const CONNECTION: Readonly<Record<string, string>> = {
  connecting: 'Connecting…',
  busy: 'The server is busy; still loading…',
  live: 'Live',
  lost: 'Connection lost; trying again…',
};

const store = new PageStore();
const needs = new Needs({ store, client: api, nowMs });
const feed = new Feed({ store, needs, client: api, nowMs, onMistake: reportError });
const page: Page = { store, feed, needs, client: api };

const main = find('main');
const nav = find('nav');
const connection = find('.connection');
const asOf = find('#as-of');
const reconnect = find('#reconnect');
const problem = find('#problem');
const leave = find('#leave');
const firingCount = h('span', { class: 'firing-count', hidden: true });
let view: View | undefined;
let stopListening = () => {};
let stopWatching = () => {};
let isDue = false;
let updateTookMs = 0;

function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
}

function use(next: View): void {
  view = next;
  stopListening();
  stopListening = store.onChange([...new Set([...HEAD_READS, ...next.reads])], changed);
  update();
}

function show(): void {
  const route = routeOf(location.hash);
  const section = SECTIONS.find(({ name }) => name === route.parts[0]) ?? SECTIONS[0];
  nav.replaceChildren(
    ...SECTIONS.map(({ name, title }) =>
      h(
        'a',
        { href: addressOf([name]), 'aria-current': name === section.name ? 'page' : undefined },
        title,
        name === 'alerts' && firingCount,
      ),
    ),
  );
  // Of its own: what comes too late for a view, or is listened for by it, ends with it.
  const root = h('div');
  main.replaceChildren(root);
  const isOne = section.name === route.parts[0] && route.parts.length > 1 && section.one !== undefined;
  use((isOne ? section.one : section.list)(page, root, route));
}

function update(): void {
  const isIn = !nav.hidden;
  const state = isIn ? store.text('connection') : '';
  const failure = state === 'failed' ? store.text('problem') : '';
  setText(connection, CONNECTION[state] ?? '');
  set(connection, { 'data-state': state });
  reconnect.hidden = state !== 'lost';
  asOf.hidden = state !== 'lost';
  setText(asOf, `as of ${lasting(store.number('lostAtMs'), nowMs())} ago`);
  problem.hidden = failure === '';
  setText(problem, failure === '' ? '' : `${sentence(failure)} It is tried again.`);
  set(main, { 'data-state': state });
  view?.update();
  const firing = isIn ? store.count('alertsByStatus', 'firing') : 0;
  setText(firingCount, String(firing));
  firingCount.hidden = firing === 0;
  const title = isIn && view !== undefined ? `${view.title()} · Foreshock` : 'Foreshock';
  document.title = firing === 0 ? title : `(${firing}) ${title}`;
}

function changed(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(
    () => {
      isDue = false;
      const sinceMs = nowMs();
      update();
      updateTookMs = nowMs() - sinceMs;
    },
    Math.max(UPDATE_EVERY_MS, REST * updateTookMs),
  );
}

function askForKey(refusal: string): void {
  stopWatching();
  feed.end();
  storeKey(null);
  nav.hidden = true;
  leave.hidden = true;
  main.replaceChildren();
  use(loginView(main, refusal, enter));
}

/** @param isNew nobody has been let in with this key before */
function enter(isNew = true): void {
  nav.hidden = false;
  leave.hidden = false;
  let isLetIn = !isNew;
  stopWatching();
  stopWatching = store.onChange([], () => {
    isLetIn ||= store.text('connection') === 'live';
  });
  feed.begin((status, detail) => {
    if (status === 403) askForKey('That is an ingest key: this page needs a read-only one.');
    else if (isLetIn) askForKey('The key is not valid any more: it was revoked.');
    else askForKey(sentence(detail));
  });
  show();
}

leave.addEventListener('click', () => askForKey(''));
reconnect.addEventListener('click', () => feed.reconnect());
setInterval(update, TICK_MS);
find('.skip').addEventListener('click', (event) => {
  // An address of this page is that of a view.
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => {
  if (storedKey() === null) return;
  show();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
if (storedKey() === null) askForKey('');
else enter(false);
