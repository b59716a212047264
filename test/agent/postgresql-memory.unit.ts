import { describe, expect, test } from 'vitest';
import { KINDS } from '../../src/agent/postgresql/kinds.ts';
import { eventsOf, line } from './postgresql-log.ts';

describe('repeats', () => {
  const checkpoints = (at: string) =>
    line('LOG:  checkpoints are occurring too frequently (9 seconds apart)', at);

  test('are counted, and the count goes with the next report', () => {
    const events = eventsOf(
      ['15:00:00.000', '15:00:09.000', '15:04:59.999', '15:05:00.000', '15:05:01.000'].map(checkpoints),
    );
    expect(events.map((event) => event.new_value)).toEqual([
      '9 seconds apart',
      '9 seconds apart (2 more since the last report)',
    ]);
  });

  test('do not fall silent when the clock is set back', () => {
    expect(eventsOf([checkpoints('15:00:00.000'), checkpoints('14:00:00.000')])).toHaveLength(2);
  });

  test('on the same disk are one condition, on another a new one', () => {
    const full = (file: string) => line(`ERROR:  could not extend file "${file}": No space left on device`);
    const files = [
      'base/5/1',
      'base/5/2',
      'pg_tblspc/16421/PG_15/5/1',
      'pg_tblspc/16421/PG_15/5/2',
      'pg_tblspc/9/PG_15/5/1',
    ];
    expect(eventsOf(files.map(full)).map((event) => event.entity)).toEqual([files[0], files[2], files[4]]);
  });

  test('come again before the last report has expired, so that what lasts stays in the window', () => {
    for (const { ttlSeconds, repeatSeconds } of Object.values(KINDS)) {
      if (repeatSeconds !== null) expect(repeatSeconds).toBeLessThanOrEqual(ttlSeconds / 2);
    }
  });
});

describe('a restart', () => {
  const log = (...texts: string[]) =>
    eventsOf(texts.map((text) => line(`LOG:  ${text}`))).map(({ old_value, new_value }) => [
      old_value,
      new_value,
    ]);
  const READY = 'database system is ready to accept connections';
  const INTERRUPTED = 'database system was interrupted; last known up at 2026-11-20 14:59:00 UTC';

  test.each(['smart', 'fast', 'immediate'])('by %s shutdown is two events', (mode) => {
    expect(
      log(
        READY,
        `received ${mode} shutdown request`,
        'shutting down',
        'database system is shut down',
        'starting PostgreSQL 15.18',
        INTERRUPTED,
        READY,
      ).slice(1),
    ).toEqual([
      ['ready', `shutting down (${mode})`],
      ['shut down', 'ready'],
    ]);
  });

  test('without a last word is told by the next start', () => {
    expect(log(READY, 'starting PostgreSQL 15.18', INTERRUPTED, READY).slice(1)).toEqual([
      [undefined, 'interrupted; last known up at 2026-11-20 14:59:00 UTC'],
      ['interrupted', 'ready'],
    ]);
  });

  test('that a standby is promoted by is one event', () => {
    expect(
      log('database system is ready to accept read-only connections', 'received promote request', READY),
    ).toEqual([
      [undefined, 'ready (read-only)'],
      ['ready (read-only)', 'ready'],
    ]);
  });

  test('that fails again and again is told again, not each time', () => {
    const died = 'LOG:  startup process (PID 9) was terminated by signal 6: Aborted';
    const events = eventsOf([
      line(died, '15:00:00.000'),
      line(died, '15:00:05.000'),
      line(died, '15:10:00.000'),
    ]);
    expect(events.map((event) => event.timestamp)).toEqual([
      '2026-11-20T15:00:00.000Z',
      '2026-11-20T15:10:00.000Z',
    ]);
  });

  test.each([
    ['server process (PID 9) exited with exit code 2', 1],
    ['client backend (PID 9) was terminated by signal 11: Segmentation fault', 1],
    ['all server processes terminated; reinitializing', 1],
    ['archiver process (PID 9) was terminated by signal 15: Terminated', 0],
  ])('%s', (text, count) => {
    expect(log(READY, text)).toHaveLength(1 + count);
  });
});

describe('the configuration', () => {
  const reload = (...texts: string[]) =>
    ['received SIGHUP, reloading configuration files', ...texts].map((text) => line(`LOG:  ${text}`));

  test('old values are those of the last change', () => {
    const events = eventsOf([
      ...reload('parameter "work_mem" changed to "4MB"'),
      ...reload('parameter "work_mem" removed from configuration file, reset to default'),
      ...reload('parameter "work_mem" changed to "8MB"'),
    ]);
    expect(events.map(({ old_value, new_value }) => [old_value, new_value])).toEqual([
      [undefined, '4MB'],
      ['4MB', 'default'],
      ['default', '8MB'],
    ]);
  });

  test('a value that was refused is told with its reason, though the rest was applied', () => {
    const events = eventsOf(
      reload(
        'invalid value for parameter "work_mem": "lots"',
        'configuration file "/etc/pg.conf" contains errors; unaffected changes were applied',
      ),
    );
    expect(events).toMatchObject([
      {
        entity: '/etc/pg.conf',
        new_value:
          'contains errors; unaffected changes were applied: invalid value for parameter "work_mem": "lots"',
        confidence: 0.3,
      },
    ]);
  });
});
