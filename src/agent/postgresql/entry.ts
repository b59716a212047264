/** One message of a PostgreSQL log, whichever of the three formats it was written in. */

export interface LogEntry {
  /** See `LogTime`. */
  readonly clockMs: number;
  /** ISO 8601 UTC; null where the log's zone is ambiguous. */
  readonly timestamp: string | null;
  readonly pid: number | null;
  /** Who the session belongs to; null for the server's own processes, and where the format does not say. */
  readonly user: string | null;
  readonly database: string | null;
  /** The session's `application_name`. */
  readonly application: string | null;
  /** For example `client backend`, `walreceiver`; null where the format does not say. */
  readonly backendType: string | null;
  /** `LOG`, `ERROR` …: localised in csvlog and jsonlog. */
  readonly severity: string;
  /** Five characters, `00000` where nothing went wrong; null where the format does not say. */
  readonly sqlState: string | null;
  /** The primary message: localised by `lc_messages`, without DETAIL, HINT and the like. */
  readonly message: string;
  /** The record without anything that quotes SQL. */
  readonly rawLine: string;
}

/** A field as it is kept: null for what the server leaves empty or does not know. */
export function known(field: string | null | undefined): string | null {
  return field === undefined || field === null || field === '' || field === '[unknown]' ? null : field;
}

/** A process id, or null where the text is none. */
export function pidOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}
