import { webhookBodySchema, webhookResultSchema } from '../api-schemas/webhooks.ts';
import type { Operations } from './operation.ts';

export const WEBHOOK_OPERATIONS: Operations = {
  'POST /webhooks/:type/:token': {
    id: 'receiveWebhook',
    tag: 'Webhooks',
    summary: 'Deliver to an integration',
    description:
      'What an alerting tool calls: PagerDuty (webhooks v3), Alertmanager, or Grafana as Alertmanager. The delivery is kept and answered; what it means is worked out afterwards. One that came before changes nothing.',
    body: [
      {
        schema: webhookBodySchema,
        example: {
          event: {
            event_type: 'incident.triggered',
            data: { id: 'Q2AIT8QJ7FQ3B1', type: 'incident', title: 'checkout-api: error rate over 5 %' },
          },
        },
      },
    ],
    answers: {
      202: { description: 'It is kept.', content: { schema: webhookResultSchema, example: { accepted: 1 } } },
    },
    refusals: {
      401: 'the signature is missing or does not match',
      403: 'this integration is outbound only: it takes no alerts',
    },
  },
};
