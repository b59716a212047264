/**
 * Who is behind a process id. csvlog, jsonlog and Debian's prefix say it on every line; the default text prefix does
 * not, but with `log_connections` each session has introduced itself once, so it is remembered.
 */
import { withEntry, withoutEntry } from './bounded-map.ts';
import { known, type LogEntry } from './entry.ts';

type Session = Pick<LogEntry, 'user' | 'database' | 'application'>;

/** By process id. */
export type Sessions = ReadonlyMap<number, Session>;

export const NO_SESSIONS: Sessions = new Map();

/** More than most servers have connections; one that is forgotten costs its events their actor. */
const MAX_SESSIONS = 512;

/** Names are at most 63 bytes (NAMEDATALEN); what follows them is how the connection is encrypted. */
const AUTHORIZED =
  /^(?:replication )?connection authorized: user=(?<user>.{1,63}?)(?: database=(?<database>.{1,63}?))?(?: application_name=(?<application>.{0,63}?))?(?: (?:SSL|GSS) .*)?$/;

/** A process id is used again: whoever had it before is not who has it now. */
const ENDED = /^(?:connection received: |disconnection: )/;

/** After these no session of before is left, and the server's own processes may get their ids. */
const ALL_ENDED = /^(?:starting PostgreSQL |all server processes terminated)/;

export function rememberSession(sessions: Sessions, { pid, message, backendType }: LogEntry): Sessions {
  // A format that names the kind of process names the user too: there is nothing to remember.
  if (pid === null || backendType !== null) return sessions;
  if (ALL_ENDED.test(message)) return NO_SESSIONS;
  if (ENDED.test(message)) return withoutEntry(sessions, pid);
  const groups = AUTHORIZED.exec(message)?.groups;
  if (groups === undefined) return sessions;
  const { user, database, application } = groups;
  const session = { user: known(user), database: known(database), application: known(application) };
  return withEntry(sessions, pid, session, MAX_SESSIONS);
}

/** The entry with its session, where the line itself does not name it. */
export function introduced(sessions: Sessions, entry: LogEntry): LogEntry {
  const session = entry.pid === null || entry.backendType !== null ? undefined : sessions.get(entry.pid);
  if (session === undefined) return entry;
  return {
    ...entry,
    user: entry.user ?? session.user,
    database: entry.database ?? session.database,
    application: entry.application ?? session.application,
  };
}

/** Whether the line comes from a process of the server itself and not from a client's session, as far as is known. */
export function isFromServer(entry: LogEntry): boolean {
  return entry.user === null && entry.backendType !== 'client backend';
}

/** `app@orders (checkout-api)`, with as much of it as is known. */
export function actorOf({ user, database, application }: LogEntry): string | undefined {
  if (user === null) return application ?? undefined;
  const session = database === null ? user : `${user}@${database}`;
  return application === null ? session : `${session} (${application})`;
}
