/** Integrations as JSON. The webhook URL depends on where the server is reached, so it is not in the row. */
import type { IntegrationActor } from '../actors/integration.ts';
import { closeObject, isoTime, openObject } from './json.ts';

export function integrationRow({ context }: IntegrationActor): string {
  const { id, tenantId, type, direction, token, configJson, createdAtMs } = context;
  const before = openObject({ id, tenant_id: tenantId, type, direction, token });
  // The config is spliced in as it was stored: its keys are the tenant's own.
  return `${before},"config":${configJson},"created_at":${JSON.stringify(isoTime(createdAtMs))}`;
}

export function integrationEntry(row: string, { context }: IntegrationActor, baseUrl: string): string {
  return closeObject(row, { webhook_url: `${baseUrl}/webhooks/${context.type}/${context.token}` });
}

export function integrationJson(integration: IntegrationActor, baseUrl: string): string {
  return integrationEntry(integrationRow(integration), integration, baseUrl);
}
