/** What an alert may be due to, the likeliest first. */
import { span } from '../clock.ts';
import { foreign, h } from '../dom.ts';
import type { Candidate } from '../model.ts';
import { eventText, typeBadge } from '../parts.ts';

/** Ranks up to this are what is to be looked at first. */
export const FOREMOST = 3;

/** What the reasons of a candidate say, where their own words do not. */
const REASONS: Readonly<Record<string, string>> = {
  changed_before_start: 'changed before it began',
  still_live: 'still in effect',
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

/** How long before an alert it was. */
export function beforeText(minutesBefore: number): string {
  return minutesBefore < 1 / 60 ? 'just before' : `${span(Math.round(minutesBefore * 60))} before`;
}

export interface CandidateListOptions {
  /** Of the alert: what is of another says so. */
  readonly service: string | null;
  /** The address of another service, by name. */
  readonly addressOfService: (name: string) => string | undefined;
  /** Shows one of them, by its place in the list. */
  readonly onChoose?: (index: number) => void;
}

export function candidateList(candidates: readonly Candidate[], options: CandidateListOptions): HTMLElement {
  return h(
    'ol',
    { class: 'rows candidates', 'aria-label': 'Candidates, the likeliest first' },
    ...candidates.map((candidate, index) => row(candidate, index, options)),
  );
}

function row(
  { event, score, reasons, minutes_before, occurrences }: Candidate,
  index: number,
  { service, addressOfService, onChoose }: CandidateListOptions,
): HTMLElement {
  const rank = index + 1;
  const { service_name } = event;
  const address = service_name === service ? undefined : addressOfService(service_name);
  const times = occurrences > 1 ? `, ${occurrences} times` : '';
  const mark = { class: rank <= FOREMOST ? 'rank foremost' : 'rank' };
  return h(
    'li',
    {},
    onChoose === undefined
      ? h('span', { ...mark, 'aria-hidden': 'true' }, String(rank))
      : h(
          'button',
          { ...mark, type: 'button', 'aria-label': `Show candidate ${rank}`, click: () => onChoose(index) },
          String(rank),
        ),
    typeBadge(event.event_type),
    h(
      'span',
      { class: 'told' },
      service_name !== service &&
        (address === undefined ? foreign(service_name) : h('a', { href: address }, foreign(service_name))),
      service_name !== service && ': ',
      eventText(event),
    ),
    h('span', { class: 'when' }, `${beforeText(minutes_before)}${times}`),
    h(
      'span',
      { class: 'reasons' },
      ...reasons.map((reason) => h('span', {}, reasonText(reason))),
      h(
        'span',
        { class: 'score', title: 'From 0 to 1: how much speaks for it' },
        `score ${score.toFixed(2)}`,
      ),
    ),
  );
}
