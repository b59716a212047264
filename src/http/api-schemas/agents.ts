import { z } from 'zod';
import { EVENT_TYPES } from '../../domain/event.ts';
import { component, count, textOrNull, time } from './component.ts';
import { storedEventSchema } from './events.ts';

const described = {
  id: z.uuid(),
  hostname: z.string(),
  name: z.string().describe('Follows the hostname until a registration gives one.'),
  agent_version: textOrNull,
  registered_at: time,
  last_seen_at: time.describe('Of the last registration, heartbeat or event.'),
  status: z.enum(['live', 'stale']).describe('stale: not seen for --agent-stale-after.'),
};

export const agentSchema = component(
  'Agent',
  z
    .object({
      ...described,
      tenant_id: z.uuid(),
      api_key_id: z.uuid().describe('The key it registers with.'),
    })
    .describe('Whoever sends events: one ingest key is one agent.'),
);

const agentEntrySchema = component(
  'AgentEntry',
  z
    .object({
      ...described,
      events_last_hour: count.describe('Events received in the last 3600 s, exactly.'),
    })
    .describe('An agent, as the list of agents shows it.'),
);

export const agentListSchema = component('AgentList', z.array(agentEntrySchema));

export const eventLogSchema = component(
  'AgentWithEvents',
  z
    .object({
      agent: agentSchema,
      events: z.array(storedEventSchema).describe('Newest receipt first.'),
      page: z.int().positive(),
      per_page: z.int(),
      total_pages: count,
      total: count.describe('Events that match the filters.'),
      filter_services: z.array(z.string()).describe('Every service of the event log, whatever the filters.'),
      filter_vendors: z.array(z.string()).describe('Every vendor of the event log, whatever the filters.'),
      filter_service: textOrNull,
      filter_vendor: textOrNull,
      filter_event_type: z.enum(EVENT_TYPES).nullable(),
      events_by_minute: z
        .array(count)
        .length(60)
        .describe('Events received in each minute of the last 3600 s, the oldest minute first.'),
    })
    .describe('An agent and a page of its event log.'),
);
