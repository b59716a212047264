/** Pieces that several views show. */
import { ago, nowMs } from './clock.ts';
import { foreign, h, setText } from './dom.ts';
import { type Delivery, type EventFields, typeName } from './model.ts';
import { get } from './store.ts';
import { addressOf } from './view.ts';

export function typeBadge(type: string, count = 1): HTMLElement {
  return h('span', { class: `type ${type}` }, count === 1 ? typeName(type) : `${typeName(type)} ×${count}`);
}

export function stateBadge(state: string): HTMLElement {
  return h('span', { class: `state ${state}` }, state);
}

/** What changed, in a line. */
export function eventText({ entity, old_value, new_value }: EventFields): HTMLElement {
  const line = h('span', { class: 'what' }, foreign(entity, 'entity'));
  if (old_value !== null || new_value !== null) {
    line.append(' ', ...(old_value === null ? [] : [foreign(old_value), ' → ']), foreign(new_value));
  }
  return line;
}

/** What was sent, or is to be: in a list of such. */
export function deliveryRow({ kind, state, attempts, updated_at, detail, alert_id }: Delivery): HTMLElement {
  const alert = alert_id === null ? undefined : get('alerts', alert_id);
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return h(
    'li',
    {},
    stateBadge(state),
    h('span', {}, kind.replaceAll('-', ' ')),
    alert !== undefined && h('a', { href: addressOf(['alerts', alert.id]) }, foreign(alert.title)),
    h(
      'span',
      { class: 'by' },
      attempts === 0 ? 'not tried yet' : tries,
      detail !== null && ', ',
      detail !== null && foreign(detail),
    ),
    h('span', { class: 'when' }, ago(Date.parse(updated_at), nowMs())),
  );
}

const COPIED_MS = 2000;

/** A button that puts a text on the clipboard. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'quiet' }, label);
  button.addEventListener('click', async () => {
    setText(button, (await copy(text())) ? 'Copied' : 'Not copied');
    setTimeout(() => setText(button, label), COPIED_MS);
  });
  return button;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS a browser has no clipboard but the old one, of what is selected.
    const field = h('textarea', { readonly: true, class: 'skip' });
    field.value = text;
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand('copy');
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}

/** Where there is nothing yet: what to do, with a line to paste. */
export function emptyState(what: string, advice: string, command?: string): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('h2', {}, what),
    h('p', {}, advice),
    command !== undefined &&
      h('pre', { tabindex: 0, 'aria-label': 'Command to paste' }, h('code', {}, command)),
  );
}

export function curlEvent(): string {
  const event = {
    service_name: 'checkout-api',
    vendor: 'argocd',
    entity: 'checkout-api',
    event_type: 'deploy',
    old_value: 'v41',
    new_value: 'v42',
    confidence: 0.95,
    ttl_seconds: 3600,
  };
  const auth = `-H "Authorization: Bearer $INGEST_API_KEY" -H 'Content-Type: application/json'`;
  return (
    `curl -sS ${location.origin}/v1/agents/register ${auth} -d '{"hostname":"my-host"}'\n` +
    `curl -sS ${location.origin}/v1/events ${auth} -d '${JSON.stringify(event)}'`
  );
}
