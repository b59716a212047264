/** Alerts: what came in, what was matched, what was posted back. */
import { ago, clockTime, nowMs, span } from '../clock.ts';
import { foreign, h, patch, setText } from '../dom.ts';
import { needAlert } from '../feed.ts';
import type { Alert } from '../model.ts';
import { deliveryRow, emptyState, stateBadge } from '../parts.ts';
import { all, get, getValue } from '../store.ts';
import { addressOf, type Route, type View } from '../view.ts';
import { candidateList } from './candidates.ts';

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
    const firing = alerts.filter(({ status }) => status === 'firing').length;
    setText(count, firing === 0 ? `none firing, ${alerts.length} in all` : `${firing} firing`);
    patch(list, alerts.slice(0, ROWS), {
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
            h('span', { class: 'count' }, candidatesText(alert.candidate_count)),
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

function candidatesText(count: number): string {
  return count === 0 ? 'no candidates' : count === 1 ? '1 candidate' : `${count} candidates`;
}

export function alertView(root: HTMLElement, { parts }: Route): View {
  const id = parts[1] ?? '';
  const content = h('div', {});
  root.append(h('p', { class: 'crumbs' }, h('a', { href: '#/alerts' }, 'Alerts')), content);
  let said = '';
  needAlert(id);

  function update(): void {
    const alert = get('alerts', id);
    const deliveries = all('deliveries').filter(({ alert_id }) => alert_id === id);
    const version = JSON.stringify([alert, deliveries]);
    if (version === said) return;
    said = version;
    if (alert === undefined) return content.replaceChildren(h('h1', {}, 'There is no such alert'));
    content.replaceChildren(...describe(alert, nowMs()));
    content.append(
      h('h2', {}, 'Posted back'),
      deliveries.length === 0
        ? h('p', { class: 'facts' }, 'Nothing: its integration sends no notes.')
        : h('ul', { class: 'rows', 'aria-label': 'Deliveries' }, ...deliveries.map(deliveryRow)),
    );
  }

  return { title: 'Alert', update };
}

function describe(alert: Alert, now: number): HTMLElement[] {
  const { service_id, url, type, severity } = alert;
  const beganMs = Date.parse(alert.started_at);
  const endedMs = alert.resolved_at === null ? undefined : Date.parse(alert.resolved_at);
  const lasted = span(Math.round(((endedMs ?? now) - beganMs) / 1000));
  const fact = (term: string, value: HTMLElement | string) => [h('dt', {}, term), h('dd', {}, value)];
  const isWeb = url !== null && /^https?:\/\//.test(url);
  const timeline =
    service_id !== null &&
    h(
      'a',
      { class: 'button', href: addressOf(['services', service_id], { alert: alert.id }) },
      'Show on the timeline',
    );
  const tool =
    isWeb &&
    h(
      'a',
      { href: url, rel: 'noreferrer noopener', target: '_blank', class: 'button quiet' },
      `Open in ${type}`,
    );
  return [
    h('div', { class: 'bar' }, h('h1', {}, foreign(alert.title)), stateBadge(alert.status)),
    h(
      'dl',
      { class: 'card' },
      ...fact('Service', service_id === null ? foreign(alert.unmatched_reason) : foreign(alert.service)),
      ...(alert.matched_by === null ? [] : fact('Matched by', foreign(alert.matched_by.source))),
      ...fact(
        'Began',
        `${clockTime(beganMs, now)}, ${endedMs === undefined ? 'fires' : 'fired'} for ${lasted}`,
      ),
      ...(endedMs === undefined ? [] : fact('Ended', clockTime(endedMs, now))),
      ...fact('From', severity === null ? type : `${type}, ${severity}`),
    ),
    h('div', { class: 'tools' }, timeline, tool),
    h('h2', {}, 'What changed before'),
    candidateList(alert.candidates ?? [], alert.service),
  ];
}
