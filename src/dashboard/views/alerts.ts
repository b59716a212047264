/** Alerts: what came in, and what of it was matched. */
import { ago, nowMs } from '../clock.ts';
import { foreign, h, patch, setText, setTextIn } from '../dom.ts';
import {
  count,
  curlIntegration,
  emptyState,
  moreButton,
  searchField,
  showMore,
  stateBadge,
} from '../parts.ts';
import { addressOf, type Page, type Route, type View } from '../view.ts';

const ROWS = 100;

export function alertsView({ store, needs }: Page, root: HTMLElement, { query }: Route): View {
  let shown = ROWS;
  const search = searchField('alerts', 'Search title or service', query, () => {
    shown = ROWS;
    update();
  });
  const summary = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows alerts', 'aria-label': 'Alerts' });
  const more = moreButton(() => {
    shown += ROWS;
    update();
  });
  const older = h(
    'button',
    { type: 'button', class: 'quiet more', hidden: true, click: () => needs.olderAlerts() },
    'Load older alerts',
  );
  const empty = emptyState(
    'No alert has come in',
    'Make an integration, here or with a read-only key, and give its webhook URL to PagerDuty or Alertmanager:',
    curlIntegration(),
  );
  empty.append(
    h('p', {}, h('a', { href: addressOf(['integrations']), class: 'button quiet' }, 'Integrations')),
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Alerts'), search, summary), list, more, older, empty);

  function update(): void {
    const now = nowMs();
    const alerts = store.all('alerts');
    const wanted = search.value.trim().toLowerCase();
    const found = alerts
      .filter(({ title, service }) => `${title}\n${service ?? ''}`.toLowerCase().includes(wanted))
      .sort(
        (a, b) =>
          Number(b.status === 'firing') - Number(a.status === 'firing') ||
          (a.started_at < b.started_at ? 1 : -1),
      );
    const firing = store.count('alertsByStatus', 'firing');
    const total = Math.max(store.number('alertsTotal'), alerts.length);
    const isLoading = alerts.length === 0 && store.text('connection') !== 'live';
    const said = `${firing === 0 ? 'none' : firing.toLocaleString('en')} firing, ${count(total, 'alert')} in all`;
    const where = alerts.length < total ? ` among the ${alerts.length} loaded` : '';
    const inView = wanted === '' ? '' : `, ${found.length.toLocaleString('en')} found${where}`;
    setText(summary, isLoading ? 'Loading…' : `${said}${inView}`);
    patch(list, found.slice(0, shown), {
      key: ({ id, status }) => `${id} ${status}`,
      make: (alert) =>
        h(
          'li',
          { class: alert.status },
          h(
            'a',
            { class: 'row', href: addressOf(['alerts', alert.id]) },
            h('span', { class: 'name' }, foreign(alert.title)),
            h('span', { class: 'service' }, alert.service === null ? 'no service' : foreign(alert.service)),
            stateBadge(alert.status),
            h('span', { class: 'count' }),
            h('span', { class: 'when' }),
          ),
        ),
      update: (row, { started_at, candidate_count }) => {
        setTextIn(row, '.when', ago(Date.parse(started_at), now));
        const candidates = candidate_count === 0 ? 'no candidates' : count(candidate_count, 'candidate');
        setTextIn(row, '.count', candidates);
      },
    });
    showMore(more, found.length - shown);
    const load = needs.load('older-alerts', '');
    older.hidden = alerts.length >= total || !more.hidden || alerts.length === 0;
    setText(older, load?.state === 'loading' ? 'Loading…' : `Load older alerts (${total - alerts.length})`);
    empty.hidden = alerts.length > 0 || store.text('connection') !== 'live';
  }

  return { title: () => 'Alerts', reads: ['alerts', 'loads'], update };
}
