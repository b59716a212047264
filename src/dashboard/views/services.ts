/** All services: those under fire first, then those that changed last. */
import { ago, nowMs } from '../clock.ts';
import { foreign, h, patch, set, setText } from '../dom.ts';
import { needService } from '../feed.ts';
import { EVENT_TYPES, type Service } from '../model.ts';
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
    const firing = new Map<string, number>();
    for (const { status, service_id } of all('alerts')) {
      if (status === 'firing' && service_id !== null)
        firing.set(service_id, (firing.get(service_id) ?? 0) + 1);
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
      services.length === found.length ? `${services.length}` : `${found.length} of ${services.length}`,
    );
    set(count, { 'aria-label': `${found.length} of ${services.length} services` });
    patch(list, found.slice(0, shown), {
      key: ({ id }) => id,
      make: makeRow,
      update: (row, service) => updateRow(row, service, firing.get(service.id) ?? 0, now),
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
      { href: addressOf(['services', id]) },
      h('span', { class: 'name' }, foreign(name)),
      h('span', { class: 'fire' }),
      h('span', { class: 'types' }),
      h('span', { class: 'when' }),
    ),
  );
}

function updateRow(row: Element, { id, last_event_at }: Service, firing: number, now: number): void {
  const [, fire, types, when] = row.firstElementChild?.children ?? [];
  if (fire === undefined || types === undefined || when === undefined) return;
  set(row, { class: firing > 0 ? 'firing' : undefined });
  setText(fire, firing === 0 ? '' : firing === 1 ? 'alert' : `${firing} alerts`);
  const counts = liveCounts(id, now);
  patch(
    types,
    EVENT_TYPES.filter((type) => counts.has(type)).map((type) => ({ type, count: counts.get(type) ?? 0 })),
    {
      key: ({ type, count }) => `${type} ${count}`,
      make: ({ type, count }) => typeBadge(type, count),
      update: () => {},
    },
  );
  setText(when, ago(Date.parse(last_event_at), now));
}
