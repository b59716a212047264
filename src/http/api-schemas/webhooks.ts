import { z } from 'zod';
import { component, count } from './component.ts';

export const webhookBodySchema = component(
  'WebhookDelivery',
  z.unknown().describe('Whatever the alerting tool sends. What there is no use for is taken and let be.'),
);

export const webhookResultSchema = component(
  'WebhookResult',
  z
    .object({ accepted: count.describe('Alerts that the delivery tells of.') })
    .describe('The delivery is kept.'),
);
