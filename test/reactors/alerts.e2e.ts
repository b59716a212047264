/** From a webhook to a note on the incident: the server, and a strict stand-in for PagerDuty. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent } from '../http/operations.ts';
import { type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { bodyOf, eventBody, type Tenant, TestServer } from '../support/http.ts';
import { eventually } from '../support/site.ts';

let pagerDuty: FakePagerDuty;
let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  pagerDuty = await startFakePagerDuty({ incidents: ['PT4KHLK'] });
  server = await TestServer.start(
    ...['--outbound-allow', '127.0.0.1', '--pagerduty-api-url', pagerDuty.url],
    ...['--pagerduty-events-url', pagerDuty.url],
  );
  tenant = server.tenant;
  await register(server, tenant.ingest);
});
afterAll(async () => {
  await server.stop();
  await pagerDuty.stop();
});

describe('an incident of PagerDuty', () => {
  it('gets one note that says what changed before it', async () => {
    const made = await createIntegration(server, tenant.readOnly, {
      type: 'pagerduty',
      direction: 'bidirectional',
    });
    const config = { pagerduty_token: pagerDuty.token, pagerduty_from: pagerDuty.from };
    await server.http.put(`/v1/integrations/${made.id}`, tenant.readOnly, {
      config: { ...config, service_map: { Checkout: 'checkout-api' } },
    });
    await sendEvent(server, tenant.ingest, { old_value: 'v41', new_value: 'v42', actor: 'ci' });
    const id = await raiseAlert(server, tenant, made, 'PT4KHLK', { service: { summary: 'Checkout' } });
    await eventually('there is a note', 5000, () => pagerDuty.notes('PT4KHLK').length === 1);
    const [note] = pagerDuty.notes('PT4KHLK');
    expect(note?.content).toContain('deploy checkout-api v41 → v42 by ci');
    expect(pagerDuty.violations).toEqual([]);
    const alert = bodyOf(await server.http.get(`/v1/alerts/${id}`, tenant.readOnly));
    expect(alert).toMatchObject({
      service: 'checkout-api',
      status: 'firing',
      candidates: [{ reasons: expect.arrayContaining(['same_service', 'still_live']) }],
      deliveries: [{ kind: 'note', state: 'delivered' }],
    });
  });
});

describe('an alert', () => {
  const detail = async (id: string) => bodyOf(await server.http.get(`/v1/alerts/${id}`, tenant.readOnly));

  it('shows the deploy before it through a flood of symptoms, also when it comes late', async () => {
    const service_name = 'flooded';
    const deployedAt = new Date(Date.now() - 10 * 60_000).toISOString();
    await sendEvent(server, tenant.ingest, { service_name, timestamp: deployedAt, new_value: 'v2' });
    const flood = Array.from({ length: 2100 }, (_, n) =>
      eventBody({ service_name, event_type: 'saturation', entity: `pod-${n}`, confidence: 0.9 }),
    );
    await server.http.post('/v1/events/batch', tenant.ingest, flood);
    const made = await createIntegration(server, tenant.readOnly, {
      type: 'pagerduty',
      direction: 'inbound',
    });
    for (const minutesAgo of [0, 8]) {
      const created_at = new Date(Date.now() - minutesAgo * 60_000).toISOString();
      const facts = { service: { summary: service_name }, created_at };
      const id = await raiseAlert(server, tenant, made, `PFLOOD${minutesAgo}`, facts);
      expect(await detail(id)).toMatchObject({ candidates: expect.any(Array) });
      const [first] = ((await detail(id)) as { candidates: { event: { event_type: string } }[] }).candidates;
      expect(first?.event.event_type).toBe('deploy');
    }
  });

  it('whose service was not known finds it when it is told of again', async () => {
    const made = await createIntegration(server, tenant.readOnly, {
      type: 'pagerduty',
      direction: 'inbound',
    });
    const facts = { service: { summary: 'newborn' } };
    const id = await raiseAlert(server, tenant, made, 'PNEWBORN', facts);
    expect(await detail(id)).toMatchObject({ service: null, unmatched_reason: expect.any(String) });
    await sendEvent(server, tenant.ingest, { service_name: 'newborn', timestamp: '2026-08-22T10:00:00Z' });
    const data = { id: 'PNEWBORN', type: 'incident', title: 'x', ...facts };
    const body = { event: { id: 'another-event', event_type: 'incident.triggered', data } };
    await server.http.post(`/webhooks/pagerduty/${made.token}`, undefined, body);
    await eventually('it has its service', 3000, async () => {
      const { service } = (await detail(id)) as { service: string | null };
      return service === 'newborn';
    });
    expect(await detail(id)).toMatchObject({ unmatched_reason: null, candidate_count: 1 });
  });
});

describe('an incident whose end overtakes its beginning', () => {
  it.each([
    ['as ours', 0],
    ['ahead of ours', 60],
  ])(
    'is over, has its causes all the same, and fires when it is reopened: the tool has its clock %s',
    async (_, ahead) => {
      const made = await createIntegration(server, tenant.readOnly, {
        type: 'pagerduty',
        direction: 'inbound',
      });
      const nowMs = Date.now();
      const at = (minutes: number) => new Date(nowMs + (minutes + ahead) * 60_000).toISOString();
      const tell = async (event_type: string, occurred_at: string, more: object = {}) => {
        const service = { summary: 'overtaken' };
        const data = { id: 'PEARLY', type: 'incident', title: 'x', service, created_at: at(-20), ...more };
        const body = { event: { id: `${event_type} ${occurred_at}`, event_type, occurred_at, data } };
        expect((await server.http.post(`/webhooks/pagerduty/${made.token}`, undefined, body)).status).toBe(
          202,
        );
      };
      const alerts = async () => {
        const { alerts } = bodyOf(await server.http.get('/v1/alerts?per_page=100', tenant.readOnly)) as {
          alerts: {
            integration_id: string;
            status: string;
            candidate_count: number;
            resolved_at: string | null;
          }[];
        };
        return alerts.filter((alert) => alert.integration_id === made.id);
      };
      await sendEvent(server, tenant.ingest, { service_name: 'overtaken', timestamp: at(-25 - ahead) });
      const endedAt = at(-5);
      await tell('incident.resolved', endedAt);
      await tell('incident.triggered', at(-20));
      await eventually('it is there', 3000, async () => (await alerts()).length === 1);
      expect(await alerts()).toMatchObject([{ status: 'resolved', candidate_count: 1 }]);
      if (ahead === 0) expect(await alerts()).toMatchObject([{ resolved_at: endedAt }]);

      await tell('incident.reopened', at(-1), { reopened_at: at(-1) });
      await eventually('it fires', 3000, async () => (await alerts()).length === 2);
      expect((await alerts()).map(({ status }) => status)).toEqual(['firing', 'resolved']);
      await tell('incident.resolved', at(0));
      await eventually('it is over again', 3000, async () =>
        (await alerts()).every(({ status }) => status === 'resolved'),
      );
    },
  );
});

describe('an alert of Alertmanager', () => {
  it('that comes, goes and comes back within a minute fires, though it says what it said before', async () => {
    const made = await createIntegration(server, tenant.readOnly, {
      type: 'alertmanager',
      direction: 'inbound',
    });
    const deliver = (status: string) => {
      const alert = {
        status,
        fingerprint: 'f1',
        labels: { alertname: 'Up' },
        startsAt: '2026-08-22T10:00:00Z',
      };
      const body = { version: '4', groupKey: '{}', status, alerts: [alert] };
      return server.http.post(`/webhooks/alertmanager/${made.token}`, undefined, body);
    };
    const statuses = async () => {
      const { alerts } = bodyOf(await server.http.get('/v1/alerts?per_page=100', tenant.readOnly)) as {
        alerts: { integration_id: string; status: string }[];
      };
      return alerts.filter((alert) => alert.integration_id === made.id).map(({ status }) => status);
    };
    for (const status of ['firing', 'firing', 'resolved', 'resolved', 'firing']) {
      expect((await deliver(status)).status).toBe(202);
      await eventually(`it is ${status}`, 3000, async () => (await statuses()).join() === status);
    }
  });
});
