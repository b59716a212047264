/** From a webhook to a note, whatever PagerDuty and the network do: in the end one note an incident. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IntegrationBody } from '../http/bodies.ts';
import { createIntegration, raiseAlert, register, sendEvent, webhookPath } from '../http/operations.ts';
import { type FakeFailure, type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { bodyOf, type Tenant, TestServer } from '../support/http.ts';
import { removeDirectory, startServer } from '../support/server.ts';
import { eventually, sleep } from '../support/site.ts';

interface DeliveryBody {
  readonly kind: string;
  readonly state: string;
  readonly attempts: number;
  readonly detail: string | null;
  readonly next_attempt_at: string | null;
  readonly alert_id: string | null;
  readonly event_id: string | null;
}

const SECRETS = ['u+example-token-0001', '0123456789abcdef0123456789abcdef', 'webhook-secret'];

class World {
  readonly pagerDuty: FakePagerDuty;
  readonly server: TestServer;
  readonly tenant: Tenant;
  readonly integration: IntegrationBody;

  private constructor(pagerDuty: FakePagerDuty, server: TestServer, integration: IntegrationBody) {
    this.pagerDuty = pagerDuty;
    this.server = server;
    this.tenant = server.tenant;
    this.integration = integration;
  }

  static async start(): Promise<World> {
    const pagerDuty = await startFakePagerDuty();
    const urls = ['--pagerduty-api-url', pagerDuty.url, '--pagerduty-events-url', pagerDuty.url];
    const server = await TestServer.start('--outbound-allow', '127.0.0.1', ...urls);
    await register(server, server.tenant.ingest);
    const wanted = { type: 'pagerduty', direction: 'bidirectional' };
    const world = new World(
      pagerDuty,
      server,
      await createIntegration(server, server.tenant.readOnly, wanted),
    );
    await world.configure();
    await sendEvent(server, server.tenant.ingest, {
      old_value: 'v41',
      new_value: 'v42',
      event_type: 'restart',
    });
    return world;
  }

  async configure(config: object = {}): Promise<void> {
    const { token: pagerduty_token, from: pagerduty_from } = this.pagerDuty;
    const answer = await this.server.http.put(
      `/v1/integrations/${this.integration.id}`,
      this.tenant.readOnly,
      {
        config: { pagerduty_token, pagerduty_from, ...config },
      },
    );
    expect(answer.status).toBe(200);
  }

  trigger(incident: string): Promise<string> {
    return raiseAlert(this.server, this.tenant, this.integration, incident, {
      service: { summary: 'checkout-api' },
    });
  }

  tell(body: object): Promise<{ readonly status: number }> {
    return this.server.http.post(webhookPath(this.integration), undefined, body);
  }

  async deliveries(): Promise<readonly DeliveryBody[]> {
    const path = `/v1/integrations/${this.integration.id}/deliveries`;
    return bodyOf(await this.server.http.get(path, this.tenant.readOnly));
  }

  async delivery(alertId: string): Promise<DeliveryBody> {
    const { deliveries } = bodyOf<{ deliveries: DeliveryBody[] }>(
      await this.server.http.get(`/v1/alerts/${alertId}`, this.tenant.readOnly),
    );
    expect(deliveries).toHaveLength(1);
    const [delivery] = deliveries;
    if (delivery === undefined) throw new Error('there is no delivery');
    return delivery;
  }

  reaches(alertId: string, state: string, withinMs = 8000): Promise<void> {
    return eventually(`the note is ${state}`, withinMs, async () => {
      return (await this.delivery(alertId)).state === state;
    });
  }

  callsAbout(incident: string): string[] {
    return this.pagerDuty.calls
      .filter(({ path }) => path.includes(`/${incident}/`))
      .map(({ method }) => method);
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.pagerDuty.stop();
    for (const secret of SECRETS) expect(this.server.process.output()).not.toContain(secret);
    expect(this.pagerDuty.violations).toEqual([]);
  }
}

const incidentEvent = (type: string, id: string, more: object = {}) => ({
  event: {
    ...{ id: `${type}-${id}`, event_type: type, occurred_at: new Date().toISOString() },
    data: { id, type: 'incident', title: 'slow', service: { summary: 'checkout-api' }, ...more },
  },
});

let world: World;
beforeAll(async () => {
  world = await World.start();
});
afterAll(() => world.stop());

describe('an incident', () => {
  it('that is reopened has its note updated, and no second one', async () => {
    const first = await world.trigger('PREOPEN');
    await world.reaches(first, 'delivered');
    await world.tell(incidentEvent('incident.resolved', 'PREOPEN'));
    const { tenant, server } = world;
    await sendEvent(server, tenant.ingest, {
      event_type: 'restart',
      entity: 'pod-7',
      old_value: 'OOMKilled',
    });
    await world.tell(
      incidentEvent('incident.reopened', 'PREOPEN', { reopened_at: new Date().toISOString() }),
    );
    await eventually('the note is updated', 5000, () => {
      return world.pagerDuty.notes('PREOPEN')[0]?.content.includes('pod-7') === true;
    });
    expect(world.pagerDuty.notes('PREOPEN')).toHaveLength(1);
    expect(world.callsAbout('PREOPEN')).toEqual(['POST', 'PUT']);
    const { alerts } = bodyOf<{ alerts: { key: string; status: string }[] }>(
      await server.http.get('/v1/alerts?per_page=100', tenant.readOnly),
    );
    expect(alerts.filter(({ key }) => key === 'PREOPEN').map(({ status }) => status)).toEqual([
      'firing',
      'resolved',
    ]);
  });

  it('that is acknowledged, annotated by us or by others, or unheard of, has nothing done to it', async () => {
    for (const type of [
      'incident.acknowledged',
      'incident.escalated',
      'incident.no_such_thing',
      'pagey.ping',
    ]) {
      expect((await world.tell(incidentEvent(type, 'PQUIET'))).status).toBe(202);
    }
    const note = { id: 'PNOTE', type: 'incident_note', content: 'x', incident: { id: 'PQUIET' } };
    const annotated = { event: { event_type: 'incident.annotated', id: 'a', data: note } };
    expect((await world.tell(annotated)).status).toBe(202);
    await sleep(400);
    expect(world.callsAbout('PQUIET')).toEqual([]);
  });
});

describe('one note in the end', () => {
  it.each<[string, FakeFailure, readonly string[]]>([
    ['500', { type: 'status', status: 500 }, ['POST', 'GET', 'POST']],
    ['503', { type: 'status', status: 503 }, ['POST', 'GET', 'POST']],
    ['408', { type: 'status', status: 408 }, ['POST', 'GET', 'POST']],
    ['429 of PagerDuty', { type: 'rate-limited', resetSeconds: 1 }, ['POST', 'POST']],
    ['429 of a proxy', { type: 'retry-after', seconds: 1 }, ['POST', 'POST']],
    ['a connection reset before the request', { type: 'reset-before-reading' }, []],
    ['a connection reset after the request', { type: 'reset-after-reading' }, ['POST', 'GET', 'POST']],
    ['a connection reset after the note was made', { type: 'reset-after-storing' }, ['POST', 'GET', 'PUT']],
    ['an endless answer after the note was made', { type: 'huge-body-after-storing' }, ['POST']],
  ])('after %s', async (name, failure, methods) => {
    const incident = `P${name.replace(/\W/g, '')}`;
    world.pagerDuty.failNext(failure);
    const alert = await world.trigger(incident);
    await world.reaches(alert, 'delivered');
    expect(world.pagerDuty.notes(incident)).toHaveLength(1);
    if (methods.length > 0) expect(world.callsAbout(incident)).toEqual(methods);
  });

  it('after no answer, and after an answer that never ends', { timeout: 45_000 }, async () => {
    world.pagerDuty.failNext({ type: 'no-answer' });
    const silent = await world.trigger('PSILENT');
    await eventually('it is called', 5000, () => world.callsAbout('PSILENT').length === 1);
    world.pagerDuty.failNext({ type: 'slow-body-after-storing' });
    const slow = await world.trigger('PSLOW');
    expect(await world.delivery(silent)).toMatchObject({ state: 'sending', next_attempt_at: null });
    await world.reaches(silent, 'delivered', 20_000);
    await world.reaches(slow, 'delivered', 20_000);
    expect(world.callsAbout('PSILENT')).toEqual(['POST', 'GET', 'POST']);
    expect(world.pagerDuty.notes('PSILENT')).toHaveLength(1);
    expect(world.pagerDuty.notes('PSLOW')).toHaveLength(1);
    // Its number was not in the answer: it is found when there is more to say.
    await world.tell(incidentEvent('incident.resolved', 'PSLOW'));
    await world.tell(incidentEvent('incident.reopened', 'PSLOW', { reopened_at: new Date().toISOString() }));
    await eventually('it is updated', 5000, () => world.callsAbout('PSLOW').includes('PUT'));
    expect(world.callsAbout('PSLOW')).toEqual(['POST', 'GET', 'PUT']);
    expect(world.pagerDuty.notes('PSLOW')).toHaveLength(1);
  });

  it('waits as long as a 429 asks, and says so', async () => {
    world.pagerDuty.failNext({ type: 'retry-after', seconds: 2 });
    const alert = await world.trigger('PASKED');
    await world.reaches(alert, 'waiting');
    const waiting = await world.delivery(alert);
    const saidAtMs = Date.now();
    expect(waiting).toMatchObject({ kind: 'note', attempts: 1, detail: 'answered 429: slow down' });
    expect(Date.parse(waiting.next_attempt_at ?? '') - saidAtMs).toBeGreaterThan(1500);
    await sleep(1000);
    expect(world.callsAbout('PASKED')).toHaveLength(1);
    await world.reaches(alert, 'delivered');
  });
});

describe('a dead letter', () => {
  it('comes of what would be answered alike again, with the reason and no retry', async () => {
    const answers = [
      [401, 'answered 401: Authentication failed'],
      [402, 'answered 402: Missing Account Ability'],
      [404, 'answered 404: Not Found'],
    ] as const;
    for (const [status, detail] of answers) {
      world.pagerDuty.failNext({ type: 'status', status });
      const alert = await world.trigger(`PDEAD${status}`);
      await world.reaches(alert, 'dead-lettered');
      expect(await world.delivery(alert)).toMatchObject({ attempts: 1, detail, next_attempt_at: null });
    }
    await sleep(1200);
    for (const [status] of answers) expect(world.callsAbout(`PDEAD${status}`)).toEqual(['POST']);
  });

  it('is sent after all when the incident fires again with a good token', async () => {
    await world.configure({ pagerduty_token: 'u+revoked' });
    const alert = await world.trigger('PREVIVE');
    await world.reaches(alert, 'dead-lettered');
    await world.configure();
    await world.tell(incidentEvent('incident.resolved', 'PREVIVE'));
    await world.tell(
      incidentEvent('incident.reopened', 'PREVIVE', { reopened_at: new Date().toISOString() }),
    );
    await eventually('there is a note', 5000, () => world.pagerDuty.notes('PREVIVE').length === 1);
  });
});

describe('what is listed', () => {
  it('holds no secret, of an integration or of anything it sent', async () => {
    await world.configure({ pagerduty_webhook_secret: 'webhook-secret' });
    await world.configure();
    const { http } = world.server;
    const read = async (path: string) => (await http.get(path, world.tenant.readOnly)).text;
    const texts = [await read('/v1/alerts?per_page=100'), JSON.stringify(await world.deliveries())];
    for (const secret of [...SECRETS, world.integration.token]) {
      for (const text of texts) expect(text).not.toContain(secret);
    }
  });
});

describe('change events', () => {
  it('are sent for deploys and flag changes, once each, and for nothing else', async () => {
    const { server, tenant, pagerDuty } = world;
    await world.configure({ pagerduty_routing_key: pagerDuty.routingKey });
    const types = ['deploy', 'restart', 'saturation', 'flag_change', 'circuit_open', 'dependency_failure'];
    for (const event_type of types) {
      await sendEvent(server, tenant.ingest, {
        event_type,
        entity: `the ${event_type}`,
        raw_line: 'hunter2',
      });
    }
    pagerDuty.failNext({ type: 'status', status: 500 });
    await eventually('both have come', 8000, () => pagerDuty.changeEvents.length >= 2);
    await sleep(300);
    const entities = pagerDuty.changeEvents.map(({ payload }) => payload.custom_details?.['entity']);
    expect(entities.sort()).toEqual(['the deploy', 'the flag_change']);
    expect(JSON.stringify(pagerDuty.calls)).not.toContain('hunter2');
    const kinds = (await world.deliveries()).filter(({ kind }) => kind === 'change-event');
    expect(kinds).toMatchObject([{ event_id: expect.any(String) }, { event_id: expect.any(String) }]);
    await world.configure();
  });
});

describe('an endpoint that is down', () => {
  it('is told when it is up again, and what was to be sent survives a restart', async () => {
    const pagerDuty = await startFakePagerDuty();
    const { url } = pagerDuty;
    await pagerDuty.stop();
    const flags = ['--outbound-allow', '127.0.0.1', '--pagerduty-api-url', url];
    const server = await TestServer.start(...flags);
    const made = await createIntegration(server, server.tenant.readOnly, {
      ...{ type: 'pagerduty', direction: 'bidirectional' },
    });
    const config = { pagerduty_token: pagerDuty.token, pagerduty_from: pagerDuty.from };
    await server.http.put(`/v1/integrations/${made.id}`, server.tenant.readOnly, { config });
    const alert = await raiseAlert(server, server.tenant, made, 'PDOWN');
    const stateOf = async () => {
      const answer = await server.http.get(`/v1/alerts/${alert}`, server.tenant.readOnly);
      return bodyOf<{ deliveries: { state: string; detail: string }[] }>(answer).deliveries[0];
    };
    await eventually('it waits', 5000, async () => (await stateOf())?.state === 'waiting');
    expect((await stateOf())?.detail).toBe('no connection: ECONNREFUSED');
    await server.process.stop();
    const again = await startServer(server.process.dataDirectory, flags);
    const up = await startFakePagerDuty({ port: Number(new URL(url).port) });
    await eventually('there is a note', 10_000, () => up.notes('PDOWN').length === 1);
    expect(await again.stop()).toBe(0);
    server.http.close();
    removeDirectory(server.process.dataDirectory);
    await up.stop();
  });
});

describe('a webhook', () => {
  it('that came before is taken once, also after a restart', async () => {
    const server = await TestServer.start();
    const made = await createIntegration(server, server.tenant.readOnly);
    const body = incidentEvent('incident.triggered', 'PTWICE', { created_at: '2026-08-22T10:00:00Z' });
    const headers = { 'X-Webhook-Id': 'delivery-1' };
    const count = async (url: string) => {
      const answer = await fetch(`${url}/v1/alerts`, {
        headers: { Authorization: `Bearer ${server.tenant.readOnly}` },
      });
      return ((await answer.json()) as { alerts: { status: string }[] }).alerts.map(({ status }) => status);
    };
    const deliver = (url: string, about: object, id = headers['X-Webhook-Id']) =>
      fetch(`${url}${webhookPath(made)}`, {
        ...{ method: 'POST', body: JSON.stringify(about) },
        headers: { 'Content-Type': 'application/json', 'X-Webhook-Id': id },
      });
    const { url, dataDirectory } = server.process;
    expect((await deliver(url, body)).status).toBe(202);
    await eventually('it is there', 5000, async () => (await count(url)).length === 1);
    await deliver(url, incidentEvent('incident.resolved', 'PTWICE'), 'delivery-2');
    await eventually('it is resolved', 5000, async () => (await count(url))[0] === 'resolved');
    // It would fire again if it were taken for another.
    expect((await deliver(url, body)).status).toBe(202);
    await sleep(300);
    expect(await count(url)).toEqual(['resolved']);
    await server.process.kill();
    const again = await startServer(dataDirectory);
    expect((await deliver(again.url, body)).status).toBe(202);
    await sleep(300);
    expect(await count(again.url)).toEqual(['resolved']);
    expect((await deliver(again.url, body, 'delivery-3')).status).toBe(202);
    await eventually('another is another', 5000, async () => (await count(again.url))[0] === 'firing');
    expect(await again.stop()).toBe(0);
    server.http.close();
    removeDirectory(server.process.dataDirectory);
  });
});
