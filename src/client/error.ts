/** The one error that a call to a Foreshock server ends with. */

export interface Failure {
  /** For example `POST /v1/events`. */
  readonly call: string;
  /** HTTP status; null where no answer came. */
  readonly status: number | null;
  /** The server's sentence, or ours where it said nothing. Must not hold the API key. */
  readonly detail: string;
  /** How long the server asked to be left alone, milliseconds; null where it did not. */
  readonly retryAfterMs?: number | null;
}

export class ForeshockError extends Error {
  override readonly name = 'ForeshockError';
  readonly status: number | null;
  readonly detail: string;
  readonly retryAfterMs: number | null;

  constructor({ call, status, detail, retryAfterMs = null }: Failure) {
    super(status === null ? `${call}: ${detail}` : `${call}: ${status} ${detail}`);
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }

  /**
   * Whether the same call may succeed later: the server cannot be reached, is starting, or asks for patience.
   * 502 and 504 are what a proxy in front makes of an unreachable server; 408 is its word for a slow client.
   */
  get transient(): boolean {
    return this.status === null || [408, 429, 502, 503, 504].includes(this.status);
  }
}
