/** All agents: live or silent, and how busy they have been. */
import { ago, nowMs } from '../clock.ts';
import { foreign, h, patch, set, setText, svg } from '../dom.ts';
import type { Agent } from '../model.ts';
import { count, curlEvent, emptyState, moreButton, searchField, showMore } from '../parts.ts';
import { addressOf, type Page, type Route, type View } from '../view.ts';

const MINUTES = 60;
/** Of the sparkline, each of so many minutes. */
const BAR_MINUTES = 3;
const BARS = MINUTES / BAR_MINUTES;
const HEIGHT = 16;
const ROWS = 100;

export function agentsView({ store, needs }: Page, root: HTMLElement, { query }: Route): View {
  let shown = ROWS;
  const search = searchField('agents', 'Search agents', query, () => {
    shown = ROWS;
    update();
  });
  const summary = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows agents', 'aria-label': 'Agents' });
  const more = moreButton(() => {
    shown += 2 * ROWS;
    update();
  });
  const empty = emptyState(
    'No agent is registered',
    'An agent is a process that holds an ingest key (keys create --kind ingest):',
    curlEvent(),
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Agents'), search, summary), list, more, empty);

  function update(): void {
    const now = nowMs();
    const agents = store.all('agents');
    const wanted = search.value.trim().toLowerCase();
    const found = agents
      .filter(({ name, hostname }) => `${name}\n${hostname}`.toLowerCase().includes(wanted))
      .sort(
        (a, b) => (a.status === b.status ? 0 : a.status === 'stale' ? -1 : 1) || a.name.localeCompare(b.name),
      );
    const stale = agents.filter(({ status }) => status === 'stale').length;
    const isLoading = agents.length === 0 && store.text('connection') !== 'live';
    const inView = wanted === '' ? '' : `, ${found.length.toLocaleString('en')} found`;
    setText(
      summary,
      isLoading
        ? 'Loading…'
        : `${(agents.length - stale).toLocaleString('en')} live, ${stale} stale${inView}`,
    );
    showMore(more, found.length - shown);
    const visible = found.slice(0, shown);
    for (const { id } of visible) needs.activity(id);
    patch(list, visible, {
      key: ({ id, name }) => `${id} ${name}`,
      make: makeRow,
      update: (row, agent) => updateRow(row, agent, store.activity(agent.id, MINUTES, now), now),
    });
    empty.hidden = agents.length > 0 || store.text('connection') !== 'live';
  }

  return { title: () => 'Agents', reads: ['agents', 'activity', 'loads'], update };
}

function makeRow(agent: Agent): Element {
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: addressOf(['agents', agent.id]) },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      h('span', { class: 'name' }, foreign(agent.name)),
      h('span', { class: 'status' }),
      svg('svg', { class: 'spark', viewBox: `0 0 ${BARS * 4} ${HEIGHT}`, role: 'img' }),
      h('span', { class: 'lately' }),
      h('span', { class: 'when' }),
    ),
  );
}

/** @param activity events of each minute of the last hour; undefined where nobody knows yet */
function updateRow(row: Element, agent: Agent, activity: readonly number[] | undefined, now: number): void {
  const [, , state, spark, lately, when] = row.firstElementChild?.children ?? [];
  set(row, { class: agent.status });
  if (state !== undefined) setText(state, agent.status);
  if (spark !== undefined) drawSparkline(spark, activity);
  const events = activity?.reduce((sum, each) => sum + each, 0) ?? agent.events_last_hour;
  if (lately !== undefined) setText(lately, events === undefined ? '…' : `${count(events, 'event')} in 1 h`);
  if (when !== undefined) setText(when, `seen ${ago(Date.parse(agent.last_seen_at), now)}`);
}

function drawSparkline(element: Element, activity: readonly number[] | undefined): void {
  if (activity === undefined) return set(element, { 'aria-label': 'Events of the last hour: not known yet' });
  const bars = Array.from({ length: BARS }, (_, index) =>
    activity.slice(index * BAR_MINUTES, (index + 1) * BAR_MINUTES).reduce((sum, each) => sum + each, 0),
  );
  const most = Math.max(...bars);
  const events = bars.reduce((sum, each) => sum + each, 0);
  const said = `${count(events, 'event')} in the last hour, at most ${most} in ${BAR_MINUTES} minutes`;
  set(element, { 'aria-label': said });
  patch(
    element,
    bars.map((each, index) => ({ index, height: each === 0 ? 1 : 2 + ((HEIGHT - 2) * each) / most })),
    {
      key: ({ index }) => String(index),
      make: ({ index }) => svg('rect', { x: index * 4, width: 3 }),
      update: (bar, { height }) => set(bar, { y: (HEIGHT - height).toFixed(1), height: height.toFixed(1) }),
    },
  );
}
