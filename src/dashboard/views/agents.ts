/** All agents: live or silent, and how busy they have been. */
import { quietly } from '../api.ts';
import { ago, nowMs } from '../clock.ts';
import { foreign, h, patch, set, setText, svg } from '../dom.ts';
import type { Agent } from '../model.ts';
import { curlEvent, emptyState } from '../parts.ts';
import { all, getValue } from '../store.ts';
import { addressOf, type View } from '../view.ts';

const MINUTES = 60;
const BUCKETS = 20;
const ROWS = 100;

export function agentsView(root: HTMLElement): View {
  const times = new Map<string, readonly number[]>();
  const counts = new Map<string, number>();
  const summary = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows agents', 'aria-label': 'Agents' });
  let shown = ROWS;
  const more = h('button', {
    type: 'button',
    class: 'quiet more',
    click: () => {
      shown += 2 * ROWS;
      update();
    },
  });
  const empty = emptyState(
    'No agent is registered',
    'An agent is a process that holds an ingest key:',
    curlEvent(),
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Agents'), summary), list, more, empty);

  async function load(agent: Agent): Promise<void> {
    const page = await quietly((client, options) => client.showAgent(agent.id, { per_page: 100 }, options));
    times.set(
      agent.id,
      (page?.events ?? []).map(({ received_at }) => Date.parse(received_at)),
    );
    update();
  }

  function update(): void {
    const now = nowMs();
    const agents = all('agents').sort(
      (a, b) => (a.status === b.status ? 0 : a.status === 'stale' ? -1 : 1) || a.name.localeCompare(b.name),
    );
    for (const { id, events_last_hour } of agents) {
      if (events_last_hour !== undefined && !counts.has(id)) counts.set(id, events_last_hour);
    }
    const stale = agents.filter(({ status }) => status === 'stale').length;
    setText(summary, `${agents.length - stale} live, ${stale} stale; events of the last hour`);
    more.hidden = agents.length <= shown;
    setText(more, `Show more (${agents.length - shown})`);
    patch(list, agents.slice(0, shown), {
      key: ({ id, name }) => `${id} ${name}`,
      make: (agent) => {
        load(agent);
        return h(
          'li',
          {},
          h(
            'a',
            { class: 'row', href: addressOf(['agents', agent.id]) },
            h('span', { class: 'dot', 'aria-hidden': 'true' }),
            h('span', { class: 'name' }, foreign(agent.name)),
            h('span', { class: 'status' }),
            sparkline(),
            h('span', { class: 'lately' }),
            h('span', { class: 'when' }),
          ),
        );
      },
      update: (row, { id, status, last_seen_at, events_last_hour }) => {
        const [, , state, spark, lately, when] = row.firstElementChild?.children ?? [];
        set(row, { class: status });
        if (state !== undefined) setText(state, status);
        if (spark instanceof SVGElement)
          drawSparkline(spark, times.get(id) ?? [], events_last_hour ?? 0, now);
        if (lately !== undefined) setText(lately, lastHour(events_last_hour ?? 0));
        if (when !== undefined) setText(when, `seen ${ago(Date.parse(last_seen_at), now)}`);
      },
    });
    empty.hidden = agents.length > 0 || getValue('connection') !== 'live';
  }

  return { title: 'Agents', update };
}

function lastHour(count: number): string {
  return count === 1 ? '1 event' : `${count} events`;
}

function sparkline(): SVGElement {
  return svg('svg', { class: 'spark', viewBox: `0 0 ${BUCKETS * 4} 16`, role: 'img' });
}

function drawSparkline(element: SVGElement, times: readonly number[], count: number, now: number): void {
  const buckets = new Array<number>(BUCKETS).fill(0);
  for (const time of times) {
    const index = BUCKETS - 1 - Math.floor(((now - time) / 60_000 / MINUTES) * BUCKETS);
    if (index >= 0 && index < BUCKETS) buckets[index] = (buckets[index] ?? 0) + 1;
  }
  const most = Math.max(1, ...buckets);
  const heights = buckets.map((each, index) => ({
    index,
    height: each === 0 ? 1 : 2 + (14 * each) / most,
  }));
  set(element, { 'aria-label': `${lastHour(count)} in the last hour` });
  patch(element, heights, {
    key: ({ index }) => String(index),
    make: ({ index }) => svg('rect', { x: index * 4, width: 3 }),
    update: (bar, { height }) => set(bar, { y: (16 - height).toFixed(1), height: height.toFixed(1) }),
  });
}
