/**
 * What becomes of a delivery after a call:
 *
 * | the call                                   | the delivery                                                 |
 * | ------------------------------------------ | ------------------------------------------------------------ |
 * | refused by the policy                      | dead: until the operator says --outbound-allow               |
 * | failed before anything was sent            | retry                                                        |
 * | failed afterwards                          | retry, in doubt: it may have been carried out                |
 * | 2xx                                        | delivered                                                    |
 * | 404 to the update of a note                | gone: a new note can be made                                 |
 * | 408, 5xx                                   | retry, in doubt                                              |
 * | 425, 429                                   | retry: it was not carried out                                |
 * | 1xx, 3xx, other 4xx                        | dead: asked again, the answer would be the same              |
 */

import { onOneLine, shortened } from '../lib/text.ts';
import type { Answered, CallResult, OutboundRequest } from './call-result.ts';
import { noteIdIn } from './pagerduty-notes.ts';

const MAX_EXCERPT_LENGTH = 200;

interface WithDetail {
  /** For whom the integration belongs to; holds none of the request's secrets. */
  readonly detail: string;
}

export type Verdict =
  | {
      readonly type: 'delivered';
      readonly status: number;
      /** Of a note that was created; null also where the answer did not say, and it has to be looked for. */
      readonly noteId: string | null;
    }
  | (WithDetail & {
      readonly type: 'retry';
      /** What the peer asked for; null where it asked for nothing. */
      readonly afterMs: number | null;
      /** It may have been carried out all the same: what must not happen twice has to be looked for first. */
      readonly inDoubt: boolean;
    })
  /** What was to be updated is not there any more. */
  | (WithDetail & { readonly type: 'gone' })
  | (WithDetail & { readonly type: 'dead' });

export function verdictOf(request: OutboundRequest, result: CallResult): Verdict {
  switch (result.type) {
    case 'refused':
      return { type: 'dead', detail: result.reason };
    case 'failed':
      return { type: 'retry', afterMs: null, inDoubt: result.sent, detail: result.reason };
    case 'answered':
      return verdictOnAnswer(request, result);
  }
}

function verdictOnAnswer({ kind, secrets }: OutboundRequest, answer: Answered): Verdict {
  const { status, body } = answer;
  if (status >= 200 && status < 300) {
    return { type: 'delivered', status, noteId: kind === 'note-create' ? noteIdIn(body) : null };
  }
  const detail = detailOf(answer, secrets);
  if (status === 404 && kind === 'note-update') return { type: 'gone', detail };
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const inDoubt = status === 408 || status >= 500;
    return { type: 'retry', afterMs: waitAskedFor(answer), inDoubt, detail };
  }
  return { type: 'dead', detail };
}

/**
 * `Retry-After` (RFC 9110 §10.2.3), a date of it read against the peer's own `Date`, since the two clocks need not
 * agree; or with 429 PagerDuty's `ratelimit-reset`, seconds, which says nothing elsewhere.
 */
function waitAskedFor({ status, headers }: Answered): number | null {
  const retryAfter = headers.get('retry-after')?.trim() ?? '';
  if (isSeconds(retryAfter)) return Number(retryAfter) * 1000;
  const delta = Date.parse(retryAfter) - Date.parse(headers.get('date') ?? '');
  if (!Number.isNaN(delta)) return Math.max(0, delta);
  const reset = headers.get('ratelimit-reset')?.trim() ?? '';
  return status === 429 && isSeconds(reset) ? Number(reset) * 1000 : null;
}

function isSeconds(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function detailOf({ status, headers, body }: Answered, secrets: readonly string[]): string {
  if (status >= 300 && status < 400) {
    return `answered ${status}: redirects are not followed, the URL itself has to be configured`;
  }
  // Cleaned before secrets are looked for, or a line end inside one would hide it; cut afterwards, or a cut would.
  let excerpt = onOneLine(messageIn(body, headers.get('content-type') ?? ''));
  for (const secret of secrets) {
    const cleaned = onOneLine(secret);
    if (cleaned !== '') excerpt = excerpt.replaceAll(cleaned, '[secret]');
  }
  return excerpt === ''
    ? `answered ${status}`
    : `answered ${status}: ${shortened(excerpt, MAX_EXCERPT_LENGTH)}`;
}

/** What JSON says in the usual places, else the text; of HTML nothing, which no log needs. */
function messageIn(body: string, contentType: string): string {
  if (/\bhtml\b/i.test(contentType)) return '';
  try {
    const texts: string[] = [];
    collectTexts(JSON.parse(body), texts);
    return texts.join('; ');
  } catch {
    return body;
  }
}

/** The texts under `error`, `message`, `errors`, `detail`, `title`: where errors in JSON keep them. */
function collectTexts(value: unknown, texts: string[], depthLeft = 3): void {
  if (typeof value === 'string') texts.push(value);
  if (typeof value !== 'object' || value === null || depthLeft === 0) return;
  for (const [key, member] of Object.entries(value)) {
    if (Array.isArray(value) || ['error', 'message', 'errors', 'detail', 'title'].includes(key)) {
      collectTexts(member, texts, depthLeft - 1);
    }
  }
}
