/** One alert: what it says, what changed before it, and what was posted back of it. */
import { clockTime, lasting, nowMs } from '../clock.ts';
import { foreign, h, setText, setTextIn } from '../dom.ts';
import type { Alert } from '../model.ts';
import { loadText, missing, patchDeliveries, stateBadge } from '../parts.ts';
import { addressOf, type Page, type Route, type View } from '../view.ts';
import { causesOf } from './causes.ts';

export function alertView(page: Page, root: HTMLElement, { parts }: Route): View {
  const { store, needs } = page;
  const id = parts[1] ?? '';
  const about = h('div', {});
  const causes = h('div', {});
  const postedHeading = h('h2', {}, 'Posted back');
  const posted = h('ul', { class: 'rows', 'aria-label': 'Deliveries' });
  const notPosted = h('p', { class: 'facts' });
  root.append(
    h('p', { class: 'crumbs' }, h('a', { href: '#/alerts' }, 'Alerts')),
    about,
    h('h2', {}, 'What changed before'),
    causes,
    postedHeading,
    posted,
    notPosted,
  );
  let said = '';

  function update(): void {
    needs.alert(id);
    const now = nowMs();
    const alert = store.get('alerts', id);
    const load = needs.load('alert', id);
    for (const part of [...root.children].slice(2)) {
      if (part instanceof HTMLElement) part.hidden = alert === undefined;
    }
    const version = JSON.stringify([alert, load?.state, integrationOf(alert)]);
    if (version !== said) {
      said = version;
      if (alert === undefined) return about.replaceChildren(unknown(load));
      about.replaceChildren(...describe(alert, now));
      causes.replaceChildren(causesOf(page, alert));
    }
    if (alert === undefined) return;
    setTextIn(about, '.lasts', lastingText(alert, now));
    const deliveries = store.where('deliveriesByAlert', id);
    patchDeliveries(posted, deliveries, now);
    setText(notPosted, deliveries.length > 0 ? '' : whyNotPosted(alert, load?.state));
  }

  function unknown(load: ReturnType<typeof needs.load>): HTMLElement {
    if (load?.state === 'missing') return missing('There is no such alert', '#/alerts', 'All alerts');
    return h('div', {}, h('h1', {}, 'Alert'), h('p', { class: 'facts' }, loadText(load)));
  }

  function integrationOf(alert: Alert | undefined) {
    return alert && store.get('integrations', alert.integration_id);
  }

  function whyNotPosted(alert: Alert, state: string | undefined): string {
    if (alert.deliveries === undefined) return state === 'failed' ? '' : 'Loading…';
    const integration = integrationOf(alert);
    if (integration === undefined) return 'Nothing: its integration is deleted.';
    if (integration.type !== 'pagerduty') return 'Nothing: notes are posted to PagerDuty alone.';
    if (integration.direction === 'inbound') return 'Nothing: its integration is inbound, and sends nothing.';
    if (integration.config.pagerduty_token === undefined) {
      return 'Nothing: its integration has no REST API key. It can be given one under Integrations.';
    }
    return 'Nothing yet.';
  }

  return {
    title: () => store.get('alerts', id)?.title ?? 'Alert',
    reads: ['alerts', 'deliveries', 'integrations', 'services', 'loads'],
    update,
  };
}

function lastingText({ status, started_at, resolved_at }: Alert, now: number): string {
  const beganMs = Date.parse(started_at);
  const endedMs = resolved_at === null ? now : Date.parse(resolved_at);
  return `${clockTime(beganMs, now)}, ${status === 'firing' ? 'firing' : 'fired'} for ${lasting(beganMs, endedMs)}`;
}

function describe(alert: Alert, now: number): HTMLElement[] {
  const { service_id, url, type, severity, service, resolved_at } = alert;
  const fact = (term: string, value: HTMLElement | string) => [h('dt', {}, term), h('dd', {}, value)];
  const isWeb = url !== null && /^https?:\/\//.test(url);
  const address = service_id === null ? '' : addressOf(['services', service_id], { alert: alert.id });
  const timeline = address !== '' && h('a', { class: 'button', href: address }, 'Show on the timeline');
  const tool =
    isWeb &&
    h(
      'a',
      { href: url, rel: 'noreferrer noopener', target: '_blank', class: 'button quiet' },
      `Open in ${toolName(type)}`,
    );
  return [
    h('div', { class: 'bar' }, h('h1', {}, foreign(alert.title)), stateBadge(alert.status)),
    h(
      'dl',
      { class: 'card' },
      ...fact(
        'Service',
        address === '' ? foreign(alert.unmatched_reason) : h('a', { href: address }, foreign(service)),
      ),
      ...(alert.matched_by === null ? [] : fact('Matched by', foreign(alert.matched_by.source))),
      ...fact('Began', h('span', { class: 'lasts' }, lastingText(alert, now))),
      ...(resolved_at === null ? [] : fact('Ended', clockTime(Date.parse(resolved_at), now))),
      ...fact('From', severity === null ? toolName(type) : `${toolName(type)}, ${severity}`),
    ),
    h('div', { class: 'tools' }, timeline, tool),
  ];
}

const TOOL_NAMES: Readonly<Record<string, string>> = { pagerduty: 'PagerDuty', alertmanager: 'Alertmanager' };

export function toolName(type: string): string {
  return TOOL_NAMES[type] ?? type;
}
