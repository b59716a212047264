import { agentId, parseUuid } from '../domain/ids.ts';
import { NOT_FOUND, NOT_YOUR_AGENT, type Rejection } from '../domain/rejection.ts';
import type { EventLogRequest } from '../queries/event-log.ts';
import { type Api, carryOut, reply, replyWhenMade, show } from './api.ts';
import { eventTypeIn, filterIn, pageIn } from './paging.ts';
import { NO_CONTENT } from './responses.ts';
import type { KeyCall } from './route.ts';
import { read, registrationSchema } from './schemas.ts';

/** POST /v1/agents/register */
export function registerAgent(api: Api, { exchange, key, json }: KeyCall): void {
  const registration = read(registrationSchema, json);
  if (registration.type === 'rejection') return exchange.reject(registration);
  const { hostname, name, version } = registration.data;
  const command = {
    type: 'register-agent',
    tenantId: key.tenantId,
    agentId: key.agentId,
    keyId: key.id,
    hostname,
    name: name ?? null,
    version: version ?? null,
  } as const;
  carryOut(api, exchange, command, () => show(api.queries.registeredAgent(key), 201));
}

/** POST /v1/agents/{id}/heartbeat: an agent speaks for itself only. */
export function heartbeat(api: Api, { exchange, key, params }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  if (id !== key.agentId) {
    return exchange.reject(api.queries.hasAgent(key.tenantId, id) ? NOT_YOUR_AGENT : NOT_FOUND);
  }
  const command = { type: 'heartbeat', tenantId: key.tenantId, agentId: agentId(id) } as const;
  carryOut(api, exchange, command, () => NO_CONTENT);
}

/** GET /v1/agents */
export function listAgents(api: Api, { exchange, key }: KeyCall): void {
  replyWhenMade(api, exchange, api.queries.agents(key.tenantId));
}

/** GET /v1/agents/{id} */
export function showAgent(api: Api, { exchange, key, params, query }: KeyCall): void {
  const id = parseUuid(params[0] ?? '');
  if (id === undefined) return exchange.reject(NOT_FOUND);
  const request = readEventLogRequest(new URLSearchParams(query));
  if ('type' in request) return exchange.reject(request);
  reply(exchange, show(api.queries.agent(key.tenantId, id, request)));
}

function readEventLogRequest(query: URLSearchParams): EventLogRequest | Rejection {
  const page = pageIn(query);
  if ('type' in page) return page;
  const eventType = eventTypeIn(query);
  if (eventType !== null && typeof eventType !== 'string') return eventType;
  return { ...page, service: filterIn(query, 'service'), vendor: filterIn(query, 'vendor'), eventType };
}
