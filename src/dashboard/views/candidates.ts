/** What an alert may be due to, the likeliest first. */
import { span } from '../clock.ts';
import { foreign, h } from '../dom.ts';
import type { Candidate } from '../model.ts';
import { eventText, typeBadge } from '../parts.ts';

const FOREMOST = 3;

/** @param service of the alert: what is of another says so */
export function candidateList(candidates: readonly Candidate[], service: string | null): HTMLElement {
  if (candidates.length === 0) {
    return h('p', { class: 'facts' }, 'Nothing is known to have changed before it.');
  }
  return h(
    'ol',
    { class: 'rows candidates', 'aria-label': 'Candidates, the likeliest first' },
    ...candidates.map((candidate, index) => row(candidate, index + 1, service)),
  );
}

function row(candidate: Candidate, rank: number, service: string | null): HTMLElement {
  const { event, score, reasons, minutes_before, occurrences } = candidate;
  const isOther = event.service_name !== service;
  const times = occurrences > 1 ? `, ${occurrences} times` : '';
  return h(
    'li',
    {},
    h('span', { class: rank <= FOREMOST ? 'rank foremost' : 'rank', 'aria-hidden': 'true' }, String(rank)),
    typeBadge(event.event_type),
    h('span', { class: 'told' }, isOther && foreign(event.service_name), isOther && ': ', eventText(event)),
    h('span', { class: 'when' }, `${span(Math.round(minutes_before * 60))} before${times}`),
    h(
      'span',
      { class: 'reasons' },
      ...reasons.map((reason) => h('span', {}, reason.replaceAll('_', ' '))),
      h('span', { class: 'score' }, `score ${score.toFixed(2)}`),
    ),
  );
}
