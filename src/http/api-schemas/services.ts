import { z } from 'zod';
import { EVENT_TYPES } from '../../domain/event.ts';
import { component, textOrNull, time } from './component.ts';
import { storedEventSchema } from './events.ts';

const serviceSchema = component(
  'Service',
  z
    .object({
      id: z.uuid(),
      tenant_id: z.uuid(),
      agent_id: z.uuid().describe('The agent of the latest event.'),
      name: z.string(),
      last_event_at: time.describe('The latest timestamp of its events.'),
    })
    .describe('What events are about; known from the first event that names it.'),
);

export const serviceListSchema = component('ServiceList', z.array(serviceSchema));

const windowEventSchema = component(
  'WindowEvent',
  z
    .object({
      event_type: z.enum(EVENT_TYPES),
      vendor: z.string(),
      entity: z.string(),
      old_value: textOrNull,
      new_value: textOrNull,
      timestamp: time,
      actor: textOrNull,
      sha: textOrNull,
      confidence: z.number().gt(0).lte(1),
      expires_at: time,
    })
    .describe('A live event of a service.'),
);

const events = z.array(windowEventSchema).describe('Newest timestamp first.');

export const windowSchema = component(
  'StateWindow',
  z
    .object({
      service: z.string(),
      deploy_events: events,
      restart_events: events,
      saturation_events: events,
      flag_change_events: events,
      circuit_open_events: events,
      dependency_failure_events: events,
      updated_at: time.describe('Receipt of the newest event that was ever merged.'),
      truncated: z
        .literal(true)
        .optional()
        .describe('Events that would still be live have left, for the window held as many as it may.'),
    })
    .describe('The events of a service that have not expired.'),
);

export const serviceLogSchema = component(
  'ServiceEvents',
  z
    .object({
      events: z
        .array(storedEventSchema.extend({ agent_id: z.uuid().describe('Who told of it.') }))
        .describe('Newest receipt first.'),
      per_page: z.int(),
      next_before: z.uuid().nullable().describe('`before` of the next page; null where there is none.'),
    })
    .describe('A page of what was told of a service, by all agents.'),
);
