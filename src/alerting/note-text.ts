/**
 * The note that whoever is paged reads, on a phone and half asleep: the likeliest causes, a line each, and where
 * the rest stands. It is plain text. What agents sent is put on one line and shortened, so that it can neither
 * break the note nor pretend to be part of it.
 *
 *     Foreshock: before "checkout-api: 5xx ratio above 5%" (checkout-api, times in UTC)
 *     1. 10:11 (4 min before) deploy checkout-api 1f2e9a40 → 9a8b77c1 by ci
 *     2. 10:02 (13 min before) dependency orders-db: saturation connections → 100 of 100 ×4
 *     And 3 more: https://foreshock.example/v1/alerts/…
 */
import type { Candidate, PastEvent } from '../domain/alert.ts';
import { onOneLine, shortened } from '../lib/text.ts';

export interface NoteInput {
  readonly title: string;
  /** Null where no service was matched. */
  readonly serviceName: string | null;
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** Where the alert and all its candidates are read; null where there is no such place. */
  readonly alertUrl: string | null;
}

const MAX_LINES = 3;
/** Lengths in UTF-16 units. Five lines of 190 and their breaks stay under 1000, which a phone shows. */
const MAX_LINE_LENGTH = 190;
const MAX_TITLE_LENGTH = 96;
const MAX_NAME_LENGTH = 40;
const MAX_VALUE_LENGTH = 24;
const REVISION = /^[0-9a-f]{12,64}$/i;
const REVISION_LENGTH = 8;

const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 24 * 60;

export function noteText({ title, serviceName, candidates, alertUrl }: NoteInput): string {
  const alert = `"${part(title, MAX_TITLE_LENGTH)}"`;
  if (serviceName === null) {
    const told = `Foreshock: ${alert} matched no service, so no cause was looked for.`;
    return joined([told, 'Map its name in config.service_map.', linkLine('Details', alertUrl)]);
  }
  const service = part(serviceName, MAX_NAME_LENGTH);
  if (candidates.length === 0) {
    const told = `Foreshock: nothing was reported for ${service} or its dependencies before ${alert}.`;
    return joined([
      told,
      'No agent saw a change; one may have happened all the same.',
      linkLine('Details', alertUrl),
    ]);
  }
  const rest = candidates.length - MAX_LINES;
  return joined([
    shortened(`Foreshock: before ${alert} (${service}, times in UTC)`, MAX_LINE_LENGTH),
    ...candidates
      .slice(0, MAX_LINES)
      .map((candidate, index) =>
        shortened(`${index + 1}. ${candidateLine(candidate, serviceName)}`, MAX_LINE_LENGTH),
      ),
    linkLine(rest > 0 ? `And ${rest} more` : 'Details', alertUrl),
  ]);
}

function joined(lines: readonly string[]): string {
  return lines.filter((line) => line !== '').join('\n');
}

/** A link that was cut would lead nowhere: one that is too long is left out. */
function linkLine(label: string, url: string | null): string {
  const line = url === null ? label : `${label}: ${onOneLine(url)}`;
  if (url !== null && line.length <= MAX_LINE_LENGTH) return line;
  return label === 'Details' ? '' : `${label}.`;
}

function candidateLine({ event, minutesBefore, occurrences }: Candidate, serviceName: string): string {
  const time = new Date(event.timestampMs).toISOString().slice(11, 16);
  const times = occurrences > 1 ? ` ×${occurrences}` : '';
  const { serviceName: name } = event;
  const dependency = name === serviceName ? '' : `dependency ${part(name, MAX_NAME_LENGTH)}: `;
  return `${time} (${distance(minutesBefore)}) ${dependency}${whatHappened(event)}${times}`;
}

function whatHappened(event: PastEvent): string {
  const { eventType, entity, actor } = event;
  const by = actor === null ? '' : ` by ${part(actor, MAX_VALUE_LENGTH)}`;
  return `${eventType.replace('_', ' ')} ${part(entity, MAX_NAME_LENGTH)}${change(event)}${by}`;
}

function change({ oldValue, newValue, sha }: PastEvent): string {
  const now = newValue ?? sha;
  if (oldValue !== null && now !== null) return ` ${value(oldValue)} → ${value(now)}`;
  if (now !== null) return ` → ${value(now)}`;
  return oldValue === null ? '' : ` (was ${value(oldValue)})`;
}

/** Revisions are told apart by their first digits; of anything else as much as fits. */
function value(text: string): string {
  return REVISION.test(text) ? text.slice(0, REVISION_LENGTH) : part(text, MAX_VALUE_LENGTH);
}

function part(text: string, maxLength: number): string {
  return shortened(onOneLine(text), maxLength);
}

function distance(minutesBefore: number): string {
  const minutes = Math.abs(minutesBefore);
  const side = minutesBefore < 0 ? 'after' : 'before';
  if (minutes < 1) return `<1 min ${side}`;
  if (minutes < 2 * MINUTES_PER_HOUR) return `${Math.round(minutes)} min ${side}`;
  if (minutes < 2 * MINUTES_PER_DAY) return `${Math.round(minutes / MINUTES_PER_HOUR)} h ${side}`;
  return `${Math.round(minutes / MINUTES_PER_DAY)} days ${side}`;
}
