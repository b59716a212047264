/** The page: which view is shown, and when it is brought up to date. */
import { storedKey, storeKey } from './api.ts';
import { nowMs } from './clock.ts';
import { h, set, setText } from './dom.ts';
import { begin, end } from './feed.ts';
import { all, getValue, onChange } from './store.ts';
import { addressOf, type Route, routeOf, type View } from './view.ts';
import { agentView } from './views/agent.ts';
import { agentsView } from './views/agents.ts';
import { alertsView, alertView } from './views/alerts.ts';
import { integrationsView } from './views/integrations.ts';
import { loginView } from './views/login.ts';
import { serviceView } from './views/service.ts';
import { servicesView } from './views/services.ts';

interface Section {
  readonly name: string;
  readonly title: string;
  readonly list: (root: HTMLElement) => View;
  readonly one?: (root: HTMLElement, route: Route) => View;
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

const CONNECTION: Readonly<Record<string, string>> = {
  connecting: 'Connecting…',
  busy: 'The server is busy; still loading…',
  live: 'Live',
  lost: 'Connection lost; trying again…',
};

const main = find('main');
const nav = find('nav');
const connection = find('.connection');
const leave = find('#leave');
const firingCount = h('span', { class: 'firing-count', hidden: true });
let view: View | undefined;
let isDue = false;
let updateTookMs = 0;

function find(selector: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(selector);
  if (element === null) throw new Error(`the page has no ${selector}`);
  return element;
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
  main.replaceChildren();
  view = route.parts.length > 1 && section.one ? section.one(main, route) : section.list(main);
  update();
}

function update(): void {
  const state = nav.hidden ? '' : getValue('connection');
  setText(connection, CONNECTION[state] ?? '');
  set(connection, { 'data-state': state });
  view?.update();
  const firing = nav.hidden ? 0 : all('alerts').filter(({ status }) => status === 'firing').length;
  setText(firingCount, String(firing));
  firingCount.hidden = firing === 0;
  const title = nav.hidden || view === undefined ? 'Foreshock' : `${view.title} · Foreshock`;
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

function askForKey(problem: string): void {
  end();
  storeKey(null);
  nav.hidden = true;
  leave.hidden = true;
  main.replaceChildren();
  view = loginView(main, problem, enter);
  update();
}

function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

function enter(): void {
  nav.hidden = false;
  leave.hidden = false;
  begin((status, detail) =>
    askForKey(status === 403 ? 'A read-only key is needed: this is another.' : sentence(detail)),
  );
  show();
}

onChange(changed);
setInterval(update, TICK_MS);
leave.addEventListener('click', () => askForKey(''));
addEventListener('hashchange', () => {
  if (storedKey() === null) return;
  show();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
if (storedKey() === null) askForKey('');
else enter();
