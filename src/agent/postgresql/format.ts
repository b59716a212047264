/** The three formats of a PostgreSQL log, told apart by how a record begins: a log may change format on the way. */
import { csvlogEntry } from './csvlog.ts';
import type { LogEntry } from './entry.ts';
import { jsonlogEntry } from './jsonlog.ts';
import { stderrEntry } from './stderr.ts';

/** Null where the record is of none of the formats, or holds no message of its own (HINT, STATEMENT …). */
export function parseEntry(record: string): LogEntry | null {
  if (record.startsWith('{')) return jsonlogEntry(record);
  return csvlogEntry(record) ?? stderrEntry(record);
}
