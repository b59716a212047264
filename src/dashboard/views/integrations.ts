/** Integrations: made, rotated and deleted, and what was sent through each. */
import { ForeshockError } from '../../client/error.ts';
import { api } from '../api.ts';
import { ago, nowMs } from '../clock.ts';
import { h, patch, setText } from '../dom.ts';
import { loadIntegrations } from '../feed.ts';
import type { Delivery, Integration } from '../model.ts';
import { copyButton, deliveryRow, emptyState } from '../parts.ts';
import { all, getValue } from '../store.ts';
import type { View } from '../view.ts';

export function integrationsView(root: HTMLElement): View {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const type = options('Type', ['pagerduty', 'alertmanager'] as const);
  const direction = options('Direction', ['inbound', 'outbound', 'bidirectional'] as const);
  const list = h('ul', { class: 'cards', 'aria-label': 'Integrations' });
  const create = (event: Event) => {
    event.preventDefault();
    const body = { type: type.chosen(), direction: direction.chosen() };
    attempt(async () => {
      await api().createIntegration(body);
      await loadIntegrations();
    });
  };
  const empty = emptyState(
    'No integration yet',
    'An integration has a webhook URL to give to PagerDuty or Alertmanager. Make one above.',
  );
  root.append(
    h('div', { class: 'bar' }, h('h1', {}, 'Integrations')),
    h(
      'form',
      { class: 'tools card', 'aria-label': 'New integration', submit: create },
      h('h2', {}, 'New integration'),
      type.label,
      direction.label,
      h('button', { type: 'submit' }, 'Create'),
    ),
    problem,
    list,
    empty,
  );

  async function attempt(change: () => Promise<void>): Promise<void> {
    setText(problem, '');
    try {
      await change();
    } catch (error) {
      if (!(error instanceof ForeshockError)) throw error;
      setText(problem, error.detail);
    }
  }

  function card(integration: Integration): HTMLElement {
    const { id, webhook_url } = integration;
    const url = h('input', { type: 'text', readonly: true, value: webhook_url, 'aria-label': 'Webhook URL' });
    const copy = copyButton('Copy', () => webhook_url);
    const rotate = twice('Rotate token', 'The old URL stops working. Rotate?', () =>
      attempt(async () => {
        await api().rotateToken(id);
        await loadIntegrations();
      }),
    );
    const remove = twice('Delete', 'The URL stops working for good. Delete?', () =>
      attempt(async () => {
        await api().deleteIntegration(id);
        await loadIntegrations();
      }),
    );
    const sent = h('ul', { class: 'rows', 'aria-label': 'Deliveries' });
    const deliveries = h('details', {}, h('summary', {}, 'What was sent'), sent);
    deliveries.addEventListener('toggle', () =>
      attempt(async () => {
        if (deliveries.open) showDeliveries(sent, await api().listDeliveries(id));
      }),
    );
    return h(
      'li',
      {},
      h(
        'div',
        { class: 'bar' },
        h('h2', {}, integration.type),
        h('span', { class: 'state' }, integration.direction),
        h('span', { class: 'when' }, `made ${ago(Date.parse(integration.created_at), nowMs())}`),
      ),
      h('div', { class: 'copy' }, url, copy),
      h('div', { class: 'tools' }, rotate, remove),
      deliveries,
    );
  }

  function update(): void {
    const integrations = all('integrations');
    patch(list, integrations, {
      key: ({ id, webhook_url }) => `${id} ${webhook_url}`,
      make: card,
      update: () => {},
    });
    empty.hidden = integrations.length > 0 || getValue('connection') !== 'live';
  }

  return { title: 'Integrations', update };
}

function options<Value extends string>(label: string, values: readonly [Value, ...Value[]]) {
  const select = h('select', {}, ...values.map((value) => h('option', { value }, value)));
  const chosen = () => values.find((value) => value === select.value) ?? values[0];
  return { chosen, label: h('label', {}, `${label} `, select) };
}

/** A button that asks before it does what cannot be taken back. */
function twice(text: string, question: string, act: () => void): HTMLElement {
  const button = h('button', { type: 'button', class: 'quiet grave' }, text);
  button.addEventListener('click', () => {
    if (button.dataset['sure'] === 'yes') return act();
    button.dataset['sure'] = 'yes';
    setText(button, question);
  });
  button.addEventListener('blur', () => {
    delete button.dataset['sure'];
    setText(button, text);
  });
  return button;
}

function showDeliveries(list: HTMLElement, deliveries: readonly Delivery[]): void {
  const rows = deliveries.map(deliveryRow);
  list.replaceChildren(...(rows.length === 0 ? [h('li', {}, 'Nothing yet.')] : rows));
}
