import { describe, expect, test } from 'vitest';
import { CHANGE, CONTENTION, csv, eventOf, line, PRESSURE } from './postgresql-log.ts';

describe('single lines of the text log', () => {
  test.each([
    [
      'FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute',
      'connections',
      PRESSURE,
    ],
    [
      'FATAL:  remaining connection slots are reserved for roles with privileges of the "pg_use_reserved_connections" role',
      'connections',
      PRESSURE,
    ],
    [
      'FATAL:  remaining connection slots are reserved for roles with privileges of the "rds_reserved" role',
      'connections',
      PRESSURE,
    ],
    ['FATAL:  too many connections for role "app"', 'role app', PRESSURE],
    ['FATAL:  too many connections for database "orders"', 'database orders', PRESSURE],
    ['ERROR:  out of memory', 'memory', PRESSURE],
    ['ERROR:  out of shared memory', 'shared memory', PRESSURE],
    ['LOG:  could not fork new process for connection: Cannot allocate memory', 'processes', PRESSURE],
    ['LOG:  checkpoints are occurring too frequently (27 seconds apart)', 'checkpoints', PRESSURE],
    [
      'PANIC:  could not write to file "pg_wal/xlogtemp.42": No space left on device',
      'pg_wal/xlogtemp.42',
      { ...PRESSURE, ttl_seconds: 3600 },
    ],
    [
      'ERROR:  could not resize shared memory segment "/PostgreSQL.123" to 8388608 bytes: No space left on device',
      '/dev/shm',
      { ...PRESSURE, ttl_seconds: 3600 },
    ],
    [
      'LOG:  process 9 still waiting for AccessExclusiveLock on relation 16384 of database 5 after 1000.061 ms',
      'locks',
      CONTENTION,
    ],
    ['ERROR:  canceling statement due to statement timeout', 'statements', CONTENTION],
    [
      'LOG:  archive command failed with exit code 1',
      'archive_command',
      { event_type: 'dependency_failure', confidence: 0.9 },
    ],
    [
      'WARNING:  archiving write-ahead log file "000000010000000000000001" failed too many times, will try again later',
      'archive_command',
      { event_type: 'dependency_failure' },
    ],
    [
      'FATAL:  could not connect to the primary server: connection to server at "10.0.0.5", port 5432 failed: Connection refused',
      'primary',
      { event_type: 'dependency_failure', confidence: 0.9 },
    ],
    [
      'FATAL:  could not receive data from WAL stream: server closed the connection unexpectedly',
      'primary',
      { event_type: 'dependency_failure' },
    ],
    [
      'LOG:  terminating walsender process due to replication timeout',
      'standby',
      { event_type: 'dependency_failure' },
    ],
  ])('%s', (text, entity, expected) => {
    expect(eventOf(line(text))).toMatchObject({ entity, ...expected });
  });

  test.each([
    'LOG:  process 24681 detected deadlock while waiting for ShareLock on transaction 727 after 300.120 ms',
    'ERROR:  canceling statement due to user request',
    'ERROR:  canceling autovacuum task',
    'ERROR:  could not obtain lock on row in relation "jobs"',
    'LOG:  background worker "logical replication launcher" (PID 25086) exited with exit code 1',
    'LOG:  checkpoint complete: wrote 0 buffers (0.0%)',
    'ERROR:  parameter "shared_buffers" cannot be changed without restarting the server',
    "STATEMENT:  select 'ERROR:  deadlock detected'",
    'CONTEXT:  deadlock detected',
    'DETAIL:  Failed process was running: ERROR:  deadlock detected',
    "ANWEISUNG:  select 'ERROR:  deadlock detected'",
    'HINT:  Consider increasing the configuration parameter "max_wal_size".',
  ])('%s is no event', (text) => {
    expect(eventOf(line(text))).toBeUndefined();
  });

  test('a caller who would rather not wait for a lock is no event, whatever the format', () => {
    const message = 'could not obtain lock on row in relation "jobs"';
    expect(eventOf(csv({ user: 'app', severity: 'ERROR', state: '55P03', message }))).toBeUndefined();
  });

  test.each([
    ['Debian', '2026-11-20 15:00:00.000 UTC [77] app@orders ', 'app@orders'],
    [
      'log analysers',
      '2026-11-20 15:00:00 UTC [77]: [4-1] user=app,db=orders,app=checkout-api,client=10.0.0.1 ',
      'app@orders (checkout-api)',
    ],
    ['hosted servers', '2026-11-20 15:00:00 UTC:10.0.0.1(5432):app@orders:[77]:', 'app@orders'],
    ['a walsender', '2026-11-20 15:00:00.000 UTC [77] replicator@[unknown] ', 'replicator'],
  ])('the prefix of %s names the actor', (_, prefix, actor) => {
    expect(eventOf(`${prefix}ERROR:  deadlock detected`)).toMatchObject({ entity: 'locks', actor });
  });

  test('a session is known by its introduction until its process id is used again', () => {
    const introduction = line(
      'LOG:  connection authorized: user=app database=orders application_name=web SSL enabled (protocol=TLSv1.3)',
    );
    const deadlock = line('ERROR:  deadlock detected');
    expect(eventOf(introduction, deadlock)?.actor).toBe('app@orders (web)');
    expect(
      eventOf(introduction, line('LOG:  connection received: host=[local]'), deadlock)?.actor,
    ).toBeUndefined();
  });

  test('a client who raises a line of the server is not believed', () => {
    const raised = 'parameter "work_mem" changed to "1TB"';
    expect(eventOf(`2026-11-20 15:00:00.000 UTC [77] app@orders LOG:  ${raised}`)).toBeUndefined();
    for (const message of [
      raised,
      'database system is shut down',
      'archive command failed with exit code 1',
    ]) {
      expect(eventOf(csv({ user: 'app', message, backend: 'client backend' }))).toBeUndefined();
    }
    const raisedError = { user: 'app', severity: 'ERROR', state: 'P0001', message: 'deadlock detected' };
    expect(eventOf(csv(raisedError))).toBeUndefined();
    const raisedLog = {
      timestamp: '2026-11-20 15:00:00.000 UTC',
      error_severity: 'LOG',
      message: 'deadlock detected',
    };
    expect(eventOf(JSON.stringify(raisedLog))).toBeUndefined();
  });
});

describe('text in another language goes by its SQLSTATE', () => {
  test.each([
    [
      'FEHLER',
      '40P01',
      'Verklemmung (Deadlock) entdeckt',
      'client backend',
      { ...CONTENTION, entity: 'locks' },
    ],
    [
      'FATAL',
      '53300',
      'tut mir leid, schon zu viele Verbindungen',
      'client backend',
      { ...PRESSURE, entity: 'connections' },
    ],
    [
      'FEHLER',
      '53100',
      'konnte Datei »base/5/16422« nicht erweitern: Auf dem Gerät ist kein Speicherplatz mehr verfügbar',
      'client backend',
      { ...PRESSURE, ttl_seconds: 3600, entity: 'base/5/16422' },
    ],
    ['ERREUR', '53200', 'mémoire épuisée', 'client backend', { ...PRESSURE, entity: 'memory' }],
    [
      'ERREUR',
      '55P03',
      "annulation de la requête à cause du délai écoulé pour l'obtention des verrous",
      'client backend',
      CONTENTION,
    ],
    [
      'FEHLER',
      '57014',
      'storniere Anfrage wegen Zeitüberschreitung der Anfrage',
      'client backend',
      { ...CONTENTION, confidence: 0.3 },
    ],
    [
      'LOG',
      '55P02',
      'le paramètre « shared_buffers » ne peut pas être modifié sans redémarrer le serveur',
      'postmaster',
      { ...CHANGE, confidence: 0.3, entity: 'shared_buffers' },
    ],
    [
      'LOG',
      'F0000',
      'Konfigurationsdatei »/etc/postgresql.conf« enthält Fehler; keine Änderungen wurden durchgeführt',
      'postmaster',
      { ...CHANGE, confidence: 0.3, entity: '/etc/postgresql.conf' },
    ],
    [
      'FATAL',
      '08006',
      'konnte nicht mit dem Primärserver verbinden',
      'walreceiver',
      { event_type: 'dependency_failure', entity: 'primary' },
    ],
  ])('%s %s %s', (severity, state, message, backend, expected) => {
    const user = backend === 'client backend' ? 'app' : '';
    expect(eventOf(csv({ user, severity, state, message, backend }))).toMatchObject(expected);
  });
});
