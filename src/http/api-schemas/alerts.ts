import { z } from 'zod';
import { ALERT_STATUSES, CANDIDATE_REASONS } from '../../domain/alert.ts';
import { INTEGRATION_TYPES } from '../../domain/integration.ts';
import { component, count, textOrNull, time } from './component.ts';
import { facts } from './events.ts';
import { deliverySchema } from './integrations.ts';

const summary = {
  id: z.uuid(),
  integration_id: z.uuid().describe('That it came through.'),
  type: z.enum(INTEGRATION_TYPES),
  key: z.string().describe('What the tool calls it: an incident id, a fingerprint.'),
  title: z.string(),
  severity: textOrNull,
  url: textOrNull,
  status: z.enum(ALERT_STATUSES),
  started_at: time,
  received_at: time,
  resolved_at: time.nullable(),
  service: textOrNull,
  service_id: z.uuid().nullable(),
  matched_by: z
    .object({ source: z.string(), via: z.enum(['name', 'service_map']), exact: z.boolean() })
    .nullable()
    .describe('The field of the delivery that named the service.'),
  unmatched_reason: textOrNull,
  candidate_count: count,
};

const alertSummarySchema = component(
  'AlertSummary',
  z.object(summary).describe('An alert, as a list shows it.'),
);

export const alertPageSchema = component(
  'AlertPage',
  z
    .object({
      alerts: z.array(alertSummarySchema).describe('Newest first.'),
      page: z.int().positive(),
      per_page: z.int(),
      total_pages: count,
      total: count,
      filter_service: textOrNull,
      filter_status: z.enum(ALERT_STATUSES).nullable(),
    })
    .describe('A page of alerts.'),
);

const candidateSchema = component(
  'Candidate',
  z
    .object({
      minutes_before: z
        .number()
        .describe('From the event to the start of the alert; negative where it came after.'),
      score: z.number().gt(0).lte(1).describe('How much speaks for it.'),
      reasons: z.array(z.enum(CANDIDATE_REASONS)),
      occurrences: z.int().positive().describe('Identical events that it stands for, itself among them.'),
      event: z.object({ id: z.uuid(), ...facts }),
    })
    .describe('An event that may have caused an alert.'),
);

export const alertSchema = component(
  'Alert',
  z
    .object({
      ...summary,
      candidates: z.array(candidateSchema).describe('Best first, as of the start of the alert.'),
      deliveries: z.array(deliverySchema).describe('Notes that were sent about it.'),
    })
    .describe('An alert, and what changed just before.'),
);
