/** The csvlog format: one record of 23 (PostgreSQL 9 to 12) to 26 columns, which may span lines inside quotes. */
import { parse } from 'csv-parse/sync';
import { known, type LogEntry, pidOf } from './entry.ts';
import { logTimeOf } from './log-time.ts';

/** Columns by number, from 0; new versions add at the end. */
const COLUMN = {
  time: 0,
  user: 1,
  database: 2,
  pid: 3,
  severity: 11,
  sqlState: 12,
  message: 13,
  detail: 14,
  internalQuery: 16,
  context: 18,
  query: 19,
  application: 22,
  backendType: 23,
} as const;

/** Those that quote SQL, or the command lines of `archive_command` and its like. */
const WITHHELD: ReadonlySet<number> = new Set([
  COLUMN.detail,
  COLUMN.internalQuery,
  COLUMN.context,
  COLUMN.query,
]);

const BEGINNING = /^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [A-Za-z0-9:+-]{1,6},/;

/** Whether a line is the first of a csvlog record. */
export function beginsCsvlogRecord(line: string): boolean {
  return BEGINNING.test(line);
}

export function csvlogEntry(record: string): LogEntry | null {
  if (!beginsCsvlogRecord(record)) return null;
  const columns = columnsOf(record);
  const { [COLUMN.severity]: severity, [COLUMN.sqlState]: sqlState, [COLUMN.message]: message } = columns;
  const time = logTimeOf(columns[COLUMN.time] ?? '');
  if (time === null || severity === undefined || sqlState === undefined || message === undefined) return null;
  return {
    clockMs: time.clockMs,
    timestamp: time.iso,
    pid: pidOf(columns[COLUMN.pid]),
    user: known(columns[COLUMN.user]),
    database: known(columns[COLUMN.database]),
    application: known(columns[COLUMN.application]),
    backendType: known(columns[COLUMN.backendType]),
    severity,
    sqlState,
    message,
    rawLine: columns.map((column, index) => (WITHHELD.has(index) ? '' : quotedColumn(column))).join(','),
  };
}

/** None where the record is not CSV. */
function columnsOf(record: string): readonly string[] {
  try {
    return parse(record, { relax_column_count: true })[0] ?? [];
  } catch {
    return [];
  }
}

function quotedColumn(column: string): string {
  return /[",\r\n]/.test(column) ? `"${column.replaceAll('"', '""')}"` : column;
}
