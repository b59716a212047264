/** One agent and its event log, filtered and paged by the API. */
import { ForeshockError } from '../../client/error.ts';
import type { AgentWithEvents, EventFilter, PageQuery, StoredEvent } from '../../client/wire.ts';
import { ago, clockTime, nowMs } from '../clock.ts';
import { foreign, h, setText } from '../dom.ts';
import { EVENT_TYPES, typeName } from '../model.ts';
import { count, eventText, missing, sentence, stateBadge, typeBadge } from '../parts.ts';
import { addressOf, keepInAddress, type Page, type Route, type View } from '../view.ts';

const FILTERS = ['service', 'vendor', 'event_type', 'per_page', 'page'] as const;
/** The first page follows the agent, not faster than this. */
const RELOAD_MS = 1000;
const RETRY_MS = 5000;
const HEADS = ['Received', 'Service', 'Type', 'What', 'By', 'Confidence', 'Relevant until'];

export function agentView({ store, client }: Page, root: HTMLElement, { parts, query }: Route): View {
  const id = parts[1] ?? '';
  const wanted = new URLSearchParams([...query].filter(([name]) => FILTERS.some((each) => each === name)));
  /** Of the last request: answers to those before come too late. */
  let asked = 0;
  let loadedAtMs = 0;
  let isLoading = false;
  let hasFailed = false;
  /** What the agent was last heard of when its log was asked for. */
  let seenAt = '';
  let page: AgentWithEvents | undefined;

  const name = h('h1', {}, 'Agent');
  const facts = h('p', { class: 'facts' });
  const service = choice('Service', 'service');
  const vendor = choice('Vendor', 'vendor');
  const type = choice('Type', 'event_type');
  const perPage = choice('Per page', 'per_page');
  const table = h('tbody', {});
  const summary = h('p', { class: 'count', role: 'status' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const turnButton = (text: string, to: (now: AgentWithEvents) => number) =>
    h('button', { type: 'button', class: 'quiet', click: () => page && turn(to(page)) }, text);
  const newest = turnButton('Newest', () => 1);
  const newer = turnButton('Newer', (now) => now.page - 1);
  const older = turnButton('Older', (now) => now.page + 1);
  const oldest = turnButton('Oldest', (now) => Math.max(1, now.total_pages));
  const pages = h('div', { class: 'tools' }, newest, newer, older, oldest);
  const fresh = h('button', { type: 'button', class: 'quiet', hidden: true, click: () => turn(1) });
  const content = h(
    'div',
    {},
    h('div', { class: 'bar' }, name),
    facts,
    h(
      'form',
      { class: 'tools', 'aria-label': 'Filters', submit: (event) => event.preventDefault() },
      ...[service, vendor, type, perPage].map(({ label }) => label),
    ),
    problem,
    h('div', { class: 'bar' }, summary, fresh),
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Event log' },
      h(
        'table',
        {},
        h('thead', {}, h('tr', {}, ...HEADS.map((text) => h('th', { scope: 'col' }, text)))),
        table,
      ),
    ),
    pages,
  );
  const nothingKnown = missing('There is no such agent', '#/agents', 'All agents');
  root.append(h('p', { class: 'crumbs' }, h('a', { href: '#/agents' }, 'Agents')), content);
  fill(service.select, [''], 'service');
  fill(vendor.select, [''], 'vendor');
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
    const known = [...select.options].map(({ value }) => value);
    if (JSON.stringify(known) !== JSON.stringify(all)) {
      const text = (value: string) =>
        value === '' ? 'all' : filter === 'event_type' ? typeName(value) : value;
      select.replaceChildren(...all.map((value) => h('option', { value }, text(value))));
    }
    select.value = chosen;
  }

  /** A step back leads to the page before. */
  function turn(to: number): void {
    wanted.set('page', String(to));
    history.pushState(null, '', location.href);
    load();
  }

  async function load(): Promise<void> {
    asked += 1;
    const mine = asked;
    isLoading = true;
    loadedAtMs = nowMs();
    seenAt = store.get('agents', id)?.last_seen_at ?? '';
    keepInAddress(['agents', id], Object.fromEntries(wanted));
    try {
      // As the address says: the server judges it.
      const asAddressed: object = Object.fromEntries(wanted);
      const answer = await client().showAgent(id, asAddressed as EventFilter & PageQuery);
      if (mine !== asked) return;
      hasFailed = false;
      content.hidden = false;
      nothingKnown.remove();
      page = answer;
      setText(problem, '');
      showPage(answer);
    } catch (error) {
      if (!(error instanceof ForeshockError)) throw error;
      if (mine !== asked) return;
      hasFailed = true;
      const isMissing = error.status === 404;
      content.hidden = isMissing;
      if (isMissing) root.append(nothingKnown);
      setText(problem, sentence(`the event log could not be loaded: ${error.detail}`));
      for (const button of [newest, newer, older, oldest]) button.disabled = page === undefined;
    } finally {
      if (mine === asked) isLoading = false;
    }
  }

  function showPage(answer: AgentWithEvents): void {
    if (name.textContent !== answer.agent.name) name.replaceChildren(foreign(answer.agent.name));
    fill(service.select, ['', ...answer.filter_services], 'service');
    fill(vendor.select, ['', ...answer.filter_vendors], 'vendor');
    const now = nowMs();
    table.replaceChildren(...answer.events.map((event) => rowOf(event, now)));
    const isPast = answer.page > answer.total_pages && answer.total > 0;
    setText(
      summary,
      answer.total === 0
        ? 'No events match'
        : isPast
          ? `Page ${answer.page} is past the end: there are ${answer.total_pages}`
          : `${count(answer.total, 'event')}, page ${answer.page} of ${answer.total_pages}`,
    );
    pages.hidden = answer.total_pages <= 1 && answer.page === 1;
    newest.disabled = newer.disabled = answer.page <= 1;
    older.disabled = oldest.disabled = answer.page >= answer.total_pages;
    if (isPast) oldest.disabled = false;
  }

  function rowOf(event: StoredEvent, now: number): HTMLElement {
    const known = store.where('servicesByName', event.service_name)[0];
    const of = foreign(event.service_name);
    return h(
      'tr',
      {},
      h('td', { class: 'when' }, clockTime(Date.parse(event.received_at), now)),
      h(
        'td',
        { class: 'of' },
        known === undefined ? of : h('a', { href: addressOf(['services', known.id]) }, of),
      ),
      h('td', {}, typeBadge(event.event_type)),
      h(
        'td',
        { class: 'told' },
        eventText(event),
        event.sha !== null && ' at ',
        event.sha !== null && foreign(event.sha),
      ),
      h('td', { class: 'by' }, foreign(event.actor ?? event.vendor)),
      h('td', { class: 'by' }, String(event.confidence)),
      h('td', { class: 'when' }, clockTime(Date.parse(event.expires_at), now)),
    );
  }

  function update(): void {
    const now = nowMs();
    const agent = store.get('agents', id);
    if (!isLoading && hasFailed && !content.hidden && now - loadedAtMs >= RETRY_MS) load();
    if (agent === undefined) return;
    if (page === undefined && name.textContent !== agent.name) name.replaceChildren(foreign(agent.name));
    const hasSpoken = agent.last_seen_at !== seenAt && page !== undefined;
    const isFirst = (page?.page ?? 1) === 1;
    if (hasSpoken && isFirst && !isLoading && now - loadedAtMs >= RELOAD_MS) load();
    fresh.hidden = !hasSpoken || isFirst;
    setText(fresh, 'It has been heard of since: show the newest');
    const version = agent.agent_version === null ? '' : `, version ${agent.agent_version}`;
    const host = agent.hostname === agent.name ? '' : `${agent.hostname}, `;
    const seen = `${host}seen ${ago(Date.parse(agent.last_seen_at), now)}${version}`;
    if (facts.dataset['said'] === seen + agent.status) return;
    facts.dataset['said'] = seen + agent.status;
    facts.replaceChildren(stateBadge(agent.status), ' ', foreign(seen));
  }

  return {
    title: () => store.get('agents', id)?.name ?? page?.agent.name ?? 'Agent',
    reads: ['agents', 'services'],
    update,
  };
}
