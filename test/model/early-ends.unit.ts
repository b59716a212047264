/** The end of an incident that came before its beginning is known after a restart, from the log and from a checkpoint. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeCheckpoint } from '../../src/commands/checkpointer.ts';
import type { AlertChange } from '../../src/domain/alert.ts';
import { alertId, deliveryId, integrationId, type TenantId } from '../../src/domain/ids.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const INTEGRATION = integrationId('5f0d2b6e-0000-4000-8000-000000000000');
const ENDED_MS = START_MS - 60_000;
const SETTINGS = { segmentBytes: 4096 };

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

async function tell(
  engine: TestEngine,
  tenantId: TenantId,
  name: string,
  change: AlertChange,
): Promise<void> {
  const common = { tenantId, integrationId: INTEGRATION, deliveryId: deliveryId(name) };
  await engine.submit({ type: 'receive-delivery', ...common, toolDeliveryId: null, bodyJson: '{}' });
  await engine.submit({ type: 'process-delivery', ...common, changes: [change] });
}

const fired = {
  type: 'fired' as const,
  alertId: alertId('a'),
  key: 'P1',
  startedAtMs: ENDED_MS - 1,
  title: 'slow',
  severity: null,
  url: null,
  serviceHints: [],
  entities: [],
  match: { type: 'unmatched' as const, reason: 'it names no service' },
  candidates: [],
} satisfies AlertChange;

it.each(['the log', 'a checkpoint'])('from %s', async (from) => {
  const engine = await openTestEngine(directory, SETTINGS);
  const { tenantId, agentId } = await engine.newTenant('acme');
  await engine.submit({
    ...{ type: 'create-integration', tenantId, integrationId: INTEGRATION },
    ...{ integrationType: 'pagerduty', direction: 'inbound', token: 'token' },
  });
  const { alertId: id } = fired;
  await tell(engine, tenantId, 'first', { type: 'resolved', key: 'P1', endedAtMs: ENDED_MS, alertId: id });
  for (let n = 0; n < 60; n += 1) {
    await engine.submit({
      type: 'record-events',
      tenantId,
      agentId,
      events: [anEvent({ oldValue: 'x'.repeat(100) })],
    });
  }
  await engine.close();
  if (from === 'a checkpoint') {
    const limits = { retentionMs: 24 * 3600 * 1000, windowMaxEvents: 1000, windowMaxBytes: 8 * 1024 * 1024 };
    await makeCheckpoint({ disk: nodeDisk, dataDirectory: directory, limits, throughOrdinal: 2 });
    // What the checkpoint covers is not read again: were it not in the checkpoint, it would be gone.
    nodeDisk.remove(join(directory, 'log', segmentFileName(1)));
  }

  const again = await openTestEngine(directory, SETTINGS);
  await tell(again, tenantId, 'second', fired);
  const alert = again.state.tenants.get(tenantId)?.alerts.alerts.get(alertId('a'));
  expect(alert?.context).toMatchObject({ status: 'resolved', resolvedAtMs: ENDED_MS });
  await again.close();
});
