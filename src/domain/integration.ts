/** Integrations: which alerting tool one connects to, and which way. */
import type { IntegrationId, TenantId } from './ids.ts';

export const INTEGRATION_TYPES = ['pagerduty', 'alertmanager'] as const;
export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

export const DIRECTIONS = ['inbound', 'outbound', 'bidirectional'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface Integration {
  readonly id: IntegrationId;
  readonly tenantId: TenantId;
  readonly type: IntegrationType;
  readonly direction: Direction;
  readonly token: string;
  /** A JSON object, as text. */
  readonly configJson: string;
  readonly createdAtMs: number;
  /** Webhook deliveries taken so far. */
  readonly deliveries: number;
}
