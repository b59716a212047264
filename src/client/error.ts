/** The one error that a call to a Foreshock server ends with. */

export type FailureKind =
  /** An answer came, and it says no: `status` and `detail` say why. */
  | 'refused'
  /** No answer came, or not all of it. The request may have been carried out. */
  | 'unreachable'
  /** No answer came in time. The request may have been carried out. */
  | 'timeout'
  /** An answer came that no Foreshock server gives: the address is probably wrong. */
  | 'unexpected';

export interface Failure {
  readonly kind: FailureKind;
  /** For example `POST /v1/events`. */
  readonly call: string;
  /** HTTP status; null where no answer came. */
  readonly status: number | null;
  /** The name of the status, as `Forbidden`. */
  readonly title: string;
  /** The server's sentence, or ours where it said nothing. Must not hold the API key. */
  readonly detail: string;
  /** What the server calls the request in its log; null where no answer came. */
  readonly requestId?: string | null;
  /** How long the server asked to be left alone, milliseconds; null where it did not. */
  readonly retryAfterMs?: number | null;
  /** How often it was tried. */
  readonly attempts?: number;
}

export class ForeshockError extends Error implements Failure {
  override readonly name = 'ForeshockError';
  readonly kind: FailureKind;
  readonly call: string;
  readonly status: number | null;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly attempts: number;

  constructor(failure: Failure) {
    const { call, status, detail } = failure;
    super(status === null ? `${call}: ${detail}` : `${call}: ${status} ${detail}`);
    this.kind = failure.kind;
    this.call = call;
    this.status = status;
    this.title = failure.title;
    this.detail = detail;
    this.requestId = failure.requestId ?? null;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    this.attempts = failure.attempts ?? 1;
  }

  /**
   * Whether the server is away: it cannot be reached, is starting, asks for patience, or something in front of it says as
   * much (408, 502, 504 …). Whoever has the time sends the same again, however long it takes.
   */
  get isServerAway(): boolean {
    if (this.status === null) return true;
    return this.kind === 'refused' && (this.status === 408 || this.status === 429 || this.status >= 500);
  }

  /** Whether the same call may soon succeed. A 500 is a mistake, which it takes more than a moment to mend. */
  get retryable(): boolean {
    return this.isServerAway && this.status !== 500;
  }
}
