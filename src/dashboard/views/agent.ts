/** One agent and its event log, filtered and paged by the API. */
import { ForeshockError } from '../../client/error.ts';
import type { AgentWithEvents, EventFilter, PageQuery } from '../../client/wire.ts';
import { api } from '../api.ts';
import { ago, clockTime, nowMs } from '../clock.ts';
import { foreign, h, setText } from '../dom.ts';
import { EVENT_TYPES, typeName } from '../model.ts';
import { eventText, stateBadge, typeBadge } from '../parts.ts';
import { get } from '../store.ts';
import { keepInAddress, type Route, type View } from '../view.ts';

const FILTERS = ['service', 'vendor', 'event_type', 'per_page', 'page'] as const;

export function agentView(root: HTMLElement, { parts, query }: Route): View {
  const id = parts[1] ?? '';
  const wanted = new URLSearchParams([...query].filter(([name]) => FILTERS.some((each) => each === name)));
  const name = h('h1', {});
  const facts = h('p', { class: 'facts' });
  const service = choice('Service', 'service');
  const vendor = choice('Vendor', 'vendor');
  const type = choice('Type', 'event_type');
  const perPage = choice('Per page', 'per_page');
  const table = h('tbody', {});
  const count = h('p', { class: 'count', role: 'status' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const previous = h('button', { type: 'button', class: 'quiet', click: () => turn(-1) }, 'Newer');
  const next = h('button', { type: 'button', class: 'quiet', click: () => turn(1) }, 'Older');
  const heads = ['Received', 'Service', 'Type', 'What', 'By'].map((text) => h('th', { scope: 'col' }, text));
  root.append(
    h('p', { class: 'crumbs' }, h('a', { href: '#/agents' }, 'Agents')),
    h('div', { class: 'bar' }, name),
    facts,
    h(
      'form',
      { class: 'tools', 'aria-label': 'Filters', submit: (event) => event.preventDefault() },
      ...[service, vendor, type, perPage].map(({ label }) => label),
    ),
    problem,
    count,
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Event log' },
      h('table', {}, h('thead', {}, h('tr', {}, ...heads)), table),
    ),
    h('div', { class: 'tools' }, previous, next),
  );
  fill(type.select, ['', ...EVENT_TYPES], 'event_type');
  fill(perPage.select, ['10', '20', '50', '100'], 'per_page');
  load();

  function choice(label: string, filter: string) {
    const select = h('select', {
      change: () => {
        if (select.value === '') wanted.delete(filter);
        else wanted.set(filter, select.value);
        wanted.delete('page');
        load();
      },
    });
    return { select, label: h('label', {}, `${label} `, select) };
  }

  function fill(select: HTMLSelectElement, values: readonly string[], filter: string): void {
    const chosen = wanted.get(filter) ?? values[0] ?? '';
    const all = values.includes(chosen) ? values : [...values, chosen];
    select.replaceChildren(
      ...all.map((value) => h('option', { value }, value === '' ? 'all' : typeName(value))),
    );
    if (filter !== 'event_type') {
      for (const option of select.options) setText(option, option.value === '' ? 'all' : option.value);
    }
    select.value = chosen;
  }

  function turn(by: number): void {
    wanted.set('page', String(Number(wanted.get('page') ?? '1') + by));
    load();
  }

  async function load(): Promise<void> {
    keepInAddress(['agents', id], Object.fromEntries(wanted));
    let page: AgentWithEvents;
    try {
      // As the address says: the server judges it.
      const query: object = Object.fromEntries(wanted);
      page = await api().showAgent(id, query as EventFilter & PageQuery);
    } catch (error) {
      if (!(error instanceof ForeshockError)) throw error;
      setText(problem, error.status === 404 ? 'There is no such agent.' : error.detail);
      return;
    }
    setText(problem, '');
    name.replaceChildren(foreign(page.agent.name));
    fill(service.select, ['', ...page.filter_services], 'service');
    fill(vendor.select, ['', ...page.filter_vendors], 'vendor');
    const now = nowMs();
    table.replaceChildren(
      ...page.events.map((event) =>
        h(
          'tr',
          {},
          h('td', { class: 'when' }, clockTime(Date.parse(event.received_at), now)),
          h('td', { class: 'of' }, foreign(event.service_name)),
          h('td', {}, typeBadge(event.event_type)),
          h('td', { class: 'told' }, eventText(event)),
          h('td', { class: 'by' }, foreign(event.actor ?? event.vendor)),
        ),
      ),
    );
    setText(
      count,
      page.total === 0 ? 'No events match' : `${page.total} events, page ${page.page} of ${page.total_pages}`,
    );
    previous.disabled = page.page <= 1;
    next.disabled = page.page >= page.total_pages;
  }

  function update(): void {
    const agent = get('agents', id);
    if (agent === undefined) return;
    const version = agent.agent_version === null ? '' : `, version ${agent.agent_version}`;
    const seen = `${agent.hostname}${version}, seen ${ago(Date.parse(agent.last_seen_at), nowMs())}`;
    if (facts.dataset['said'] === seen + agent.status) return;
    facts.dataset['said'] = seen + agent.status;
    facts.replaceChildren(stateBadge(agent.status), ' ', foreign(seen));
  }

  return { title: 'Agent', update };
}
