import { z } from 'zod';
import { serviceListSchema, serviceLogSchema, windowSchema } from '../api-schemas/services.ts';
import { AGENT, SERVICE, STORED_EVENT, TENANT } from './examples.ts';
import type { Operations } from './operation.ts';
import { EVENT_TYPE, PER_PAGE } from './paging.ts';

const { id: _, service_name: service, ttl_seconds: __, received_at: updated_at, ...live } = STORED_EVENT;

export const SERVICE_OPERATIONS: Operations = {
  'GET /v1/services': {
    id: 'listServices',
    tag: 'Services',
    summary: 'List the services',
    description: 'Every service that an event has ever named.',
    answers: {
      200: {
        description: 'All of them.',
        content: {
          schema: serviceListSchema,
          example: [
            {
              id: SERVICE,
              tenant_id: TENANT,
              name: service,
              agent_id: AGENT,
              last_event_at: STORED_EVENT.timestamp,
            },
          ],
        },
      },
    },
  },
  'GET /v1/services/:id/context': {
    id: 'showServiceContext',
    tag: 'Services',
    summary: 'Read what changed: the state window of a service',
    description: 'Events that have not expired, by type. An expired event is never returned.',
    answers: {
      200: {
        description: 'The window at this moment.',
        content: {
          schema: windowSchema,
          example: {
            service,
            deploy_events: [live],
            restart_events: [],
            saturation_events: [],
            flag_change_events: [],
            circuit_open_events: [],
            dependency_failure_events: [],
            updated_at,
          },
        },
      },
    },
  },
  'GET /v1/services/:id/events': {
    id: 'showServiceLog',
    tag: 'Services',
    summary: 'Read the event log of a service',
    description:
      'What all agents have told of it, expired events too, until --retention. Give `next_before` of one page as `before` to get the next.',
    query: [
      PER_PAGE,
      {
        name: 'before',
        description: 'Only events older than the one of this id.',
        schema: z.uuid(),
        example: STORED_EVENT.id,
      },
      EVENT_TYPE,
    ],
    answers: {
      200: {
        description: 'A page of its events.',
        content: {
          schema: serviceLogSchema,
          example: { events: [{ ...STORED_EVENT, agent_id: AGENT }], per_page: 10, next_before: null },
        },
      },
    },
    refusals: { 400: 'before must be the id of an event' },
  },
};
