/** Lines of PostgreSQL logs, and what the plugin makes of them. */
import { readFileSync } from 'node:fs';
import type { AgentEvent } from '../../src/agent/plugin.ts';
import { postgresql } from '../../src/agent/postgresql/plugin.ts';

/** The lines of a captured log. */
export const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8').split('\n');

/** The events of a log, from its first line on. */
export function eventsOf(lines: readonly string[]): AgentEvent[] {
  let memory = postgresql.initialMemory;
  const events: AgentEvent[] = [];
  for (const line of lines) {
    const reading = postgresql.read(memory, line, { serviceName: 'orders-db' });
    memory = reading.memory;
    if (reading.event !== null) events.push(reading.event);
  }
  return events;
}

/** The last event of a log. */
export const eventOf = (...lines: string[]) => eventsOf(lines).at(-1);

/** A line of the default prefix. */
export const line = (text: string, at = '15:00:00.000', pid = 77) => `2026-11-20 ${at} UTC [${pid}] ${text}`;

interface Columns {
  readonly user?: string;
  readonly severity?: string;
  readonly state?: string;
  readonly message: string;
  readonly backend?: string;
}

/** A csvlog record with SQL everywhere that the server may put it. */
export function csv({
  user = '',
  severity = 'LOG',
  state = '00000',
  message,
  backend = 'postmaster',
}: Columns): string {
  const text = message.replaceAll('"', '""');
  return `2026-11-20 15:00:00.000 UTC,"${user}","",77,"[local]",6b00.1,1,"UPDATE",2026-11-20 15:00:00 UTC,3/8,0,${severity},${state},"${text}","SECRET detail",,"SECRET inner",,"SECRET context","SECRET sql",,,"","${backend}",,0`;
}

/** What the kinds of events have in common. */
export const RESTART = {
  event_type: 'restart',
  entity: 'database system',
  confidence: 0.95,
  ttl_seconds: 3600,
};
export const CHANGE = { event_type: 'flag_change', confidence: 0.95, ttl_seconds: 14_400 };
export const PRESSURE = { event_type: 'saturation', confidence: 0.9, ttl_seconds: 900 };
export const CONTENTION = { event_type: 'saturation', confidence: 0.6, ttl_seconds: 600 };
