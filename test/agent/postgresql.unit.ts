import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/agent/plugin.ts';
import {
  CHANGE,
  CONTENTION,
  csv,
  eventOf,
  eventsOf,
  fixture,
  line,
  PRESSURE,
  RESTART,
} from './postgresql-log.ts';

const withoutRawLine = ({ raw_line: _, ...event }: AgentEvent) => event;

const CONF = '/var/lib/postgresql/15/main/postgresql.conf';
const FULL_FILE = 'pg_tblspc/16421/PG_15_202209061/16384/16422';

const CAPTURE = [
  { at: '37:39.351', ...RESTART, old_value: 'shut down', new_value: 'ready' },
  {
    at: '37:40.776',
    ...CONTENTION,
    entity: 'statements',
    new_value: 'canceling statement due to statement timeout',
    actor: 'app@orders (checkout-api)',
  },
  {
    at: '37:42.127',
    ...CONTENTION,
    entity: 'locks',
    new_value: 'deadlock detected',
    actor: 'app@orders (a)',
  },
  {
    at: '37:44.519',
    ...CONTENTION,
    entity: 'locks',
    new_value: 'waiting for ShareLock on transaction 728 after 300.124 ms',
    actor: 'app@orders (b)',
  },
  {
    at: '37:44.719',
    ...CONTENTION,
    entity: 'locks',
    new_value: 'canceling statement due to lock timeout',
    actor: 'app@orders (b)',
  },
  {
    at: '37:46.803',
    ...PRESSURE,
    entity: 'connections',
    new_value: 'remaining connection slots are reserved for non-replication superuser connections',
  },
  { at: '37:47.843', ...PRESSURE, entity: 'connections', new_value: 'sorry, too many clients already' },
  {
    at: '37:51.855',
    ...CHANGE,
    confidence: 0.3,
    entity: CONF,
    new_value: `contains errors; no changes were applied: unrecognized configuration parameter "bogus_setting" in file "${CONF}" line 838`,
  },
  { at: '37:52.930', ...CHANGE, entity: 'log_temp_files', new_value: '1MB' },
  { at: '37:52.930', ...CHANGE, entity: 'work_mem', new_value: '64kB' },
  { at: '37:52.930', ...CHANGE, confidence: 0.3, entity: 'shared_buffers', new_value: 'pending restart' },
  { at: '37:52.930', ...CHANGE, entity: 'log_min_duration_statement', new_value: '250ms' },
  {
    at: '37:53.992',
    ...CHANGE,
    entity: 'log_min_duration_statement',
    old_value: '250ms',
    new_value: 'default',
  },
  {
    at: '37:55.241',
    ...PRESSURE,
    confidence: 0.3,
    entity: 'temporary files',
    new_value: '5600000 bytes',
    actor: 'postgres@orders (psql)',
  },
  { at: '38:15.146', ...PRESSURE, entity: 'checkpoints', new_value: '1 second apart' },
  {
    at: '38:20.052',
    ...PRESSURE,
    ttl_seconds: 3600,
    entity: FULL_FILE,
    new_value: `could not extend file "${FULL_FILE}": No space left on device`,
    actor: 'postgres@orders (psql)',
  },
  {
    at: '38:20.794',
    ...RESTART,
    old_value: 'ready',
    new_value: 'crashed: server process 25053 was terminated by signal 9: Killed',
  },
  { at: '38:21.094', ...RESTART, old_value: 'crashed', new_value: 'ready' },
  { at: '38:22.802', ...RESTART, old_value: 'ready', new_value: 'shutting down (fast)' },
  { at: '38:22.934', ...RESTART, old_value: 'shut down', new_value: 'ready' },
].map(({ at, ...event }) => ({
  service_name: 'orders-db',
  vendor: 'postgresql',
  timestamp: `2026-11-20T15:${at}Z`,
  ...event,
}));

describe('a capture of PostgreSQL 15', () => {
  test.each(['postgresql-15.log', 'postgresql-15.csv', 'postgresql-15.jsonl'])(
    '%s gives these events',
    (name) => {
      expect(eventsOf(fixture(name)).map(withoutRawLine)).toEqual(CAPTURE);
    },
  );

  test.each(['postgresql-15.log', 'postgresql-15.csv', 'postgresql-15.jsonl'])('%s sends no SQL', (name) => {
    const sent = JSON.stringify(eventsOf(fixture(name)));
    for (const sql of ['update t set', 'pg_sleep', 'create table', 'insert into'])
      expect(sent).not.toContain(sql);
  });

  test('a text line is sent as it is', () => {
    const lines = fixture('postgresql-15.log');
    for (const { raw_line } of eventsOf(lines)) expect(lines).toContain(raw_line);
  });
});

describe('csvlog records over several lines', () => {
  const multiline = fixture('postgresql-15.csv').filter((text) => /40P01|^Process \d+/.test(text));

  test('are one record', () => {
    expect(multiline).toHaveLength(4);
    expect(eventsOf(multiline)).toMatchObject([{ new_value: 'deadlock detected' }]);
  });

  test('a record torn by a crash does not swallow what comes after it', () => {
    const [torn = ''] = multiline;
    const next = csv({
      message: 'database system was interrupted; last known up at 2026-11-20 14:59:00 UTC',
    });
    expect(eventsOf([torn, next])).toMatchObject([{ event_type: 'restart' }]);
  });

  test('a record inside the SQL of another is text', () => {
    const forged =
      '2026-11-20 15:00:00.000 UTC,,,77,,x,1,,x,,0,LOG,00000,database system is shut down,,,,,,,,,,,,0';
    const [head = ''] = multiline;
    expect(eventsOf([head, forged, 'x","hint",,,"","select 1",,,"a","client backend",,0'])).toMatchObject([
      { entity: 'locks' },
    ]);
  });
});

describe('what leaves the box', () => {
  test('a csvlog record loses its SQL and stays a csvlog record', () => {
    const raw =
      eventOf(csv({ user: 'app', severity: 'ERROR', state: '40P01', message: 'deadlock detected' }))
        ?.raw_line ?? '';
    expect(raw).not.toContain('SECRET');
    expect(raw.split(',')).toHaveLength(26);
    expect(eventOf(raw)).toMatchObject({ entity: 'locks', raw_line: raw });
  });

  test('a jsonlog record keeps only what is known to be free of SQL', () => {
    const record = {
      timestamp: '2026-11-20 15:00:00.000 UTC',
      pid: 7,
      error_severity: 'ERROR',
      state_code: '40P01',
      message: 'deadlock detected',
      statement: 'SECRET',
      detail: 'SECRET',
      context: 'SECRET',
      a_later_field: 'SECRET',
    };
    expect(eventOf(JSON.stringify(record))?.raw_line).toBe(
      '{"timestamp":"2026-11-20 15:00:00.000 UTC","pid":7,"error_severity":"ERROR","state_code":"40P01","message":"deadlock detected"}',
    );
  });

  test('passwords in parameters are masked', () => {
    const event = eventOf(
      line(
        'LOG:  parameter "primary_conninfo" changed to "host=10.0.0.5 user=rep password=hunter2 sslmode=prefer"',
      ),
    );
    expect(event?.new_value).toBe('host=10.0.0.5 user=rep password=*** sslmode=prefer');
    expect(JSON.stringify(event)).not.toContain('hunter2');
    expect(
      JSON.stringify(
        eventOf(line('LOG:  parameter "archive_command" changed to "push s3://me:hunter2@store"')),
      ),
    ).not.toContain('hunter2');
  });

  test('a raw line is cut at 8 000 characters and a value at 512, never inside a character', () => {
    const event = eventOf(line(`LOG:  parameter "search_path" changed to "${'😀'.repeat(9000)}"`));
    expect(event?.raw_line).toHaveLength(8000);
    expect(event?.new_value).toHaveLength(512);
    expect([event?.raw_line?.isWellFormed(), event?.new_value?.isWellFormed()]).toEqual([true, true]);
  });
});

describe('the time of an event', () => {
  test.each([
    ['UTC', '2026-11-20T15:00:00.000Z'],
    ['GMT', '2026-11-20T15:00:00.000Z'],
    ['-03', '2026-11-20T18:00:00.000Z'],
    ['+0530', '2026-11-20T09:30:00.000Z'],
    ['CET', undefined],
    ['IST', undefined],
  ])('in zone %s is %s', (zone, timestamp) => {
    expect(eventOf(`2026-11-20 15:00:00.000 ${zone} [77] ERROR:  deadlock detected`)?.timestamp).toBe(
      timestamp,
    );
  });

  test('a day that does not exist is no log line', () => {
    expect(eventOf('2026-02-30 15:00:00.000 UTC [77] ERROR:  deadlock detected')).toBeUndefined();
  });
});
