/** All services: those under fire first, then those that changed last. */
import { ago, nowMs, span } from '../clock.ts';
import { foreign, h, patch, set, setText } from '../dom.ts';
import { needService } from '../feed.ts';
import { type Alert, EVENT_TYPES, type Service } from '../model.ts';
import { curlEvent, emptyState, typeBadge } from '../parts.ts';
import { all, getValue, liveCounts } from '../store.ts';
import { addressOf, type View } from '../view.ts';

/** Rows shown at first, and more with every press. */
const ROWS = 60;

export function servicesView(root: HTMLElement): View {
  let shown = ROWS;
  const search = h('input', {
    type: 'search',
    'aria-label': 'Search services',
    placeholder: 'Search services',
    input: () => {
      shown = ROWS;
      update();
    },
  });
  const count = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows services', 'aria-label': 'Services' });
  const more = h('button', {
    type: 'button',
    class: 'quiet more',
    click: () => {
      shown += 2 * ROWS;
      update();
    },
  });
  const empty = emptyState(
    'No service has sent anything yet',
    'A service is there as soon as an event names it. Register an agent and send one:',
    curlEvent(),
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Services'), search, count), list, more, empty);

  function update(): void {
    const now = nowMs();
    const services = all('services');
    const firing = new Map<string, Alert[]>();
    for (const alert of all('alerts')) {
      if (alert.status !== 'firing' || alert.service_id === null) continue;
      firing.set(alert.service_id, [...(firing.get(alert.service_id) ?? []), alert]);
    }
    const wanted = search.value.trim().toLowerCase();
    const found = services
      .filter(({ name }) => wanted === '' || name.toLowerCase().includes(wanted))
      .sort(
        (a, b) =>
          Number(firing.has(b.id)) - Number(firing.has(a.id)) ||
          (a.last_event_at < b.last_event_at ? 1 : a.last_event_at > b.last_event_at ? -1 : 0),
      );
    setText(
      count,
      (services.length === found.length ? `${services.length}` : `${found.length} of ${services.length}`) +
        (firing.size === 0 ? '' : `, ${firing.size} under fire`),
    );
    set(count, { 'aria-label': `${found.length} of ${services.length} services` });
    patch(list, found.slice(0, shown), {
      key: ({ id }) => id,
      make: makeRow,
      update: (row, service) => updateRow(row, service, firing.get(service.id) ?? [], now),
    });
    more.hidden = found.length <= shown;
    setText(more, `Show more (${found.length - shown})`);
    empty.hidden = services.length > 0 || getValue('connection') !== 'live';
  }

  return { title: 'Services', update };
}

function makeRow({ id, name }: Service): Element {
  needService(id);
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: addressOf(['services', id]) },
      h('span', { class: 'name' }, foreign(name)),
      h('span', { class: 'fire' }),
      h('span', { class: 'types' }),
      h('span', { class: 'when' }),
    ),
  );
}

function updateRow(row: Element, service: Service, alerts: readonly Alert[], now: number): void {
  const [, fire, types, when] = row.firstElementChild?.children ?? [];
  if (fire === undefined || types === undefined || when === undefined) return;
  set(row, { class: alerts.length > 0 ? 'firing' : undefined });
  patch(fire, alerts.slice(0, 1), {
    key: ({ id, title }) => `${id} ${title}`,
    make: ({ title }) => h('span', {}, foreign(title), h('span', { class: 'since' })),
    update: (line, { started_at }) => {
      const more = alerts.length === 1 ? '' : `, and ${alerts.length - 1} more`;
      const since = line.querySelector('.since');
      if (since !== null)
        setText(since, ` · for ${span(Math.round((now - Date.parse(started_at)) / 1000))}${more}`);
    },
  });
  const counts = liveCounts(service.id, now);
  patch(
    types,
    EVENT_TYPES.filter((type) => counts.has(type)).map((type) => ({ type, count: counts.get(type) ?? 0 })),
    {
      key: ({ type, count }) => `${type} ${count}`,
      make: ({ type, count }) => typeBadge(type, count),
      update: () => {},
    },
  );
  setText(when, ago(Date.parse(service.last_event_at), now));
}
