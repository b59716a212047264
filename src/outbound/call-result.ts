/** An outbound call, and what can come of it. */

/** What a request is for: it decides what its answer means. */
export type RequestKind = 'note-list' | 'note-create' | 'note-update' | 'change-event' | 'alerts';

export interface OutboundRequest {
  readonly type: 'request';
  readonly kind: RequestKind;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  /** By lower-case name; Host, Content-Length and Connection are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Texts in it that nobody may read: they are taken out of what is said about the answer. */
  readonly secrets: readonly string[];
}

/** The peer answered, whatever it said: redirects and errors are answers too. */
export interface Answered {
  readonly type: 'answered';
  readonly status: number;
  /** By lower-case name; where one was repeated, its values joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** As UTF-8, never decompressed. */
  readonly body: string;
  /** False where the body was cut: too long, too slow, or the connection was lost under it. */
  readonly complete: boolean;
}

/** Not allowed: nothing was sent. */
export interface Refused {
  readonly type: 'refused';
  readonly reason: string;
}

/** No answer came. */
export interface Failed {
  readonly type: 'failed';
  /** For whom the integration belongs to: no secrets, no addresses. */
  readonly reason: string;
  /** Whether the peer may have the request, and may have done what it asks. */
  readonly sent: boolean;
}

export type CallResult = Answered | Refused | Failed;

export function refused(reason: string): Refused {
  return { type: 'refused', reason };
}

/** Failed before anything of the request was written. */
export function notSent(reason: string): Failed {
  return { type: 'failed', reason, sent: false };
}
