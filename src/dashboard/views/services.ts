/** All services: those under fire first, then those that changed last. */
import { ago, lasting, nowMs } from '../clock.ts';
import { foreign, h, patch, set, setText, setTextIn } from '../dom.ts';
import { type Alert, type Candidate, EVENT_TYPES, type Service, typeName } from '../model.ts';
import { count, curlEvent, emptyState, moreButton, searchField, showMore, typeBadge } from '../parts.ts';
import { addressOf, keepInAddress, type Page, type Route, type View } from '../view.ts';
import { beforeText } from './candidates.ts';
import { changeText } from './change-text.ts';

/** Rows shown at first, and more with every press. */
const ROWS = 60;
/** While somebody is about to choose, rows stay where they are. */
const HELD_MS = 10_000;

export function servicesView({ store, needs }: Page, root: HTMLElement, { query }: Route): View {
  let shown = ROWS;
  let heldUntilMs = 0;
  let order = new Map<string, number>();
  const search = searchField('services', 'Search services', query, () => {
    shown = ROWS;
    heldUntilMs = 0;
    update();
  });
  const summary = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows services', 'aria-label': 'Services' });
  for (const type of ['pointermove', 'pointerdown', 'keydown', 'focusin']) {
    list.addEventListener(type, () => {
      heldUntilMs = nowMs() + HELD_MS;
    });
  }
  const more = moreButton(() => {
    shown += 2 * ROWS;
    update();
  });
  const empty = emptyState(
    'No service has sent anything yet',
    'A service is there as soon as an event names it. With an ingest key (keys create --kind ingest), register an agent and send one:',
    curlEvent(),
  );
  const clear = () => {
    search.value = '';
    keepInAddress(['services'], {});
    update();
    search.focus();
  };
  const noneSaid = h('p', {});
  const none = h(
    'div',
    { class: 'empty', hidden: true },
    noneSaid,
    h('button', { type: 'button', class: 'quiet', click: clear }, 'Clear the search'),
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Services'), search, summary), list, none, more, empty);

  function update(): void {
    const now = nowMs();
    const services = store.all('services');
    const firing = new Map<string, Alert[]>();
    for (const alert of store.where('alertsByStatus', 'firing')) {
      if (alert.service_id === null) continue;
      firing.set(alert.service_id, [...(firing.get(alert.service_id) ?? []), alert]);
    }
    for (const alerts of firing.values()) alerts.sort((a, b) => latest(a.started_at, b.started_at));
    const wanted = search.value.trim().toLowerCase();
    const found = services
      .filter(({ name }) => wanted === '' || name.toLowerCase().includes(wanted))
      .sort(
        (a, b) =>
          latest(firing.get(a.id)?.[0]?.started_at, firing.get(b.id)?.[0]?.started_at) ||
          latest(a.last_event_at, b.last_event_at),
      );
    if (now < heldUntilMs) {
      const place = ({ id }: Service) => order.get(id) ?? Number.POSITIVE_INFINITY;
      found.sort((a, b) => place(a) - place(b) || 0);
    }
    order = new Map(found.map(({ id }, index) => [id, index]));
    const isLoading = services.length === 0 && store.text('connection') !== 'live';
    const inAll = count(services.length, 'service');
    setText(
      summary,
      isLoading
        ? 'Loading…'
        : (services.length === found.length ? inAll : `${found.length.toLocaleString('en')} of ${inAll}`) +
            (firing.size === 0 ? '' : `, ${firing.size} under fire`),
    );
    const visible = found.slice(0, shown);
    for (const { id } of visible) {
      needs.window(id);
      const [newest] = firing.get(id) ?? [];
      if (newest !== undefined) needs.alert(newest.id);
    }
    patch(list, visible, {
      key: ({ id }) => id,
      make: makeRow,
      update: (row, service) => updateRow(row, service, firing.get(service.id) ?? [], now),
    });
    showMore(more, found.length - shown);
    none.hidden = isLoading || services.length === 0 || found.length > 0;
    if (!none.hidden) setText(noneSaid, `No service has “${search.value.trim()}” in its name.`);
    empty.hidden = services.length > 0 || store.text('connection') !== 'live';
  }

  function updateRow(row: Element, service: Service, alerts: readonly Alert[], now: number): void {
    const [, fire, types, when] = row.firstElementChild?.children ?? [];
    if (fire === undefined || types === undefined || when === undefined) return;
    set(row, { class: alerts.length > 0 ? 'firing' : undefined });
    patch(fire, alerts.slice(0, 1), {
      key: ({ id, title, candidates }) => `${id} ${title} ${candidates?.[0]?.event.id ?? ''}`,
      make: ({ title, candidates }) =>
        h(
          'span',
          {},
          foreign(title),
          h('span', { class: 'since' }),
          candidates?.[0] !== undefined && likely(candidates[0], service.name),
        ),
      update: (line, { started_at }) => {
        const others = alerts.length === 1 ? '' : `, and ${alerts.length - 1} more`;
        setTextIn(line, '.since', ` · for ${lasting(Date.parse(started_at), now)}${others}`);
      },
    });
    const counts = store.liveCounts(service.id, now);
    const state = needs.load('window', service.id)?.state;
    const badges: readonly { readonly type: string; readonly times: number }[] =
      counts.size === 0 && state === 'loaded'
        ? [{ type: 'nothing live', times: 1 }]
        : EVENT_TYPES.filter((type) => counts.has(type)).map((type) => ({
            type,
            times: counts.get(type) ?? 0,
          }));
    const said = state === 'failed' ? [...badges, { type: 'not loaded', times: 1 }] : badges;
    patch(types, said, {
      key: ({ type, times }) => `${type} ${times}`,
      make: ({ type, times }) =>
        type.includes(' ') ? h('span', { class: 'none' }, type) : typeBadge(type, times),
      update: () => {},
    });
    setText(when, ago(Date.parse(service.last_event_at), now));
  }

  return {
    title: () => 'Services',
    reads: ['services', 'events', 'alerts', 'loads'],
    update,
  };
}

/** The later first, and what there is before what is not. */
function latest(a = '', b = ''): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

function makeRow({ id, name }: Service): Element {
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

/** What an alert is most likely due to, in a line. */
function likely({ event, minutes_before }: Candidate, service: string): HTMLElement {
  const whose = event.service_name === service ? [] : [' of ', foreign(event.service_name)];
  return h(
    'span',
    { class: 'likely' },
    `Likely: ${typeName(event.event_type)} `,
    foreign(changeText(event, service)),
    ...whose,
    `, ${beforeText(minutes_before)}`,
  );
}
