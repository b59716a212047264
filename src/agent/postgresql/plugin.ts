/**
 * The PostgreSQL plugin: lines of a server log, in any of its three formats, to ContextEvents. A line becomes part
 * of a record, a record an entry, an entry perhaps a finding, and a finding that is news an event.
 */
import type { AgentEvent, Plugin, PluginContext, Reading } from '../plugin.ts';
import type { LogEntry } from './entry.ts';
import { parseEntry } from './format.ts';
import { type Finding, KINDS } from './kinds.ts';
import { type Configuration, NO_CONFIGURATION, readConfiguration } from './parameters.ts';
import { joinLine } from './record.ts';
import { NO_REPORTS, newsIn, type Reports } from './repeats.ts';
import { readRestart, type ServerState, UNKNOWN_STATE } from './restart.ts';
import { findingIn } from './rules.ts';
import { introduced, NO_SESSIONS, rememberSession, type Sessions } from './sessions.ts';
import { shareableLine, shareableValue } from './shareable.ts';

/** What is remembered of the lines so far. */
export interface PostgresqlMemory {
  /** The beginning of a csvlog record that goes on. */
  readonly pending: string | null;
  readonly sessions: Sessions;
  readonly configuration: Configuration;
  readonly server: ServerState;
  readonly reports: Reports;
}

const VENDOR = 'postgresql';

export const postgresql: Plugin<PostgresqlMemory> = {
  name: 'postgresql',
  vendor: VENDOR,
  initialMemory: {
    pending: null,
    sessions: NO_SESSIONS,
    configuration: NO_CONFIGURATION,
    server: UNKNOWN_STATE,
    reports: NO_REPORTS,
  },
  read,
};

function read(memory: PostgresqlMemory, line: string, context: PluginContext): Reading<PostgresqlMemory> {
  const { pending, record } = joinLine(memory.pending, line);
  const joined = pending === memory.pending ? memory : { ...memory, pending };
  const entry = record === null ? null : parseEntry(record);
  return entry === null ? { memory: joined, event: null } : readEntry(joined, entry, context);
}

function readEntry(
  memory: PostgresqlMemory,
  bareEntry: LogEntry,
  context: PluginContext,
): Reading<PostgresqlMemory> {
  const sessions = rememberSession(memory.sessions, bareEntry);
  const entry = introduced(sessions, bareEntry);
  const { configuration, finding: change } = readConfiguration(memory.configuration, entry);
  const { server, finding: restart } = readRestart(memory.server, entry);
  const finding = change ?? restart ?? findingIn(entry);
  const news =
    finding === null ? { reports: memory.reports, finding } : newsIn(memory.reports, finding, entry.clockMs);
  return {
    memory: { pending: memory.pending, sessions, configuration, server, reports: news.reports },
    event: news.finding === null ? null : eventOf(news.finding, entry, context),
  };
}

function eventOf(finding: Finding, entry: LogEntry, { serviceName }: PluginContext): AgentEvent {
  const { eventType, confidence, ttlSeconds } = KINDS[finding.kind];
  return {
    service_name: serviceName,
    vendor: VENDOR,
    entity: shareableValue(finding.entity) || VENDOR,
    event_type: eventType,
    ...(finding.oldValue === undefined ? {} : { old_value: shareableValue(finding.oldValue) }),
    ...(finding.newValue === undefined ? {} : { new_value: shareableValue(finding.newValue) }),
    ...(finding.actor === undefined ? {} : { actor: shareableValue(finding.actor) }),
    confidence,
    ttl_seconds: ttlSeconds,
    ...(entry.timestamp === null ? {} : { timestamp: entry.timestamp }),
    raw_line: shareableLine(entry.rawLine),
  };
}
