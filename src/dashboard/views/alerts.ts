/** Alerts: what came in, what was matched, what was posted back. */
import { ago, clockTime, nowMs } from '../clock.ts';
import { foreign, h, patch, setText } from '../dom.ts';
import { needAlert } from '../feed.ts';
import type { Alert } from '../model.ts';
import { emptyState, stateBadge } from '../parts.ts';
import { all, get, getValue } from '../store.ts';
import { addressOf, type Route, type View } from '../view.ts';
import { candidateList } from './service.ts';

const ROWS = 100;

export function alertsView(root: HTMLElement): View {
  const count = h('p', { class: 'count', role: 'status' });
  const list = h('ul', { class: 'rows alerts', 'aria-label': 'Alerts' });
  const empty = emptyState(
    'No alert has come in',
    'Make an integration under Integrations, and give its webhook URL to PagerDuty or Alertmanager.',
  );
  root.append(h('div', { class: 'bar' }, h('h1', {}, 'Alerts'), count), list, empty);

  function update(): void {
    const now = nowMs();
    const alerts = all('alerts').sort(
      (a, b) =>
        Number(b.status === 'firing') - Number(a.status === 'firing') ||
        (a.started_at < b.started_at ? 1 : -1),
    );
    setText(count, `${alerts.filter(({ status }) => status === 'firing').length} firing`);
    patch(list, alerts.slice(0, ROWS), {
      key: ({ id, status }) => `${id} ${status}`,
      make: (alert) =>
        h(
          'li',
          { class: alert.status },
          h(
            'a',
            { href: addressOf(['alerts', alert.id]) },
            h('span', { class: 'name' }, foreign(alert.title)),
            stateBadge(alert.status),
            h('span', { class: 'service' }, alert.service === null ? 'no service' : foreign(alert.service)),
            h('span', { class: 'when' }),
          ),
        ),
      update: (row, { started_at }) => {
        const when = row.querySelector('.when');
        if (when !== null) setText(when, ago(Date.parse(started_at), now));
      },
    });
    empty.hidden = alerts.length > 0 || getValue('connection') !== 'live';
  }

  return { title: 'Alerts', update };
}

export function alertView(root: HTMLElement, { parts }: Route): View {
  const id = parts[1] ?? '';
  const content = h('div', {});
  root.append(h('p', { class: 'crumbs' }, h('a', { href: '#/alerts' }, 'Alerts'), ' /'), content);
  let said = '';
  needAlert(id);

  function update(): void {
    const alert = get('alerts', id);
    const deliveries = all('deliveries').filter(({ alert_id }) => alert_id === id);
    const version = JSON.stringify([alert, deliveries]);
    if (version === said) return;
    said = version;
    if (alert === undefined) return content.replaceChildren(h('p', {}, 'There is no such alert.'));
    content.replaceChildren(...describe(alert, nowMs()));
    const posted = deliveries.map(({ kind, state, attempts, detail }) =>
      h(
        'li',
        {},
        stateBadge(state),
        h('span', {}, kind),
        h('span', {}, `${attempts} attempts`),
        foreign(detail),
      ),
    );
    content.append(
      h('h2', {}, 'Posted back'),
      posted.length === 0
        ? h('p', {}, 'Nothing.')
        : h('ul', { class: 'rows', 'aria-label': 'Deliveries' }, ...posted),
    );
  }

  return { title: 'Alert', update };
}

function describe(alert: Alert, now: number): HTMLElement[] {
  const began = clockTime(Date.parse(alert.started_at), now);
  const ended = alert.resolved_at === null ? '' : `, ended ${clockTime(Date.parse(alert.resolved_at), now)}`;
  const how = alert.matched_by === null ? '' : ` by ${alert.matched_by.source}`;
  const service =
    alert.service_id === null
      ? h('p', {}, 'Matched to no service: ', foreign(alert.unmatched_reason))
      : h(
          'p',
          {},
          'Matched to ',
          h(
            'a',
            { href: addressOf(['services', alert.service_id], { alert: alert.id }) },
            foreign(alert.service),
          ),
          how,
        );
  const isWeb = alert.url !== null && /^https?:\/\//.test(alert.url);
  return [
    h('div', { class: 'bar' }, h('h1', {}, foreign(alert.title)), stateBadge(alert.status)),
    h(
      'p',
      {},
      `From ${alert.type}${alert.severity === null ? '' : `, ${alert.severity}`}; began ${began}${ended}. `,
      isWeb &&
        h(
          'a',
          { href: alert.url ?? '', rel: 'noreferrer noopener', target: '_blank' },
          `Open in ${alert.type}`,
        ),
    ),
    service,
    h('h2', {}, 'What changed before'),
    candidateList(alert.candidates ?? []),
  ];
}
