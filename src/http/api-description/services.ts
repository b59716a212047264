import { serviceListSchema, windowSchema } from '../api-schemas/services.ts';
import { AGENT, SERVICE, STORED_EVENT, TENANT } from './examples.ts';
import type { Operations } from './operation.ts';

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
};
