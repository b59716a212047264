/** The alerts of a service, of which one is chosen. */
import { ago } from '../clock.ts';
import { foreign, h, patch, set, setTextIn } from '../dom.ts';
import type { Alert } from '../model.ts';
import { moreButton, showMore, stateBadge } from '../parts.ts';

/** More are shown when somebody asks for them. */
const LISTED = 5;

export class AlertChoice {
  readonly element = h('section', { 'aria-labelledby': 'alerts-heading' });
  readonly #onChoose: (id: string) => void;
  readonly #rows = h('ul', { class: 'rows alerts', 'aria-label': 'Alerts of this service' });
  readonly #more = moreButton(() => {
    this.#listed = Number.POSITIVE_INFINITY;
    this.#more.hidden = true;
  });
  #listed = LISTED;

  constructor(onChoose: (id: string) => void) {
    this.#onChoose = onChoose;
    this.element.append(h('h2', { id: 'alerts-heading' }, 'Alerts'), this.#rows, this.#more);
  }

  show(alerts: readonly Alert[], chosenId: string | undefined, nowMs: number): void {
    this.element.hidden = alerts.length === 0;
    patch(this.#rows, alerts.slice(0, this.#listed), {
      key: ({ id, status }) => `${id} ${status}`,
      make: (alert) => this.#row(alert),
      update: (row, { id, started_at }) => {
        set(row.firstElementChild ?? row, { 'aria-pressed': id === chosenId ? 'true' : 'false' });
        setTextIn(row, '.when', ago(Date.parse(started_at), nowMs));
      },
    });
    showMore(this.#more, alerts.length - this.#listed);
  }

  #row({ id, title, severity, status }: Alert): Element {
    return h(
      'li',
      { class: status },
      h(
        'button',
        { type: 'button', class: 'row', click: () => this.#onChoose(id) },
        h('span', { class: 'name' }, foreign(title)),
        severity !== null && h('span', { class: 'by' }, foreign(severity)),
        stateBadge(status),
        h('span', { class: 'when' }),
      ),
    );
  }
}
