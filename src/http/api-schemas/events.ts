import { z } from 'zod';
import { EVENT_TYPES } from '../../domain/event.ts';
import { component, count, textOrNull, time } from './component.ts';

export const facts = {
  service_name: z.string(),
  vendor: z.string(),
  entity: z.string(),
  event_type: z.enum(EVENT_TYPES),
  old_value: textOrNull,
  new_value: textOrNull,
  actor: textOrNull,
  sha: textOrNull,
  confidence: z.number().gt(0).lte(1),
  timestamp: time.describe('The event\u2019s own time, or its receipt where none was given.'),
  received_at: time,
  expires_at: time.describe('received_at and ttl_seconds.'),
};

export const storedEventSchema = component(
  'StoredEvent',
  z
    .object({
      id: z.uuid().describe('UUIDv7: ids sort by receipt.'),
      ...facts,
      ttl_seconds: z.int().positive(),
    })
    .describe('An event in the event log of its agent.'),
);

export const batchResultSchema = component(
  'BatchResult',
  z
    .object({
      accepted: count.describe('Events taken: all of them, or none where the answer is an error.'),
      rejected: z
        .array(z.object({ index: count.describe('Its place in the batch, from 0.'), detail: z.string() }))
        .describe(
          'Events that were not taken, each with the reason that a request of its own would be told.',
        ),
    })
    .describe('What became of a batch.'),
);
