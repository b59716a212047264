/** The alerting tools an integration can connect to, and which way. */

export const INTEGRATION_TYPES = ['pagerduty', 'alertmanager'] as const;
export type IntegrationType = (typeof INTEGRATION_TYPES)[number];

export const DIRECTIONS = ['inbound', 'outbound', 'bidirectional'] as const;
export type Direction = (typeof DIRECTIONS)[number];
