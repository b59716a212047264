/**
 * Notes on PagerDuty's incidents (REST API v2): one note an incident, found again and updated. A create whose answer
 * was lost may have made the note, so the last line of a note is its marker: whoever is in doubt lists the notes and
 * looks for it before creating another.
 */
import { z } from 'zod';
import { shortened } from '../lib/text.ts';
import {
  type Answered,
  type OutboundRequest,
  type Refused,
  type RequestKind,
  refused,
} from './call-result.ts';
import { below } from './url.ts';

/** PagerDuty says nothing of a limit; nobody who is paged reads further than this. */
const MAX_NOTE_LENGTH = 10_000;

/** What a list can come to: 2000 notes are the most an incident has. More than this of it is not read. */
export const MAX_NOTE_LIST_BYTES = 4 * 1024 * 1024;

export interface PagerDutyAccount {
  /** https://api.pagerduty.com, or the host of another region. */
  readonly baseUrl: string;
  /** A REST API key. */
  readonly token: string;
  /** E-mail address of the user in whose name notes are written; PagerDuty demands it for writing. */
  readonly from: string;
}

export interface NoteText {
  readonly text: string;
  /** One line, the same for all notes about one alert and for no other. */
  readonly marker: string;
}

export type NoteFinding =
  | { readonly type: 'found'; readonly noteId: string }
  | { readonly type: 'absent' }
  /** Cut short or not a list of notes: the note may be there. */
  | { readonly type: 'unreadable' };

const noteSchema = z.looseObject({ id: z.string().min(1), content: z.string() });
const noteListSchema = z.looseObject({ notes: z.array(noteSchema) });
const noteAnswerSchema = z.looseObject({ note: z.looseObject({ id: z.string().min(1) }) });

export function listNotes(account: PagerDutyAccount, incidentId: string): OutboundRequest | Refused {
  return noteRequest(account, 'note-list', 'GET', ['incidents', incidentId, 'notes'], null);
}

export function createNote(
  account: PagerDutyAccount,
  incidentId: string,
  note: NoteText,
): OutboundRequest | Refused {
  return noteRequest(account, 'note-create', 'POST', ['incidents', incidentId, 'notes'], note);
}

export function updateNote(
  account: PagerDutyAccount,
  incidentId: string,
  noteId: string,
  note: NoteText,
): OutboundRequest | Refused {
  return noteRequest(account, 'note-update', 'PUT', ['incidents', incidentId, 'notes', noteId], note);
}

/** The id of a note in the answer to its creation; null where the answer does not say. */
export function noteIdIn(body: string): string | null {
  const parsed = noteAnswerSchema.safeParse(parsedJson(body));
  return parsed.success ? parsed.data.note.id : null;
}

/** Looks for our note in the answer to `listNotes`. */
export function findNote(answer: Answered, marker: string): NoteFinding {
  const parsed = noteListSchema.safeParse(parsedJson(answer.body));
  if (!answer.complete || !parsed.success) return { type: 'unreadable' };
  const note = parsed.data.notes.find(({ content }) => content.trimEnd().split(/\r?\n/).at(-1) === marker);
  return note === undefined ? { type: 'absent' } : { type: 'found', noteId: note.id };
}

function noteRequest(
  { baseUrl, token, from }: PagerDutyAccount,
  kind: RequestKind,
  method: OutboundRequest['method'],
  segments: readonly string[],
  note: NoteText | null,
): OutboundRequest | Refused {
  const url = below(baseUrl, segments);
  if (url === undefined) return refused('the base URL or the id of the incident or note makes no URL');
  return {
    type: 'request',
    kind,
    method,
    url,
    headers: {
      authorization: `Token token=${token}`,
      accept: 'application/vnd.pagerduty+json;version=2',
      from,
      ...(note === null ? {} : { 'content-type': 'application/json' }),
    },
    body: note === null ? null : JSON.stringify({ note: { content: contentOf(note) } }),
    secrets: [token],
  };
}

/** The text gives way, the marker stays: without it the note could not be found again. */
function contentOf({ text, marker }: NoteText): string {
  return `${shortened(text.trimEnd(), MAX_NOTE_LENGTH - marker.length - 2)}\n\n${marker}`;
}

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
