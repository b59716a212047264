/** The causes of an alert, as far as they are known. */
import { clockTime } from '../clock.ts';
import { foreign, h } from '../dom.ts';
import type { Alert } from '../model.ts';
import { loadText } from '../parts.ts';
import { addressOf, type Page } from '../view.ts';
import { candidateList } from './candidates.ts';

/** The candidates of an alert; or that there are none, or that nobody knows yet. */
export function causesOf(
  { store, needs }: Page,
  alert: Alert,
  onChoose?: (index: number) => void,
): HTMLElement {
  const { candidates } = alert;
  if (candidates === undefined) {
    return h('p', { class: 'facts' }, loadText(needs.load('alert', alert.id)));
  }
  if (candidates.length === 0) {
    return h('p', { class: 'facts' }, 'Nothing is known to have changed before it.');
  }
  const addressOfService = (name: string) => {
    const service = store.where('servicesByName', name)[0];
    return service && addressOf(['services', service.id], { alert: alert.id });
  };
  return candidateList(candidates, {
    service: alert.service,
    addressOfService,
    ...(onChoose !== undefined && { onChoose }),
  });
}

/** What an alert that is looked at may be due to. */
export class Causes {
  readonly element = h('section', { 'aria-labelledby': 'causes-heading', hidden: true });
  readonly #page: Page;
  readonly #onChoose: (index: number) => void;
  #shown = '';

  constructor(page: Page, onChoose: (index: number) => void) {
    this.#page = page;
    this.#onChoose = onChoose;
    this.element.className = 'causes';
  }

  show(alert: Alert | undefined, nowMs: number): void {
    this.element.hidden = alert === undefined;
    if (alert === undefined) return;
    const { id, title, status, started_at, resolved_at, candidates } = alert;
    const state = this.#page.needs.load('alert', id)?.state;
    const version = JSON.stringify([id, title, status, resolved_at, candidates, state]);
    if (this.#shown === version) return;
    this.#shown = version;
    const began = clockTime(Date.parse(started_at), nowMs);
    const ended = resolved_at === null ? '' : `, resolved ${clockTime(Date.parse(resolved_at), nowMs)}`;
    this.element.replaceChildren(
      h('h2', { id: 'causes-heading' }, 'What changed before ', foreign(title)),
      h(
        'p',
        { class: 'facts' },
        `${status === 'firing' ? 'Firing since' : 'Fired'} ${began}${ended}. `,
        h('a', { href: addressOf(['alerts', id]) }, 'All of this alert'),
      ),
      causesOf(this.#page, alert, this.#onChoose),
    );
  }
}
