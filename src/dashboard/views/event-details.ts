/** All that is known of an event, beside its bar. */
import { ago, clockTime } from '../clock.ts';
import { foreign, h, set } from '../dom.ts';
import type { Candidate, ServiceEvent } from '../model.ts';
import { eventText, typeBadge } from '../parts.ts';
import { reasonText } from './candidates.ts';

export interface DetailsOptions {
  readonly nowMs: number;
  /** Whose picture it is. */
  readonly service: string | undefined;
  readonly agentName: (id: string) => string | undefined;
  readonly candidate: { readonly rank: number; readonly candidate: Candidate } | undefined;
}

export class EventDetails {
  readonly element = h('div', { class: 'details', role: 'status', hidden: true });
  #shown = '';

  hide(): void {
    this.element.hidden = true;
    this.#shown = '';
  }

  show(event: ServiceEvent, options: DetailsOptions): void {
    this.element.hidden = false;
    const { nowMs, candidate } = options;
    const version = JSON.stringify([event, candidate, event.untilMs > nowMs]);
    if (this.#shown === version) return;
    this.#shown = version;
    this.element.replaceChildren(...describe(event, options));
  }

  /** Beside a bar, and within the picture. */
  placeAt(bar: Element, picture: Element): void {
    const { left, bottom } = bar.getBoundingClientRect();
    const frame = picture.getBoundingClientRect();
    const { offsetWidth: width } = this.element;
    const x = Math.max(4, Math.min(left - frame.left, frame.width - width - 4));
    set(this.element, { style: undefined });
    this.element.style.left = `${x}px`;
    this.element.style.top = `${bottom - frame.top + 6}px`;
  }
}

function describe(event: ServiceEvent, options: DetailsOptions): HTMLElement[] {
  const { nowMs, service, agentName, candidate } = options;
  const fact = (term: string, value: string | null | undefined) =>
    value == null ? [] : [h('dt', {}, term), h('dd', {}, foreign(value))];
  const time = (text: string | undefined) => {
    const ms = Date.parse(text ?? '');
    return Number.isNaN(ms) ? undefined : `${clockTime(ms, nowMs)}, ${ago(ms, nowMs)}`;
  };
  const { service_name, agent_id } = event;
  return [
    h('p', {}, typeBadge(event.event_type), ' ', eventText(event)),
    h(
      'dl',
      {},
      ...(candidate === undefined
        ? []
        : fact(
            'candidate',
            `${candidate.rank}, score ${candidate.candidate.score.toFixed(2)}: ${candidate.candidate.reasons
              .map(reasonText)
              .join(', ')}`,
          )),
      ...fact('service', service_name === service ? undefined : service_name),
      ...fact('vendor', event.vendor),
      ...fact('by', event.actor),
      ...fact('revision', event.sha),
      ...fact('confidence', String(event.confidence)),
      ...fact('agent', agent_id === undefined ? undefined : (agentName(agent_id) ?? agent_id)),
      ...fact('happened', time(event.timestamp)),
      ...fact('received', time(event.received_at)),
      ...fact(
        event.untilMs > nowMs ? 'relevant until' : 'was relevant until',
        clockTime(event.untilMs, nowMs),
      ),
    ),
  ];
}
