import { deliveryListSchema, integrationListSchema, integrationSchema } from '../api-schemas/integrations.ts';
import { integrationUpdateSchema, newIntegrationSchema } from '../schemas.ts';
import { ALERT, INTEGRATION, NOTE, TENANT, TOKEN } from './examples.ts';
import type { Operations } from './operation.ts';

const config = { pagerduty_token: 'u+9sB7QzLd2xWcVn', pagerduty_from: 'oncall@example.com' };

const made = {
  id: INTEGRATION,
  tenant_id: TENANT,
  type: 'pagerduty',
  direction: 'bidirectional',
  token: TOKEN,
  config: {},
  created_at: '2026-10-02T08:00:00.000Z',
  webhook_url: `http://127.0.0.1:8080/webhooks/pagerduty/${TOKEN}`,
};

export const DELIVERY = {
  id: NOTE,
  integration_id: INTEGRATION,
  kind: 'note',
  alert_id: ALERT,
  event_id: null,
  agent_id: null,
  state: 'delivered',
  attempts: 1,
  queued_at: '2026-10-02T14:09:03.120Z',
  updated_at: '2026-10-02T14:09:03.480Z',
  next_attempt_at: null,
  detail: 'answered 201',
};

export const INTEGRATION_OPERATIONS: Operations = {
  'GET /v1/integrations': {
    id: 'listIntegrations',
    tag: 'Integrations',
    summary: 'List the integrations',
    answers: {
      200: { description: 'All of them.', content: { schema: integrationListSchema, example: [made] } },
    },
  },
  'POST /v1/integrations': {
    id: 'createIntegration',
    tag: 'Integrations',
    summary: 'Create an integration',
    description: 'Then give webhook_url to the alerting tool.',
    body: [{ schema: newIntegrationSchema, example: { type: 'pagerduty', direction: 'bidirectional' } }],
    answers: {
      201: { description: 'The integration.', content: { schema: integrationSchema, example: made } },
    },
    refusals: { 400: 'direction must be one of inbound, outbound, bidirectional' },
  },
  'PUT /v1/integrations/:id': {
    id: 'configureIntegration',
    tag: 'Integrations',
    summary: 'Replace the configuration of an integration',
    description: 'The whole config, never other fields. Keys we do not know are kept.',
    body: [{ schema: integrationUpdateSchema, example: { config } }],
    answers: {
      200: {
        description: 'The integration.',
        content: { schema: integrationSchema, example: { ...made, config } },
      },
    },
    refusals: { 400: 'unknown field direction: only config can be updated' },
  },
  'DELETE /v1/integrations/:id': {
    id: 'deleteIntegration',
    tag: 'Integrations',
    summary: 'Delete an integration',
    description: 'Its webhook URL stops working at once.',
    answers: { 204: { description: 'It is gone.' } },
  },
  'POST /v1/integrations/:id/rotate-token': {
    id: 'rotateToken',
    tag: 'Integrations',
    summary: 'Replace the token of an integration',
    description: 'The old webhook URL stops working at once; give the new one to the alerting tool.',
    answers: {
      200: {
        description: 'The integration, with its new token and webhook_url.',
        content: { schema: integrationSchema, example: made },
      },
    },
  },
  'GET /v1/integrations/:id/deliveries': {
    id: 'listDeliveries',
    tag: 'Integrations',
    summary: 'List what an integration sends',
    description: 'What waits, and the latest of what is done; what changed last comes first.',
    answers: {
      200: { description: 'Its deliveries.', content: { schema: deliveryListSchema, example: [DELIVERY] } },
    },
  },
};
