/** Pieces that several views show. */
import { foreign, h } from './dom.ts';
import { type EventFields, typeName } from './model.ts';

export function typeBadge(type: string, count?: number): HTMLElement {
  const text = count === undefined ? typeName(type) : `${count} ${typeName(type)}`;
  return h('span', { class: `type ${type}` }, text);
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
