/** Two tenants whose services, agents, dependencies and incidents have the same names: neither sees the other's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IntegrationBody } from '../http/bodies.ts';
import { createIntegration, raiseAlert, register, sendEvent, webhookPath } from '../http/operations.ts';
import { type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { bodyOf, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { eventually, sleep } from '../support/site.ts';

const INCIDENT = 'PSHARED';

interface Side {
  readonly tenant: Tenant;
  readonly integration: IntegrationBody;
  readonly word: string;
}

let pagerDuty: FakePagerDuty;
let server: TestServer;
let ours: Side;
let theirs: Side;

async function furnish(tenant: Tenant, word: string): Promise<Side> {
  await register(server, tenant.ingest, { hostname: 'db-1' });
  const integration = await createIntegration(server, tenant.readOnly, {
    ...{ type: 'pagerduty', direction: 'bidirectional' },
  });
  const config = {
    ...{ pagerduty_token: pagerDuty.token, pagerduty_from: pagerDuty.from },
    pagerduty_routing_key: pagerDuty.routingKey,
  };
  await server.http.put(`/v1/integrations/${integration.id}`, tenant.readOnly, { config });
  // The one failed because of the other, which was changed: correlation reaches over by name.
  await sendEvent(server, tenant.ingest, {
    service_name: 'orders-db',
    new_value: word,
    entity: `orders ${word}`,
  });
  await sendEvent(server, tenant.ingest, {
    ...{ service_name: 'checkout-api', event_type: 'dependency_failure', entity: 'orders-db', actor: word },
  });
  return { tenant, integration, word };
}

beforeAll(async () => {
  pagerDuty = await startFakePagerDuty();
  const urls = ['--pagerduty-api-url', pagerDuty.url, '--pagerduty-events-url', pagerDuty.url];
  server = await TestServer.start('--outbound-allow', '127.0.0.1', ...urls);
  ours = await furnish(server.tenant, 'ours-4711');
  theirs = await furnish(await server.newTenant('theirs'), 'theirs-0815');
});
afterAll(async () => {
  await server.stop();
  await pagerDuty.stop();
});

/** Once nothing of theirs is on its way any more. */
async function everythingOf({ tenant, integration }: Side): Promise<string> {
  await eventually('all is sent', 5000, async () => {
    const sent = await server.http.get(`/v1/integrations/${integration.id}/deliveries`, tenant.readOnly);
    return !/"(?:queued|sending|waiting)"/.test(sent.text);
  });
  return (await server.everything(tenant)).join('\n');
}

describe('an incident of one tenant', () => {
  it('is nothing to the other, until that is told of its own', async () => {
    const before = await everythingOf(theirs);
    await raiseAlert(server, ours.tenant, ours.integration, INCIDENT, {
      service: { summary: 'checkout-api' },
    });
    await eventually('there is a note', 5000, () => pagerDuty.notes(INCIDENT).length === 1);
    expect(await everythingOf(theirs)).toBe(before);
  });

  it('has candidates of its own tenant alone, though services and dependencies are called alike', async () => {
    const service = { summary: 'checkout-api' };
    await raiseAlert(server, theirs.tenant, theirs.integration, INCIDENT, { service });
    await eventually('there are two notes', 5000, () => pagerDuty.notes(INCIDENT).length === 2);
    for (const [side, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const { alerts } = bodyOf<{ alerts: { id: string; candidate_count: number }[] }>(
        await server.http.get('/v1/alerts', side.tenant.readOnly),
      );
      expect(alerts).toMatchObject([{ candidate_count: 2 }]);
      const alert = await server.http.get(`/v1/alerts/${alerts[0]?.id}`, side.tenant.readOnly);
      expect(alert.text).toContain(side.word);
      expect(await everythingOf(side)).not.toContain(other.word);
      // By its id, the other's alert is the alert of nobody.
      expectRefusal(
        await server.http.get(`/v1/alerts/${alerts[0]?.id}`, other.tenant.readOnly),
        404,
        'not found',
      );
    }
    const texts = pagerDuty.notes(INCIDENT).map(({ content }) => content);
    expect(texts.filter((text) => text.includes(ours.word))).toHaveLength(1);
    expect(texts.filter((text) => text.includes(ours.word) && text.includes(theirs.word))).toEqual([]);
  });

  it('is resolved for that tenant alone', async () => {
    const data = { id: INCIDENT, type: 'incident' };
    const resolved = { event: { id: 'r', event_type: 'incident.resolved', data } };
    await server.http.post(webhookPath(ours.integration), undefined, resolved);
    const firing = async ({ tenant }: Side) => {
      const list = await server.http.get('/v1/alerts?status=firing', tenant.readOnly);
      return bodyOf<{ total: number }>(list).total;
    };
    await eventually('ours is resolved', 5000, async () => (await firing(ours)) === 0);
    expect(await firing(theirs)).toBe(1);
  });
});

describe('a delivery of one tenant', () => {
  it('does not make the same delivery of another a repetition', async () => {
    const headers = { 'X-Webhook-Id': 'the-same-id' };
    for (const { integration, tenant } of [ours, theirs]) {
      const data = { id: 'PSAMEID', type: 'incident', title: 'x' };
      const body = { event: { event_type: 'incident.triggered', data } };
      await server.http.post(webhookPath(integration), undefined, body, headers);
      await eventually('it is there', 5000, async () => {
        return (await server.http.get('/v1/alerts', tenant.readOnly)).text.includes('PSAMEID');
      });
    }
  });

  it('is listed to nobody else', async () => {
    for (const [side, other] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const path = `/v1/integrations/${side.integration.id}/deliveries`;
      expect(bodyOf<object[]>(await server.http.get(path, side.tenant.readOnly)).length).toBeGreaterThan(1);
      expectRefusal(await server.http.get(path, other.tenant.readOnly), 404, 'not found');
    }
  });
});

describe('an integration that one tenant deletes', () => {
  it('stops its token and its deliveries, and nothing of the other', async () => {
    const before = await everythingOf(theirs);
    const path = `/v1/integrations/${ours.integration.id}`;
    expect((await server.http.delete(path, ours.tenant.readOnly)).status).toBe(204);
    expectRefusal(await server.http.post(webhookPath(ours.integration), undefined, {}), 404, 'not found');
    expectRefusal(await server.http.get(`${path}/deliveries`, ours.tenant.readOnly), 404, 'not found');
    await sleep(200);
    expect(await everythingOf(theirs)).toBe(before);
  });
});
