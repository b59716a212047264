/** The real Alertmanager: what its own webhook sender sends us, and what it makes of what we send it. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { IntegrationBody } from '../http/bodies.ts';
import {
  ALERTMANAGER_PROGRAM,
  type Alertmanager,
  freePort,
  startAlertmanager,
} from '../support/alertmanager.ts';
import { bodyOf } from '../support/http.ts';
import { fillAllBut, missing, mountTmpfs } from '../support/machine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, Site, sleep } from '../support/site.ts';

const TIMEOUT = { timeout: 120_000 };
const made = new StopStack();
afterEach(() => made.run());

interface AlertBody {
  readonly key: string;
  readonly title: string;
  readonly status: string;
  readonly service: string | null;
  readonly severity: string | null;
  readonly started_at: string;
  readonly resolved_at: string | null;
  readonly candidate_count: number;
}

/** A server on a port that stays its own from start to start, and an Alertmanager that knows its webhook. */
class Pair {
  readonly site: Site;
  readonly port: number;
  #integration: IntegrationBody | undefined;
  #alertmanager: Alertmanager | undefined;

  private constructor(site: Site, port: number) {
    this.site = site;
    this.port = port;
  }

  static start(...flags: readonly string[]): Promise<Pair> {
    const directory = temporaryDirectory();
    made.push(() => removeDirectory(directory));
    return Pair.startOn(directory, ...flags);
  }

  static async startOn(directory: string, ...flags: readonly string[]): Promise<Pair> {
    const site = new Site(made, directory, '--outbound-allow', '127.0.0.1', ...flags);
    const pair = new Pair(site, await freePort());
    await pair.startServer();
    const wanted = { type: 'alertmanager', direction: 'bidirectional' };
    const { http } = site.server;
    const answer = await http.post('/v1/integrations', site.keys.readOnly, wanted);
    const integration = bodyOf<IntegrationBody>(answer, 201);
    pair.#integration = integration;
    const url = `http://127.0.0.1:${pair.port}${new URL(integration.webhook_url).pathname}`;
    pair.#alertmanager = await startAlertmanager(made, url);
    return pair;
  }

  get alertmanager(): Alertmanager {
    if (this.#alertmanager === undefined) throw new Error('Alertmanager has not been started');
    return this.#alertmanager;
  }

  get integration(): IntegrationBody {
    if (this.#integration === undefined) throw new Error('there is no integration');
    return this.#integration;
  }

  startServer(): Promise<unknown> {
    return this.site.start({ flags: ['--port', String(this.port)] });
  }

  async tellOfStaleAgents(): Promise<void> {
    const config = { alertmanager_url: this.alertmanager.url };
    const path = `/v1/integrations/${this.integration.id}`;
    const answer = await this.site.server.http.put(path, this.site.keys.readOnly, { config });
    expect(answer.status).toBe(200);
  }

  async alerts(query = ''): Promise<readonly AlertBody[]> {
    const list = bodyOf<{ alerts: AlertBody[] }>(await this.site.get(`/v1/alerts?per_page=100${query}`));
    return list.alerts;
  }

  async kinds(): Promise<readonly string[]> {
    const path = `/v1/integrations/${this.integration.id}/deliveries`;
    const list = bodyOf<{ kind: string; state: string }[]>(await this.site.get(path));
    return list.map(({ kind, state }) => `${kind} ${state}`).sort();
  }

  async staleAlerts() {
    return (await this.alertmanager.alerts()).filter(
      ({ labels }) => labels['alertname'] === 'ForeshockAgentStale',
    );
  }
}

const anAlert = (name: string, labels: object = {}, more: object = {}) => ({
  labels: { alertname: name, service: 'checkout-api', severity: 'critical', ...labels },
  annotations: { summary: `summary of ${name}` },
  generatorURL: 'http://prometheus.example:9090/graph',
  ...more,
});

describe.skipIf(ALERTMANAGER_PROGRAM === undefined)('alerts of Alertmanager', () => {
  it('come grouped, are repeated without being doubled, and are resolved', TIMEOUT, async () => {
    const pair = await Pair.start();
    await pair.site.send('deploy', { new_value: 'v42' });
    const startsAt = new Date(Date.now() - 60_000).toISOString();
    await pair.alertmanager.post(
      anAlert('HighErrorRate', {}, { startsAt }),
      anAlert('SlowAnswers', { pod: 'checkout-7' }, { startsAt }),
      anAlert('DiskFull', { service: 'orders-db' }, { startsAt }),
    );
    await eventually('all have come', 15_000, async () => (await pair.alerts()).length === 3);
    const alerts = await pair.alerts('&service=checkout-api');
    expect(alerts.map(({ title }) => title).sort()).toEqual([
      'summary of HighErrorRate',
      'summary of SlowAnswers',
    ]);
    for (const alert of alerts) {
      expect(alert).toMatchObject({ status: 'firing', severity: 'critical', started_at: startsAt });
    }
    expect((await pair.alerts()).filter(({ service }) => service === null)).toHaveLength(1);
    // It repeats after two seconds, several times by now.
    await sleep(7000);
    expect(await pair.alerts()).toHaveLength(3);
    const endsAt = new Date().toISOString();
    await pair.alertmanager.post(anAlert('HighErrorRate', {}, { startsAt, endsAt }));
    await eventually(
      'one is resolved',
      15_000,
      async () => (await pair.alerts('&status=resolved')).length === 1,
    );
    expect(await pair.alerts('&status=resolved')).toMatchObject([
      { title: 'summary of HighErrorRate', resolved_at: endsAt },
    ]);
    expect(await pair.alerts('&status=firing')).toHaveLength(2);
  });

  it('that fire again after they were resolved are alerts of their own', TIMEOUT, async () => {
    const pair = await Pair.start();
    const startsAt = new Date(Date.now() - 60_000).toISOString();
    await pair.alertmanager.post(anAlert('Flapping', {}, { startsAt }));
    await eventually('it fires', 15_000, async () => (await pair.alerts('&status=firing')).length === 1);
    const endsAt = new Date().toISOString();
    await pair.alertmanager.post(anAlert('Flapping', {}, { startsAt, endsAt }));
    await eventually(
      'it is resolved',
      15_000,
      async () => (await pair.alerts('&status=firing')).length === 0,
    );
    await pair.alertmanager.post(anAlert('Flapping', {}, { startsAt: new Date().toISOString() }));
    await eventually(
      'it fires again',
      15_000,
      async () => (await pair.alerts('&status=firing')).length === 1,
    );
    expect(await pair.alerts()).toHaveLength(2);
  });

  it('come when we are up again, if we were killed when they fired', TIMEOUT, async () => {
    const pair = await Pair.start();
    await pair.site.server.signal('SIGKILL');
    await pair.alertmanager.post(anAlert('WhileDown'));
    await eventually('it has tried', 15_000, () =>
      /connect: connection refused/.test(pair.alertmanager.output()),
    );
    await pair.startServer();
    await eventually('it has come', 30_000, async () => (await pair.alerts()).length === 1);
    expect(await pair.alerts()).toMatchObject([{ title: 'summary of WhileDown', status: 'firing' }]);
  });

  it.skipIf(missing('root', 'tmpfs'))(
    'come when there is room again, if they were answered 503',
    TIMEOUT,
    async () => {
      const disk = mountTmpfs(made, 8 * 1024 * 1024);
      const pair = await Pair.startOn(join(disk, 'data'));
      const makeSpace = fillAllBut(disk, 0);
      await eventually('nothing is taken', 10_000, async () => {
        return (await pair.site.send('full')).answer?.status === 503;
      });
      await pair.alertmanager.post(anAlert('WhileFull'));
      await eventually('it was refused', 15_000, () => /status code 503/.test(pair.alertmanager.output()));
      expect(await pair.alerts()).toEqual([]);
      makeSpace();
      await eventually('it has come', 30_000, async () => (await pair.alerts()).length === 1);
    },
  );
});

describe.skipIf(ALERTMANAGER_PROGRAM === undefined)('a stale agent', () => {
  it(
    'fires in Alertmanager once, through restarts of ours, and is resolved when it is back',
    TIMEOUT,
    async () => {
      const pair = await Pair.start('--agent-stale-after', '2s');
      await pair.tellOfStaleAgents();
      await eventually('it fires', 20_000, async () => (await pair.kinds())[0] === 'agent-stale delivered');
      const [alert] = await pair.staleAlerts();
      expect(alert).toMatchObject({
        labels: { agent: 'db-1', hostname: 'db-1', tenant: 'default', agent_id: pair.site.agentId },
        generatorURL: `http://foreshock.test/v1/agents/${pair.site.agentId}`,
      });
      for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
        await pair.site.server.signal(signal);
        await pair.startServer();
        await sleep(3000);
        expect(await pair.staleAlerts()).toMatchObject([{ startsAt: alert?.startsAt }]);
        expect(await pair.kinds()).toEqual(['agent-stale delivered']);
      }
      await pair.site.send('back');
      await eventually('it is resolved', 20_000, async () => (await pair.staleAlerts()).length === 0);
      expect(await pair.kinds()).toContain('agent-returned delivered');
    },
  );

  it('is told of by the alarm it raised itself: what we send comes back as an alert', TIMEOUT, async () => {
    const pair = await Pair.start('--agent-stale-after', '2s');
    await pair.tellOfStaleAgents();
    await eventually('it has come back', 30_000, async () => (await pair.alerts()).length === 1);
    expect(await pair.alerts()).toMatchObject([
      { title: 'No word from agent db-1 on db-1', service: null, status: 'firing' },
    ]);
    await pair.site.send('back');
    await eventually(
      'it is resolved',
      20_000,
      async () => (await pair.alerts('&status=resolved')).length === 1,
    );
  });
});
