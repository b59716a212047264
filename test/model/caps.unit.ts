/** A cap decides what is taken, and never what is replayed. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { integrationId } from '../../src/domain/ids.ts';
import { anEvent, openTestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

it('what is in the log is applied, whatever the caps have become', async () => {
  const first = await openTestEngine(directory, { maxIntegrations: 3 });
  const { tenantId, agentId } = await first.newTenant('acme');
  const events = ['a', 'b', 'c'].map((serviceName) => anEvent({ serviceName }));
  await first.submit({ type: 'record-events', tenantId, agentId, events });
  for (const n of [1, 2, 3]) {
    const outcome = await first.submit({
      type: 'create-integration',
      tenantId,
      integrationId: integrationId(`0000000${n}-0000-4000-8000-000000000000`),
      integrationType: 'pagerduty',
      direction: 'inbound',
      token: `token-${n}`,
    });
    expect(outcome.type).toBe('applied');
  }
  await first.close();

  const second = await openTestEngine(directory, { maxIntegrations: 1, maxServices: 1 });
  const tenant = second.state.tenants.get(tenantId);
  expect([tenant?.integrations.size, tenant?.services.size]).toEqual([3, 3]);
  await second.close();
});
