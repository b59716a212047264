/**
 * Queries: everything that is read. Each takes the tenant it reads for, and finds what belongs to that
 * tenant alone: ids of another tenant are ids of nothing. Answers are JSON.
 */

import type { State, Tenant } from '../commands/state.ts';
import type { IntegrationId, TenantId } from '../domain/ids.ts';
import type { ApiKey } from '../domain/key.ts';
import { NOT_FOUND, type Rejection } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import type { Snapshots, Table } from '../snapshots/snapshots.ts';
import {
  type AgentViewOptions,
  agentDetail,
  agentEntry,
  agentRow,
  eventsByMinute,
  registeredAgent,
} from './agents.ts';
import { type AlertsRequest, alertDetail, alertsPage, deliveriesOf } from './alerts.ts';
import { type EventLogRequest, eventLog, type ReadEvents } from './event-log.ts';
import { integrationEntry, integrationJson, integrationRow } from './integrations.ts';
import { Listing, type ListingOptions } from './listing.ts';
import { type ServiceLogRequest, serviceLog } from './service-log.ts';
import { serviceEntry, serviceRow } from './services.ts';
import { WindowCache } from './window-cache.ts';
import { WindowJson, type WindowJsonOptions } from './window-json.ts';

export interface QueriesOptions extends AgentViewOptions {
  readonly state: State;
  readonly snapshots: Snapshots;
  readonly readEvents: ReadEvents;
  /** The same time that commands are stamped with. */
  readonly time: Pick<Clock, 'now'>;
  /** What webhook URLs start with; known once the server listens. */
  readonly baseUrl: () => string;
}

/** JSON, as text or in UTF-8. */
export type Found<Json extends string | Buffer = string> = { readonly type: 'found'; readonly json: Json };

function found<Json extends string | Buffer>(json: Json): Found<Json> {
  return { type: 'found', json };
}

export class Queries {
  readonly #options: QueriesOptions;
  readonly #windows: WindowJsonOptions;

  constructor(options: QueriesOptions) {
    this.#options = options;
    const { state, time } = options;
    this.#windows = { live: state.live, cache: new WindowCache(state.live), time };
  }

  /** The agent that a key stands for, as the answer to its registration. */
  registeredAgent(key: ApiKey): Found | Rejection {
    const agent = this.#tenant(key.tenantId)?.agents.get(key.agentId);
    if (agent === undefined) return NOT_FOUND;
    return found(registeredAgent(key.tenantId, agent, this.#options.time.now(), this.#options));
  }

  /** Whether a tenant has an agent of this id. */
  hasAgent(tenantId: TenantId, id: string): boolean {
    return findById(this.#tenant(tenantId)?.agents, id) !== undefined;
  }

  agents(tenantId: TenantId): Listing {
    const agents = this.#tenant(tenantId)?.agents;
    return this.#list(tenantId, 'agents', (row, id, nowMs) => {
      const agent = findById(agents, id);
      return agent && agentEntry(row, agent, nowMs, this.#options);
    });
  }

  agent(tenantId: TenantId, id: string, request: EventLogRequest): Found | Rejection {
    const agent = findById(this.#tenant(tenantId)?.agents, id);
    if (agent === undefined) return NOT_FOUND;
    const nowMs = this.#options.time.now();
    const detail = agentDetail(tenantId, agent, nowMs, this.#options);
    return found(
      JSON.stringify({
        agent: detail,
        ...eventLog(tenantId, agent.history, request, nowMs, this.#options.readEvents),
        events_by_minute: eventsByMinute(agent, nowMs),
      }),
    );
  }

  services(tenantId: TenantId): Listing {
    const services = this.#tenant(tenantId)?.services;
    return this.#list(tenantId, 'services', (row, id) => {
      const service = findById(services, id);
      return service && serviceEntry(row, service, this.#options.state);
    });
  }

  /** What its window shows where that is known, or is yet to be written. */
  serviceContext(tenantId: TenantId, id: string): Found<Buffer> | WindowJson | Rejection {
    const service = findById(this.#tenant(tenantId)?.services, id);
    if (service === undefined) return NOT_FOUND;
    const known = this.#windows.cache.find(service.window, this.#windows.time.now());
    return known === undefined ? new WindowJson(this.#windows, service) : found(known);
  }

  serviceLog(tenantId: TenantId, id: string, request: ServiceLogRequest): Found | Rejection {
    const tenant = this.#tenant(tenantId);
    const service = findById(tenant?.services, id);
    if (tenant === undefined || service === undefined) return NOT_FOUND;
    const { readEvents, time } = this.#options;
    return found(JSON.stringify(serviceLog(tenant, service, request, time.now(), readEvents)));
  }

  integrations(tenantId: TenantId): Listing {
    const baseUrl = this.#options.baseUrl();
    const integrations = this.#tenant(tenantId)?.integrations;
    return this.#list(tenantId, 'integrations', (row, id) => {
      const integration = findById(integrations, id);
      return integration && integrationEntry(row, integration, baseUrl);
    });
  }

  integration(tenantId: TenantId, id: string): Found | Rejection {
    const integration = findById(this.#tenant(tenantId)?.integrations, id);
    if (integration === undefined) return NOT_FOUND;
    return found(integrationJson(integration, this.#options.baseUrl()));
  }

  alerts(tenantId: TenantId, request: AlertsRequest): Found | Rejection {
    const tenant = this.#tenant(tenantId);
    return tenant === undefined ? NOT_FOUND : found(JSON.stringify(alertsPage(tenant, request)));
  }

  alert(tenantId: TenantId, id: string): Found | Rejection {
    const tenant = this.#tenant(tenantId);
    const alert = findById(tenant?.alerts.alerts, id);
    if (tenant === undefined || alert === undefined) return NOT_FOUND;
    return found(JSON.stringify(alertDetail(tenant, alert.context)));
  }

  /** What an integration has sent, and is to send. */
  deliveries(tenantId: TenantId, id: string): Found | Rejection {
    const tenant = this.#tenant(tenantId);
    const integration = findById(tenant?.integrations, id);
    if (tenant === undefined || integration === undefined) return NOT_FOUND;
    return found(deliveriesOf(tenant, integration.context.id));
  }

  /** Whether an integration has taken a delivery of this id lately. */
  hasDelivery(tenantId: TenantId, integrationId: IntegrationId, toolDeliveryId: string): boolean {
    const inbox = this.#tenant(tenantId)?.inbox;
    return inbox?.has(integrationId, toolDeliveryId, this.#options.time.now()) ?? false;
  }

  #list(tenantId: TenantId, table: Table, entry: ListingOptions['entry']): Listing {
    const { snapshots, time } = this.#options;
    return new Listing({ snapshots, tenantId, table, now: () => time.now(), entry });
  }

  #tenant(tenantId: TenantId): Tenant | undefined {
    return this.#options.state.tenants.get(tenantId);
  }
}

/** A snapshot row's text, for `Snapshots`. */
export function describe(state: State, tenantId: TenantId, table: Table, id: string): string | undefined {
  const tenant = state.tenants.get(tenantId);
  switch (table) {
    case 'agents': {
      const agent = findById(tenant?.agents, id);
      return agent && agentRow(agent);
    }
    case 'services': {
      const service = findById(tenant?.services, id);
      return service && serviceRow(service);
    }
    case 'integrations': {
      const integration = findById(tenant?.integrations, id);
      return integration && integrationRow(integration);
    }
  }
}

/** Looks up an id that came from outside: any text, which may or may not be an id of the kind. */
function findById<Id extends string, T>(things: ReadonlyMap<Id, T> | undefined, id: string): T | undefined {
  return things?.get(id as Id);
}
