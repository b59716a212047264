import { z } from 'zod';
import { ALERT_STATUSES } from '../../domain/alert.ts';
import { alertPageSchema, alertSchema } from '../api-schemas/alerts.ts';
import { ALERT, INTEGRATION, SERVICE, STORED_EVENT } from './examples.ts';
import { DELIVERY } from './integrations.ts';
import type { Operations } from './operation.ts';
import { PAGING } from './paging.ts';

const { ttl_seconds: _, ...event } = STORED_EVENT;

const summary = {
  id: ALERT,
  integration_id: INTEGRATION,
  type: 'pagerduty',
  key: 'Q2AIT8QJ7FQ3B1',
  title: 'checkout-api: error rate over 5 %',
  severity: 'high',
  url: 'https://acme.pagerduty.com/incidents/Q2AIT8QJ7FQ3B1',
  status: 'firing',
  started_at: '2026-10-02T14:09:00.000Z',
  received_at: '2026-10-02T14:09:01.020Z',
  resolved_at: null,
  service: 'checkout-api',
  service_id: SERVICE,
  matched_by: { source: 'service.summary', via: 'name', exact: true },
  unmatched_reason: null,
  candidate_count: 1,
};

export const ALERT_OPERATIONS: Operations = {
  'GET /v1/alerts': {
    id: 'listAlerts',
    tag: 'Alerts',
    summary: 'List the alerts',
    query: [
      ...PAGING,
      {
        name: 'service',
        description: 'Only alerts of this service.',
        schema: z.string(),
        example: 'checkout-api',
      },
      {
        name: 'status',
        description: 'Only alerts that are this.',
        schema: z.enum(ALERT_STATUSES),
        example: 'firing',
      },
    ],
    answers: {
      200: {
        description: 'A page of alerts, newest first.',
        content: {
          schema: alertPageSchema,
          example: {
            alerts: [summary],
            page: 1,
            per_page: 10,
            total_pages: 1,
            total: 1,
            filter_service: null,
            filter_status: 'firing',
          },
        },
      },
    },
    refusals: { 400: 'status must be one of firing, resolved', 404: 'not found' },
  },
  'GET /v1/alerts/:id': {
    id: 'showAlert',
    tag: 'Alerts',
    summary: 'Read an alert and what may have caused it',
    answers: {
      200: {
        description: 'The alert, its candidates best first.',
        content: {
          schema: alertSchema,
          example: {
            ...summary,
            candidates: [
              {
                minutes_before: 5.8,
                score: 0.87,
                reasons: ['same_service', 'changed_before_start', 'still_live'],
                occurrences: 1,
                event,
              },
            ],
            deliveries: [DELIVERY],
          },
        },
      },
    },
  },
};
