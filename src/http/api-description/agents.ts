import { z } from 'zod';
import { agentListSchema, agentSchema, eventLogSchema } from '../api-schemas/agents.ts';
import { registrationSchema } from '../schemas.ts';
import { AGENT, KEY, STORED_EVENT, TENANT } from './examples.ts';
import type { Operations } from './operation.ts';
import { EVENT_TYPE, PAGING } from './paging.ts';

const described = {
  id: AGENT,
  hostname: 'db-1.example.com',
  name: 'orders database',
  agent_version: '1.4.0',
  registered_at: '2026-10-02T08:00:00.000Z',
  last_seen_at: '2026-10-02T14:03:12.480Z',
  status: 'live',
};
const agent = { ...described, tenant_id: TENANT, api_key_id: KEY };

export const AGENT_OPERATIONS: Operations = {
  'POST /v1/agents/register': {
    id: 'registerAgent',
    tag: 'Agents',
    summary: 'Register an agent',
    description:
      'Once, before the first event. Again with the same key it is the same agent, with hostname and version updated.',
    body: [
      {
        schema: registrationSchema,
        example: { hostname: 'db-1.example.com', name: 'orders database', version: '1.4.0' },
      },
    ],
    answers: { 201: { description: 'The agent.', content: { schema: agentSchema, example: agent } } },
    refusals: { 400: 'hostname is required' },
  },
  'POST /v1/agents/:id/heartbeat': {
    id: 'heartbeat',
    tag: 'Agents',
    summary: 'Say that an agent is alive',
    description: 'For agents that have nothing to report. An agent speaks for itself only.',
    answers: { 204: { description: 'It has been seen.' } },
    refusals: { 403: 'the key belongs to another agent' },
  },
  'GET /v1/agents': {
    id: 'listAgents',
    tag: 'Agents',
    summary: 'List the agents',
    answers: {
      200: {
        description: 'All of them.',
        content: { schema: agentListSchema, example: [{ ...described, events_last_hour: 17 }] },
      },
    },
  },
  'GET /v1/agents/:id': {
    id: 'showAgent',
    tag: 'Agents',
    summary: 'Read an agent and its event log',
    description: 'Expired events stay in the event log until --retention. A page past the end is empty.',
    query: [
      ...PAGING,
      {
        name: 'service',
        description: 'Only events of this service.',
        schema: z.string(),
        example: 'checkout-api',
      },
      { name: 'vendor', description: 'Only events of this vendor.', schema: z.string(), example: 'argocd' },
      EVENT_TYPE,
    ],
    answers: {
      200: {
        description: 'The agent and a page of its events.',
        content: {
          schema: eventLogSchema,
          example: {
            agent,
            events: [STORED_EVENT],
            page: 1,
            per_page: 10,
            total_pages: 1,
            total: 1,
            filter_services: ['checkout-api', 'orders-db'],
            filter_vendors: ['argocd', 'postgresql'],
            filter_service: 'checkout-api',
            filter_vendor: null,
            filter_event_type: null,
            events_by_minute: [...new Array(59).fill(0), 1],
          },
        },
      },
    },
    refusals: { 400: 'per_page must be one of 10, 20, 50, 100' },
  },
};
