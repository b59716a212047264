/** Pieces that several views show. */
import { ago } from './clock.ts';
import { foreign, h, patch, setText, setTextIn } from './dom.ts';
import { type Alert, type Delivery, type EventFields, type Load, typeName } from './model.ts';
import { addressOf, keepInAddress } from './view.ts';

export function typeBadge(type: string, times = 1): HTMLElement {
  return h('span', { class: `type ${type}` }, times === 1 ? typeName(type) : `${typeName(type)} ×${times}`);
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

/** What was sent, or is to be: in a list of such. @param alert what it tells of, where that is worth saying */
function deliveryRow({ kind, state, attempts, detail }: Delivery, alert?: Alert): HTMLElement {
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
    h('span', { class: 'when' }),
  );
}

/** What was sent, as a list, kept current. @param alertOf what each tells of, where that is worth saying */
export function patchDeliveries(
  list: Element,
  deliveries: readonly Delivery[],
  nowMs: number,
  alertOf: (delivery: Delivery) => Alert | undefined = () => undefined,
): void {
  patch(list, deliveries, {
    key: ({ id, state, updated_at }) => `${id} ${state} ${updated_at}`,
    make: (delivery) => deliveryRow(delivery, alertOf(delivery)),
    update: (row, { updated_at }) => setTextIn(row, '.when', ago(Date.parse(updated_at), nowMs)),
  });
}

/** What is said where something is not there yet. */
export function loadText(load: Load | undefined): string {
  return load?.state === 'failed' ? sentence(`it could not be loaded: ${load.detail}`) : 'Loading…';
}

/** A field that a list is searched with, kept in its address. */
export function searchField(
  list: string,
  placeholder: string,
  query: URLSearchParams,
  onSearch: () => void,
): HTMLInputElement {
  const field = h('input', {
    type: 'search',
    'aria-label': `Search ${list}`,
    placeholder,
    value: query.get('q') ?? '',
    input: () => {
      const text = field.value.trim();
      keepInAddress([list], text === '' ? {} : { q: text });
      onSearch();
    },
  });
  return field;
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
    command !== undefined && copyButton('Copy', () => command),
  );
}

/** As a sentence of its own. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? '' : '.'}`;
}

/** A number as it is read. */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
}

/** Shows more of a list, which says how much more there is. */
export function moreButton(click: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: 'quiet more', hidden: true, click });
}

/** Hidden where there is no more. */
export function showMore(button: HTMLButtonElement, left: number): void {
  button.hidden = left <= 0;
  setText(button, `Show more (${left.toLocaleString('en')})`);
}

/** Where something is that nobody has heard of. */
export function missing(what: string, address: string, where: string): HTMLElement {
  return h('div', { class: 'empty' }, h('h1', {}, what), h('p', {}, h('a', { href: address }, where)));
}

export function curlIntegration(): string {
  const auth = `-H "Authorization: Bearer $READ_ONLY_API_KEY" -H 'Content-Type: application/json'`;
  const body = JSON.stringify({ type: 'pagerduty', direction: 'inbound' });
  return `curl -sS ${location.origin}/v1/integrations ${auth} -d '${body}'`;
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
