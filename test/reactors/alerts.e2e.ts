/** From a webhook to a note on the incident: the server, and a strict stand-in for PagerDuty. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, raiseAlert, register, sendEvent } from '../http/operations.ts';
import { type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { bodyOf, type Tenant, TestServer } from '../support/http.ts';
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
    for (const status of ['firing', 'firing', 'resolved', 'firing']) {
      expect((await deliver(status)).status).toBe(202);
      await eventually(`it is ${status}`, 3000, async () => (await statuses()).join() === status);
    }
  });
});
