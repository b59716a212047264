import { z } from 'zod';
import { DIRECTIONS, INTEGRATION_TYPES } from '../../domain/integration.ts';
import { OUTBOUND_STATES } from '../../domain/outbound.ts';
import { component, count, textOrNull, time } from './component.ts';

export const integrationSchema = component(
  'Integration',
  z
    .object({
      id: z.uuid(),
      tenant_id: z.uuid(),
      type: z.enum(INTEGRATION_TYPES),
      direction: z.enum(DIRECTIONS),
      token: z.string().describe('The secret in webhook_url.'),
      config: z.record(z.string(), z.unknown()).describe('As it was put, secrets too.'),
      created_at: time,
      webhook_url: z.string().describe('To be given to the alerting tool.'),
    })
    .describe('A connection to an alerting tool.'),
);

export const integrationListSchema = component('IntegrationList', z.array(integrationSchema));

export const deliverySchema = component(
  'Delivery',
  z
    .object({
      id: z.uuid(),
      integration_id: z.uuid(),
      kind: z.enum(['note', 'change-event', 'agent-stale', 'agent-returned']),
      alert_id: z.uuid().nullable(),
      event_id: z.uuid().nullable(),
      agent_id: z.uuid().nullable(),
      state: z.enum(OUTBOUND_STATES),
      attempts: count.describe('Since it was queued last.'),
      queued_at: time,
      updated_at: time,
      next_attempt_at: time.nullable(),
      detail: textOrNull.describe('What became of the last attempt.'),
    })
    .describe('Something that is sent, or was sent, to an alerting tool.'),
);

export const deliveryListSchema = component('DeliveryList', z.array(deliverySchema));
