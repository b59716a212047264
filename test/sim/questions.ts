/** Everything that can be asked on behalf of a tenant: of the queries, and of the model. */
import type { AlertStatus } from '../../src/domain/alert.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { type AlertId, type IntegrationId, serviceIdOf, type TenantId } from '../../src/domain/ids.ts';
import type { Rejection } from '../../src/domain/rejection.ts';
import type { EventLogRequest } from '../../src/queries/event-log.ts';
import type { Found, Queries } from '../../src/queries/queries.ts';
import { serviceContext } from '../support/window.ts';
import type { Model } from './model.ts';
import type { Random } from './random.ts';

export interface Question {
  readonly text: string;
  readonly ask: (queries: Queries) => Found<string | Buffer> | Rejection;
  /** The JSON value that must come back, or undefined where nothing may be found. */
  readonly answer: () => unknown;
}

const WHOLE_LOG: EventLogRequest = { page: 1, perPage: 100, service: null, vendor: null, eventType: null };

/** What a tenant can ask about all it has. */
export function allQuestions(model: Model, tenantId: TenantId): Question[] {
  return [
    ...listQuestions(model, tenantId),
    ...model.agentIds(tenantId).map((id) => agentQuestion(model, tenantId, id, WHOLE_LOG)),
    ...model.serviceNames(tenantId).map((name) => serviceQuestion(model, tenantId, name)),
    ...model.serviceNames(tenantId).map((name) => serviceLogQuestion(model, tenantId, name)),
    ...model.integrationIds(tenantId).map((id) => integrationQuestion(model, tenantId, id)),
    ...model.integrationIds(tenantId).map((id) => deliveriesQuestion(model, tenantId, id)),
    ...[...model.alertsOf(tenantId).alerts.keys()].map((id) => alertQuestion(model, tenantId, id)),
    alertsQuestion(model, tenantId, 1, 100, null),
  ];
}

/** One question, about what is there or is another's. */
export function anyQuestion(model: Model, tenantId: TenantId, random: Random): Question {
  const owner = random.chance(0.1) ? random.pick(model.tenantIds) : tenantId;
  const agents = model.agentIds(owner);
  const services = model.serviceNames(owner);
  const integrations = model.integrationIds(owner);
  const alerts = [...model.alertsOf(owner).alerts.keys()];
  switch (
    random.weighted({ list: 2, agent: 3, service: 4, integration: 1, alerts: 1, alert: 2, deliveries: 1 })
  ) {
    case 'agent':
      if (agents.length === 0) break;
      return agentQuestion(model, tenantId, random.pick(agents), {
        page: random.pick([1, 1, 2, 3]),
        perPage: random.pick([1, 5, 20]),
        service: random.chance(0.7) || services.length === 0 ? null : random.pick(services),
        vendor: random.chance(0.7) ? null : random.pick(['argocd', 'postgresql', 'nobody']),
        eventType: random.chance(0.7) ? null : random.pick(EVENT_TYPES),
      });
    case 'service':
      if (services.length === 0) break;
      if (random.chance(0.3)) return serviceLogQuestion(model, tenantId, random.pick(services));
      return serviceQuestion(model, tenantId, random.pick(services), owner);
    case 'integration':
      if (integrations.length === 0) break;
      return integrationQuestion(model, tenantId, random.pick(integrations));
    case 'alerts':
      return alertsQuestion(
        model,
        tenantId,
        random.between(1, 2),
        random.pick([2, 10]),
        random.pick([null, 'firing', 'resolved']),
      );
    case 'alert':
      if (alerts.length === 0) break;
      return alertQuestion(model, tenantId, random.pick(alerts));
    case 'deliveries':
      if (integrations.length === 0) break;
      return deliveriesQuestion(model, tenantId, random.pick(integrations));
    case 'list':
      break;
  }
  return random.pick(listQuestions(model, tenantId));
}

function listQuestions(model: Model, tenantId: TenantId): Question[] {
  return [
    {
      text: `agents of ${tenantId}`,
      ask: (queries) => queries.agents(tenantId).whole(),
      answer: () => model.agents(tenantId),
    },
    {
      text: `services of ${tenantId}`,
      ask: (queries) => queries.services(tenantId).whole(),
      answer: () => model.services(tenantId),
    },
    {
      text: `integrations of ${tenantId}`,
      ask: (queries) => queries.integrations(tenantId).whole(),
      answer: () => model.integrations(tenantId),
    },
  ];
}

function agentQuestion(model: Model, tenantId: TenantId, id: string, request: EventLogRequest): Question {
  return {
    text: `agent ${id} of ${tenantId}, ${JSON.stringify(request)}`,
    ask: (queries) => queries.agent(tenantId, id, request),
    answer: () => model.agent(tenantId, id, request),
  };
}

function serviceQuestion(model: Model, tenantId: TenantId, name: string, owner = tenantId): Question {
  const id = serviceIdOf(owner, name);
  return {
    text: `service ${name} of ${tenantId}`,
    ask: (queries) => serviceContext(queries, tenantId, id),
    answer: () => model.serviceContext(tenantId, id),
  };
}

function serviceLogQuestion(model: Model, tenantId: TenantId, name: string): Question {
  const id = serviceIdOf(tenantId, name);
  const request = { perPage: 10, before: null, eventType: null };
  return {
    text: `log of service ${name} of ${tenantId}`,
    ask: (queries) => queries.serviceLog(tenantId, id, request),
    answer: () => model.serviceLog(tenantId, id, request),
  };
}

function integrationQuestion(model: Model, tenantId: TenantId, id: string): Question {
  return {
    text: `integration ${id} of ${tenantId}`,
    ask: (queries) => queries.integration(tenantId, id),
    answer: () => model.integration(tenantId, id),
  };
}

function alertsQuestion(
  model: Model,
  tenantId: TenantId,
  page: number,
  perPage: number,
  status: AlertStatus | null,
): Question {
  return {
    text: `alerts of ${tenantId}, page ${page} of ${perPage}, ${status}`,
    ask: (queries) => queries.alerts(tenantId, { page, perPage, status, service: null }),
    answer: () => model.alertsOf(tenantId).page(page, perPage, status),
  };
}

function alertQuestion(model: Model, tenantId: TenantId, id: AlertId): Question {
  return {
    text: `alert ${id} of ${tenantId}`,
    ask: (queries) => queries.alert(tenantId, id),
    answer: () => model.alertsOf(tenantId).detail(id),
  };
}

function deliveriesQuestion(model: Model, tenantId: TenantId, id: IntegrationId): Question {
  return {
    text: `deliveries of integration ${id} of ${tenantId}`,
    ask: (queries) => queries.deliveries(tenantId, id),
    answer: () =>
      model.integrationIds(tenantId).includes(id) ? model.alertsOf(tenantId).deliveriesOf(id) : undefined,
  };
}
