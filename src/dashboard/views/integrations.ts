/** Integrations: made, set up, rotated and deleted, and what came and went through each. */
import { ForeshockError } from '../../client/error.ts';
import { ago, nowMs } from '../clock.ts';
import { h, patch, set, setText } from '../dom.ts';
import type { Delivery, Integration, IntegrationConfig } from '../model.ts';
import {
  copyButton,
  count,
  curlIntegration,
  emptyState,
  loadText,
  patchDeliveries,
  sentence,
} from '../parts.ts';
import type { Page, View } from '../view.ts';
import { toolName } from './alert.ts';
import { isSending, settingsForm } from './integration-settings.ts';

type Attempt = (what: string, change: () => Promise<void>) => Promise<boolean>;

export function integrationsView(page: Page, root: HTMLElement): View {
  const { store, feed, needs, client } = page;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const type = options('Type', ['pagerduty', 'alertmanager'] as const);
  const direction = options('Direction', ['inbound', 'outbound', 'bidirectional'] as const);
  const list = h('ul', { class: 'cards', 'aria-label': 'Integrations' });
  const heading = h('h1', { tabindex: -1 }, 'Integrations');
  const done = h('p', { class: 'facts', role: 'status' });
  const create = (event: Event) => {
    event.preventDefault();
    const body = { type: type.chosen(), direction: direction.chosen() };
    attempting(problem)('the integration was not created', async () => {
      const made = await client().createIntegration(body);
      await feed.reloadIntegrations();
      setText(done, `Created: ${toolName(body.type)}, ${body.direction}.`);
      update();
      const card = list.querySelector(`[data-id="${made.id}"]`);
      card?.scrollIntoView({ block: 'nearest' });
      const settings = card?.querySelector('summary');
      if (settings instanceof HTMLElement) settings.focus();
    });
  };
  const empty = emptyState(
    'No integration yet',
    'An integration has a webhook URL to give to PagerDuty or Alertmanager. Make one above, or with a read-only key:',
    curlIntegration(),
  );
  root.append(
    h('div', { class: 'bar' }, heading),
    h(
      'form',
      { class: 'tools card', 'aria-label': 'New integration', submit: create },
      h('h2', {}, 'New integration'),
      type.label,
      direction.label,
      h('button', { type: 'submit' }, 'Create'),
      done,
    ),
    problem,
    list,
    empty,
  );

  /** Says beside what was pressed what did not come about, and why. */
  function attempting(place: HTMLElement): Attempt {
    return async (what, change) => {
      setText(place, '');
      setText(done, '');
      try {
        await change();
        return true;
      } catch (error) {
        if (!(error instanceof ForeshockError)) throw error;
        setText(place, sentence(`${what}: ${error.detail}`));
        return false;
      }
    };
  }

  function makeCard(integration: Integration): HTMLElement {
    const { id, direction: way } = integration;
    const turned = h('p', { class: 'facts', role: 'status' });
    const failure = h('p', { class: 'problem', role: 'alert' });
    const attempt = attempting(failure);
    const url = h('input', { type: 'text', readonly: true, class: 'webhook', 'aria-label': 'Webhook URL' });
    const rotate = twice('Rotate token', 'The old URL stops working. Rotate', () =>
      attempt('the token was not rotated', async () => {
        await client().rotateToken(id);
        await feed.reloadIntegrations();
        setText(turned, 'Rotated: the tool needs the new URL.');
      }),
    );
    const remove = twice('Delete', 'The URL stops working for good. Delete', () =>
      attempt('the integration was not deleted', async () => {
        await client().deleteIntegration(id);
        await feed.reloadIntegrations();
        setText(done, 'Deleted.');
        heading.focus();
      }),
    );
    const settings = h('details', {}, h('summary', {}, 'Settings'));
    settings.addEventListener('toggle', () => {
      settings.querySelector('form')?.remove();
      if (!settings.open) return;
      const known = () => store.get('integrations', id) ?? integration;
      const save = (config: IntegrationConfig, place: HTMLElement) =>
        attempting(place)('the settings were not saved', async () => {
          await client().configureIntegration(id, config);
          await feed.reloadIntegrations();
        });
      settings.append(settingsForm(known, save));
    });
    return h(
      'li',
      { 'data-id': id },
      h(
        'div',
        { class: 'bar' },
        h('h2', {}, toolName(integration.type)),
        h('span', { class: 'state' }, way),
        h('span', { class: 'facts cannot' }),
        h('span', { class: 'when' }),
      ),
      way === 'outbound'
        ? h('p', { class: 'facts' }, 'Outbound: no webhook is taken.')
        : h(
            'div',
            { class: 'copy' },
            url,
            copyButton('Copy', () => url.value),
          ),
      failure,
      turned,
      h('div', { class: 'tools' }, rotate, remove),
      settings,
      h('p', { class: 'facts came' }),
      h(
        'details',
        { class: 'sent' },
        h('summary', {}, 'What was sent'),
        h('ul', { class: 'rows', 'aria-label': 'Deliveries' }),
        h('p', { class: 'facts' }),
      ),
    );
  }

  function updateCard(card: Element, integration: Integration, now: number): void {
    const { id, direction: way, created_at, webhook_url } = integration;
    const when = card.querySelector('.bar .when');
    if (when !== null) setText(when, `made ${ago(Date.parse(created_at), now)}`);
    const url = card.querySelector('.webhook');
    if (url instanceof HTMLInputElement && url.value !== webhook_url) url.value = webhook_url;
    const cannot = card.querySelector('.cannot');
    const isMute = way !== 'inbound' && !isSending(integration);
    if (cannot !== null) setText(cannot, isMute ? 'Sends nothing yet: see its settings' : '');
    const alerts = store.where('alertsByIntegration', id);
    const last = Math.max(...alerts.map(({ received_at }) => Date.parse(received_at)));
    const isAll = store.all('alerts').length >= store.number('alertsTotal');
    const came = card.querySelector('.came');
    if (came !== null) {
      const said =
        alerts.length === 0
          ? 'No alert has come in.'
          : `${isAll ? '' : 'At least '}${count(alerts.length, 'alert')} came in, the last ${ago(last, now)}.`;
      setText(came, way === 'outbound' ? '' : said);
    }
    const sent = card.querySelector('.sent');
    if (!(sent instanceof HTMLDetailsElement)) return;
    sent.hidden = way === 'inbound';
    if (way !== 'inbound') needs.deliveries(id);
    const deliveries = store
      .where('deliveriesByIntegration', id)
      .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
    const [summary, rows, note] = sent.children;
    if (summary !== undefined) setText(summary, `What was sent${statesOf(deliveries)}`);
    if (rows === undefined || note === undefined || !sent.open) return;
    const load = needs.load('deliveries', id);
    const none = load?.state === 'loaded' ? 'Nothing yet.' : loadText(load);
    setText(note, load?.state !== 'failed' && deliveries.length > 0 ? '' : none);
    patchDeliveries(rows, deliveries, now, ({ alert_id }) =>
      alert_id === null ? undefined : store.get('alerts', alert_id),
    );
  }

  function update(): void {
    const now = nowMs();
    const integrations = store.all('integrations');
    patch(list, integrations, {
      key: ({ id }) => id,
      make: makeCard,
      update: (card, integration) => updateCard(card, integration, now),
    });
    empty.hidden = integrations.length > 0 || store.text('connection') !== 'live';
  }

  return {
    title: () => 'Integrations',
    reads: ['integrations', 'deliveries', 'alerts', 'loads'],
    update,
  };
}

/** How many are not simply delivered. */
function statesOf(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1);
  return `: ${[...counts].map(([state, times]) => `${times} ${state}`).join(', ')}`;
}

function options<Value extends string>(label: string, values: readonly [Value, ...Value[]]) {
  const select = h('select', {}, ...values.map((value) => h('option', { value }, toolName(value))));
  const chosen = () => values.find((value) => value === select.value) ?? values[0];
  return { chosen, label: h('label', {}, `${label} `, select) };
}

/** A button that asks, with another beside it, before it does what cannot be taken back. */
function twice(text: string, question: string, act: () => Promise<boolean>): HTMLElement {
  const place = h('span', { class: 'twice' });
  const ask = h('button', { type: 'button', class: 'quiet' }, text);
  const sure = h('button', { type: 'button', class: 'quiet grave' }, `${question}?`);
  const cancel = h('button', { type: 'button', class: 'quiet' }, 'Cancel');
  const show = (isAsking: boolean) => {
    place.replaceChildren(...(isAsking ? [cancel, sure] : [ask]));
    (isAsking ? cancel : ask).focus();
  };
  place.append(ask);
  set(place, { role: 'group', 'aria-label': text });
  ask.addEventListener('click', () => show(true));
  cancel.addEventListener('click', () => show(false));
  sure.addEventListener('click', async () => {
    sure.disabled = true;
    await act();
    sure.disabled = false;
    show(false);
  });
  place.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !place.contains(ask)) show(false);
  });
  return place;
}
