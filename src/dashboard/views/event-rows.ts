/** Events as a list, each of which shows its bar. */
import { ago, clockTime } from '../clock.ts';
import { foreign, h, set, setTextIn } from '../dom.ts';
import type { ServiceEvent } from '../model.ts';
import { eventText, typeBadge } from '../parts.ts';

export function makeEvent(event: ServiceEvent, onChoose: () => void): Element {
  return h(
    'li',
    {},
    h(
      'button',
      { type: 'button', class: 'row', click: onChoose },
      typeBadge(event.event_type),
      eventText(event),
      h('span', { class: 'by' }, foreign(event.actor ?? event.vendor)),
      h('span', { class: 'when' }),
    ),
  );
}

export function updateEvent(row: Element, event: ServiceEvent, isChosen: boolean, now: number): void {
  const isOver = event.untilMs <= now;
  set(row, { class: isOver ? 'over' : undefined });
  set(row.firstElementChild ?? row, { 'aria-pressed': isChosen ? 'true' : 'false' });
  const until = isOver ? 'expired' : `until ${clockTime(event.untilMs, now)}`;
  setTextIn(row, '.when', `${ago(event.fromMs, now)}, ${until}`);
}
