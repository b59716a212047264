/** The dashboard and the alert rules: they load, and every metric they name exists. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestServer } from '../support/http.ts';
import { type Scrape, scrape } from '../support/metrics.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const OPERATIONS = resolve(import.meta.dirname, '../../src/operations');
const rules = readFileSync(resolve(OPERATIONS, 'alerts.yaml'), 'utf8');
const dashboardText = readFileSync(resolve(OPERATIONS, 'dashboard.json'), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(dashboardText);

const promtool = spawnSync('promtool', ['--version']).status === 0;

/** Absent as long as there is no checkpoint, and no TLS. */
const NOT_YET = new Set([
  'foreshock_checkpoint_age_seconds',
  'foreshock_tls_certificate_expiry_timestamp_seconds',
]);

let server: TestServer;
let scraped: Scrape;

beforeAll(async () => {
  server = await TestServer.start();
  scraped = await scrape(server.http);
});
afterAll(() => server.stop());

function missing(text: string): string[] {
  const named = new Set([...text.matchAll(/\b(?:foreshock|process|nodejs)_[a-z_]+/g)].map(([name]) => name));
  return [...named].filter((name) => !scraped.names.has(name) && !NOT_YET.has(name));
}

describe('the alert rules', () => {
  it('name metrics that exist', () => {
    expect(rules.match(/\balert:/g)?.length).toBeGreaterThan(5);
    expect(missing(rules)).toEqual([]);
    expect(missing('foreshock_no_such_metric > 0')).toEqual(['foreshock_no_such_metric']);
  });

  it.skipIf(!promtool)('load in Prometheus', () => {
    const ran = spawnSync('promtool', ['check', 'rules', resolve(OPERATIONS, 'alerts.yaml')], {
      encoding: 'utf8',
    });
    expect([ran.status, ran.stderr]).toEqual([0, '']);
  });
});

describe('the alerts of a certificate', () => {
  const DAY_SECONDS = 86_400;

  it.skipIf(!promtool).each([
    ['are silent two weeks before it expires', 15, 0, 0],
    ['warn after that', 13, 1, 0],
    ['are urgent on its last day', 0.9, 1, 1],
    ['are urgent after it', -1, 1, 1],
  ])('%s', (_, expiresInDays, warnings, urgent) => {
    const series = 'foreshock_tls_certificate_expiry_timestamp_seconds{instance="a"}';
    const firing = (alert: string, value: number) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      eval_time: '2h',
      exp_samples: [{ labels: '{}', value }],
    });
    const test = {
      interval: '1m',
      input_series: [{ series, values: `${expiresInDays * DAY_SECONDS}x120` }],
      promql_expr_test: [
        firing('ForeshockCertificateExpires', warnings),
        firing('ForeshockCertificateExpired', urgent),
      ],
    };
    const directory = temporaryDirectory();
    const file = resolve(directory, 'test.json');
    writeFileSync(file, JSON.stringify({ rule_files: [resolve(OPERATIONS, 'alerts.yaml')], tests: [test] }));
    const ran = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    removeDirectory(directory);
    expect([ran.status, ran.stderr]).toEqual([0, '']);
  });
});

describe('the dashboard', () => {
  it('names metrics that exist, in every panel', () => {
    const shown = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(shown.length).toBeGreaterThan(10);
    for (const { title, targets = [] } of shown) {
      expect([title, targets.length > 0]).toEqual([title, true]);
      for (const { expr } of targets) expect([title, missing(expr)]).toEqual([title, []]);
    }
  });

  it('has panels that do not overlap, each of its own id', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('shows every metric that is not about the build', () => {
    const families = [...scraped.text.matchAll(/^# TYPE (foreshock_\S+)/gm)].map(([, name]) => name ?? '');
    const elsewhere = new Set([
      'foreshock_ready',
      'foreshock_http_requests_aborted_total',
      'foreshock_log_commands_total',
      'foreshock_log_writable',
      'foreshock_log_waiting_bytes',
      'foreshock_replay_commands',
      'foreshock_checkpoint_failures_total',
      'foreshock_timer_wheel_lag_seconds',
    ]);
    const unseen = families.filter((name) => !dashboardText.includes(name) && !elsewhere.has(name));
    expect(unseen).toEqual([]);
  });
});

describe('the exposition', () => {
  it.skipIf(!promtool)('is in the format of Prometheus, and named as it should be', () => {
    const ran = spawnSync('promtool', ['check', 'metrics'], { input: scraped.text, encoding: 'utf8' });
    expect([ran.status, ran.stdout + ran.stderr]).toEqual([0, '']);
  });
});
