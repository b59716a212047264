/**
 * The plain text log. A line is `log_line_prefix`, a label, two spaces, a message. The prefix is the operator's:
 * read here are those that begin with the time (`%m` or `%t`), which takes in the server's default (`%m [%p] `),
 * Debian's (`%m [%p] %q%u@%d `), the one log analysers ask for (`%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h `)
 * and that of hosted servers (`%t:%r:%u@%d:[%p]:`).
 *
 * DETAIL, HINT, CONTEXT, STATEMENT and the like are lines of their own that quote SQL: no entry. Labels are known in
 * English only. In another language this format has nothing to tell a message by, as it carries no SQLSTATE.
 */
import { known, type LogEntry, pidOf } from './entry.ts';
import { LOG_TIME, logTimeOf } from './log-time.ts';

const MESSAGE_LABELS = new Set(['LOG', 'INFO', 'NOTICE', 'WARNING', 'ERROR', 'FATAL', 'PANIC']);

/** The first label counts; what is before it is prefix, so it must not itself hold a label's two spaces. */
const LABELLED =
  /^((?:(?!: {2}).){0,300}?)(?<![A-Za-z])(LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|QUERY|CONTEXT|LOCATION|BACKTRACE|STATEMENT): {2}(.*)$/s;

export function stderrEntry(record: string): LogEntry | null {
  const time = logTimeOf(record);
  if (time === null) return null;
  const afterTime = record.slice(LOG_TIME.exec(record)?.[0].length ?? 0);
  const [, prefix = '', severity = '', message = ''] = LABELLED.exec(afterTime) ?? [];
  if (!MESSAGE_LABELS.has(severity)) return null;
  return {
    clockMs: time.clockMs,
    timestamp: time.iso,
    pid: pidOf(/\[(\d+)/.exec(prefix)?.[1]),
    ...sessionOf(prefix),
    backendType: null,
    severity,
    sqlState: null,
    message,
    rawLine: record,
  };
}

function sessionOf(prefix: string): Pick<LogEntry, 'user' | 'database' | 'application'> {
  const named = (name: string) => known(new RegExp(`\\b${name}=([^,\\s]*)`).exec(prefix)?.[1]);
  const [, user, database] = /([^\s@:,[\]]+)@([^\s:,]+)/.exec(prefix) ?? [];
  return {
    user: known(user) ?? named('user'),
    database: known(database) ?? named('db'),
    application: named('app'),
  };
}
