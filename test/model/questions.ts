/** Everything that can be asked on behalf of a tenant, of the queries and of the model. */
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { agentId, type EventId, keyId, serviceIdOf, type TenantId } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/rejection.ts';
import type { EventLogRequest } from '../../src/queries/event-log.ts';
import type { Found, Queries } from '../../src/queries/queries.ts';
import type { ServiceLogRequest } from '../../src/queries/service-log.ts';
import { serviceContext } from '../support/window.ts';
import { type Model, serviceIds } from './model.ts';
import { idOfAgent, idOfIntegration, tenantIdOf } from './script.ts';

export interface Question {
  readonly text: string;
  readonly ask: (queries: Queries) => Found<string | Buffer> | Rejection;
  /** The JSON value that must come back, or undefined where nothing may be found. */
  readonly answer: () => unknown;
}

const UNFILTERED: EventLogRequest = { page: 1, perPage: 10, service: null, vendor: null, eventType: null };

/** Ids that are nobody's. */
const STRANGERS = ['', 'constructor', '__proto__', '00000000-0000-4000-8000-000000000000'];

/** The lists, which project all that has changed. */
export function listQuestions(model: Model, tenantId: TenantId): Question[] {
  return [
    {
      text: 'agents',
      ask: (queries) => queries.agents(tenantId).whole(),
      answer: () => model.agents(tenantId),
    },
    {
      text: 'services',
      ask: (queries) => queries.services(tenantId).whole(),
      answer: () => model.services(tenantId),
    },
    {
      text: 'integrations',
      ask: (queries) => queries.integrations(tenantId).whole(),
      answer: () => model.integrations(tenantId),
    },
  ];
}

/** What is asked of single things. Filters are too many to ask them all: `salt` chooses. */
export function detailQuestions(model: Model, tenantId: TenantId, salt: number): Question[] {
  const others = [0, 1].filter((tenant) => tenantIdOf(tenant) !== tenantId);
  const strangers = [...STRANGERS, ...others.flatMap(thingsOf)];
  const agents = [...model.agentIds(tenantId), ...strangers].flatMap((id): Question[] => [
    ...eventLogRequests(model, tenantId, salt).map((request) => ({
      text: `agent ${id} ${JSON.stringify(request)}`,
      ask: (queries: Queries) => queries.agent(tenantId, id, request),
      answer: () => model.agent(tenantId, id, request),
    })),
    {
      text: `registered agent ${id}`,
      ask: (queries) => queries.registeredAgent(keyOf(tenantId, id)),
      answer: () => model.registeredAgent(tenantId, agentId(id)),
    },
    {
      text: `whether there is an agent ${id}`,
      ask: (queries) => ({ type: 'found', json: String(queries.hasAgent(tenantId, id)) }),
      answer: () => model.agentIds(tenantId).some((known) => known === id),
    },
  ]);
  const services = [...serviceIds(model, tenantId), ...strangers].flatMap((id): Question[] => [
    {
      text: `service ${id}`,
      ask: (queries) => serviceContext(queries, tenantId, id),
      answer: () => model.serviceContext(tenantId, id),
    },
    ...serviceLogRequests(model, tenantId, id).map((request) => ({
      text: `log of service ${id} ${JSON.stringify(request)}`,
      ask: (queries: Queries) => queries.serviceLog(tenantId, id, request),
      answer: () => model.serviceLog(tenantId, id, request),
    })),
  ]);
  const integrations = [...model.integrationIds(tenantId), ...strangers].map((id) => ({
    text: `integration ${id}`,
    ask: (queries: Queries) => queries.integration(tenantId, id),
    answer: () => model.integration(tenantId, id),
  }));
  return [...agents, ...services, ...integrations];
}

/** The first pages, each from where the one before ended; and those of one type. */
function serviceLogRequests(model: Model, tenantId: TenantId, id: string): ServiceLogRequest[] {
  const first: ServiceLogRequest = { perPage: 2, before: null, eventType: null };
  const { next_before: before = null } = (model.serviceLog(tenantId, id, first) ?? {}) as {
    readonly next_before?: EventId | null;
  };
  return [first, { ...first, before }, { ...first, perPage: 10, eventType: 'deploy' }];
}

/** Ids of things that a tenant has, or may have. */
function thingsOf(tenant: number): string[] {
  return [idOfAgent(tenant, 0), serviceIdOf(tenantIdOf(tenant), 'api'), idOfIntegration(tenant, 0)];
}

function eventLogRequests(model: Model, tenantId: TenantId, salt: number): EventLogRequest[] {
  const services = [null, null, ...model.serviceNames(tenantId), 'of nobody'];
  const vendors = [null, null, 'argocd', 'postgresql', '__proto__', 'of nobody'];
  const types = [null, null, null, ...EVENT_TYPES];
  const requests = [UNFILTERED, { ...UNFILTERED, page: 2 }];
  for (let n = salt; n < salt + 3; n += 1) {
    requests.push({
      page: drawn([1, 1, 2, 3, 1000], n, 1),
      perPage: drawn([10, 20, 50, 100], n, 2),
      service: drawn(services, n, 3),
      vendor: drawn(vendors, n, 4),
      eventType: drawn(types, n, 5),
    });
  }
  return requests;
}

/** One of the values, the same for the same numbers. */
function drawn<T>(values: readonly T[], n: number, which: number): T {
  const index = (Math.imul(n * 8 + which, 0x9e3779b1) >>> 12) % values.length;
  return values[index] as T;
}

function keyOf(tenantId: TenantId, id: string) {
  return {
    id: keyId(''),
    tenantId,
    kind: 'ingest',
    agentId: agentId(id),
    name: null,
    hash: '',
    createdAtMs: 0,
    revokedAtMs: null,
    idsRow: 0,
  } as const;
}
