/** The jsonlog format (PostgreSQL 15 and later): one object a line; keys without a value are left out. */
import { known, type LogEntry } from './entry.ts';
import { logTimeOf } from './log-time.ts';

/**
 * What of a record may be sent on. Named by what is let through, for the rest quotes SQL: `statement`, `detail`,
 * `context`, `internal_query` and what later versions will add.
 */
const SHAREABLE_KEYS = [
  'timestamp',
  'user',
  'dbname',
  'pid',
  'remote_host',
  'remote_port',
  'session_id',
  'line_num',
  'ps',
  'session_start',
  'vxid',
  'txid',
  'error_severity',
  'state_code',
  'message',
  'hint',
  'application_name',
  'backend_type',
  'leader_pid',
  'query_id',
] as const;

/** `state_code` is left out where it is this. */
const SUCCESS = '00000';

export function jsonlogEntry(record: string): LogEntry | null {
  const fields = fieldsOf(record);
  const text = (key: string): string | null => {
    const field = fields.get(key);
    return typeof field === 'string' ? field : null;
  };
  const time = logTimeOf(text('timestamp') ?? '');
  const message = text('message');
  const severity = text('error_severity');
  if (time === null || message === null || severity === null) return null;
  const pid = fields.get('pid');
  return {
    clockMs: time.clockMs,
    timestamp: time.iso,
    pid: typeof pid === 'number' ? pid : null,
    user: known(text('user')),
    database: known(text('dbname')),
    application: known(text('application_name')),
    backendType: known(text('backend_type')),
    severity,
    sqlState: text('state_code') ?? SUCCESS,
    message,
    rawLine: JSON.stringify(Object.fromEntries([...fields].filter(([key]) => isShareable(key)))),
  };
}

const shareable: ReadonlySet<string> = new Set(SHAREABLE_KEYS);
const isShareable = (key: string): boolean => shareable.has(key);

/** None where the record is no JSON object. */
function fieldsOf(record: string): ReadonlyMap<string, unknown> {
  try {
    const value: unknown = JSON.parse(record);
    return new Map(typeof value === 'object' && value !== null ? Object.entries(value) : []);
  } catch {
    return new Map();
  }
}
