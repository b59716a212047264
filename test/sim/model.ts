/**
 * What the service must answer, naively: the commands of the log, each with its time, kept a list a tenant. Every
 * question is answered by going through them again. Nothing is indexed, counted, reclaimed or expired.
 */
import type { Command, TenantCommand } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import {
  type AgentId,
  agentIdOf,
  eventIdOf,
  type IntegrationId,
  serviceIdOf,
  type TenantId,
} from '../../src/domain/ids.ts';
import type { EventLogRequest } from '../../src/queries/event-log.ts';
import type { ServiceLogRequest } from '../../src/queries/service-log.ts';
import { minutesOf } from '../support/minutes.ts';
import { serviceLogPage } from '../support/service-log.ts';
import { AlertsModel } from './alerts-model.ts';

export interface ModelLimits {
  readonly windowMaxEvents: number;
  readonly windowMaxBytes: number;
  readonly retentionMs: number;
  readonly agentStaleAfterMs: number;
  readonly baseUrl: string;
}

/** `applied`, or the kind of the rejection. */
export type ModelOutcome = string;

export interface Received {
  readonly agentId: AgentId;
  readonly event: ContextEvent;
  readonly receivedAtMs: number;
  /** 1 for the tenant's first. */
  readonly number: number;
}

type Of<T extends TenantCommand['type']> = Extract<TenantCommand, { type: T }>;

interface Taken<C extends TenantCommand = TenantCommand> {
  readonly command: C;
  readonly atMs: number;
}

class ModelTenant {
  readonly name: string;
  readonly alerts: AlertsModel;
  readonly #taken: Taken[] = [];
  readonly events: Received[] = [];

  constructor(id: TenantId, name: string) {
    this.name = name;
    this.alerts = new AlertsModel(id);
  }

  take(command: TenantCommand, atMs: number): void {
    this.#taken.push({ command, atMs });
    this.alerts.take(command, atMs);
    if (command.type !== 'record-events') return;
    for (const event of command.events) {
      const number = this.events.length + 1;
      this.events.push({ agentId: command.agentId, event, receivedAtMs: atMs, number });
    }
  }

  of<T extends TenantCommand['type']>(type: T): Taken<Of<T>>[] {
    return this.#taken.filter((taken): taken is Taken<Of<T>> => taken.command.type === type);
  }
}

const HOUR_MS = 3_600_000;

export class Model {
  readonly #limits: ModelLimits;
  readonly #tenants = new Map<TenantId, ModelTenant>();
  nowMs = 0;

  constructor(limits: ModelLimits) {
    this.#limits = limits;
  }

  get tenantIds(): TenantId[] {
    return [...this.#tenants.keys()];
  }

  /** A command that is in the log. */
  take(command: Command, atMs: number): ModelOutcome {
    if (command.type === 'pass-time') return 'applied';
    const refused = this.refusal(command);
    if (refused !== undefined) return refused;
    if (command.type === 'create-tenant')
      this.#tenants.set(command.tenantId, new ModelTenant(command.tenantId, command.name));
    this.#tenant(command.tenantId).take(command, atMs);
    return 'applied';
  }

  refusal(command: Command): ModelOutcome | undefined {
    if (command.type === 'pass-time') return undefined;
    const tenant = this.#tenants.get(command.tenantId);
    if (command.type === 'create-tenant') {
      const isNameTaken = [...this.#tenants.values()].some(({ name }) => name === command.name);
      return isNameTaken || tenant !== undefined ? 'bad-input' : undefined;
    }
    if (tenant === undefined) return 'not-found';
    switch (command.type) {
      case 'record-events':
      case 'heartbeat':
        return this.agentIds(command.tenantId).includes(command.agentId) ? undefined : 'forbidden';
      case 'configure-integration':
      case 'delete-integration':
      case 'rotate-token':
      case 'receive-delivery':
        return this.integrationIds(command.tenantId).includes(command.integrationId)
          ? undefined
          : 'not-found';
      case 'revoke-key':
        return keysOf(tenant).some(({ key }) => key.keyId === command.keyId) ? undefined : 'not-found';
      default:
        return tenant.alerts.isRefused(command) ? 'not-found' : undefined;
    }
  }

  /** Its alerts, what is sent of them, and what waits to be worked out. */
  alertsOf(tenantId: TenantId): AlertsModel {
    return this.#tenant(tenantId).alerts;
  }

  // What exists, in the order in which it came to be.

  agentIds(tenantId: TenantId): AgentId[] {
    return distinct(
      this.#tenant(tenantId)
        .of('register-agent')
        .map(({ command }) => command.agentId),
    );
  }

  serviceNames(tenantId: TenantId): string[] {
    return distinct(this.events(tenantId).map(({ event }) => event.serviceName));
  }

  integrationIds(tenantId: TenantId): IntegrationId[] {
    const tenant = this.#tenant(tenantId);
    const deleted = tenant.of('delete-integration').map(({ command }) => command.integrationId);
    return tenant
      .of('create-integration')
      .map(({ command }) => command.integrationId)
      .filter((id) => !deleted.includes(id));
  }

  /** Everything a tenant was sent. */
  events(tenantId: TenantId): readonly Received[] {
    return this.#tenant(tenantId).events;
  }

  /** The secrets that open a door, and what they open, sorted. */
  secrets(): string[] {
    return this.tenantIds
      .flatMap((tenantId) => {
        const tenant = this.#tenant(tenantId);
        const revoked = tenant.of('revoke-key').map(({ command }) => command.keyId);
        const keys = keysOf(tenant)
          .filter(({ key }) => !revoked.includes(key.keyId))
          .map(({ key: { hash, keyId, kind } }) =>
            [hash, keyId, kind, tenantId, agentIdOf(tenantId, keyId)].join(' '),
          );
        const tokens = this.integrationIds(tenantId).map((id) => this.#token(tenantId, id));
        return [...keys, ...tokens];
      })
      .sort();
  }

  // Answers, as JSON values with their members in the order of the real ones; undefined for what is not found.

  agents(tenantId: TenantId): object[] {
    return this.agentIds(tenantId).map((id) => {
      const { tenant_id, api_key_id, status, ...entry } = this.#agent(tenantId, id);
      const lastHour = this.events(tenantId).filter(
        ({ agentId, receivedAtMs }) => agentId === id && this.nowMs < receivedAtMs + HOUR_MS,
      );
      return { ...entry, events_last_hour: lastHour.length, status };
    });
  }

  agent(tenantId: TenantId, id: string, request: EventLogRequest): object | undefined {
    const agentId = this.agentIds(tenantId).find((known) => known === id);
    if (agentId === undefined) return undefined;
    const { page, perPage, service, vendor, eventType } = request;
    const retained = this.events(tenantId).filter(
      (each) => each.agentId === agentId && this.nowMs < each.receivedAtMs + this.#limits.retentionMs,
    );
    const matching = retained
      .filter(({ event }) => service === null || event.serviceName === service)
      .filter(({ event }) => vendor === null || event.vendor === vendor)
      .filter(({ event }) => eventType === null || event.eventType === eventType)
      .reverse();
    return {
      agent: this.#agent(tenantId, agentId),
      events: matching.slice((page - 1) * perPage, page * perPage).map((each) => storedEvent(tenantId, each)),
      page,
      per_page: perPage,
      total_pages: Math.ceil(matching.length / perPage),
      total: matching.length,
      filter_services: distinct(retained.map(({ event }) => event.serviceName)).sort(),
      filter_vendors: distinct(retained.map(({ event }) => event.vendor)).sort(),
      filter_service: service,
      filter_vendor: vendor,
      filter_event_type: eventType,
      events_by_minute: minutesOf(retained.map(({ receivedAtMs }) => this.nowMs - receivedAtMs)),
    };
  }

  serviceLog(tenantId: TenantId, id: string, request: ServiceLogRequest): object | undefined {
    const name = this.serviceNames(tenantId).find((each) => serviceIdOf(tenantId, each) === id);
    if (name === undefined) return undefined;
    const { eventType } = request;
    const log = this.events(tenantId)
      .filter(({ event }) => event.serviceName === name)
      .filter(({ event }) => eventType === null || event.eventType === eventType)
      .filter(({ receivedAtMs }) => this.nowMs < receivedAtMs + this.#limits.retentionMs)
      .reverse()
      .map((received) => ({
        ...(storedEvent(tenantId, received) as { readonly id: string }),
        agent_id: received.agentId,
      }));
    return serviceLogPage(log, request);
  }

  services(tenantId: TenantId): object[] {
    return this.serviceNames(tenantId).map((name) => {
      const received = this.events(tenantId).filter(({ event }) => event.serviceName === name);
      return {
        id: serviceIdOf(tenantId, name),
        tenant_id: tenantId,
        name,
        agent_id: received.at(-1)?.agentId,
        last_event_at: isoTime(Math.max(...received.map(timestampMs))),
      };
    });
  }

  serviceContext(tenantId: TenantId, id: string): object | undefined {
    const name = this.serviceNames(tenantId).find((known) => serviceIdOf(tenantId, known) === id);
    if (name === undefined) return undefined;
    const received = this.events(tenantId).filter(({ event }) => event.serviceName === name);
    const { live, truncated } = this.#window(received);
    const newestFirst = live.sort((a, b) => timestampMs(b) - timestampMs(a) || b.number - a.number);
    const groups = EVENT_TYPES.map((type) => [
      `${type}_events`,
      newestFirst.filter(({ event }) => event.eventType === type).map(windowEvent),
    ]);
    return {
      service: name,
      ...Object.fromEntries(groups),
      updated_at: isoTime(Math.max(...received.map(({ receivedAtMs }) => receivedAtMs))),
      ...(truncated ? { truncated: true } : {}),
    };
  }

  integrations(tenantId: TenantId): (object | undefined)[] {
    return this.integrationIds(tenantId).map((id) => this.integration(tenantId, id));
  }

  integration(tenantId: TenantId, id: string): object | undefined {
    const integrationId = this.integrationIds(tenantId).find((known) => known === id);
    if (integrationId === undefined) return undefined;
    const tenant = this.#tenant(tenantId);
    const isOurs = ({ command }: { command: { integrationId: IntegrationId } }) =>
      command.integrationId === integrationId;
    const created = tenant.of('create-integration').find(isOurs);
    const configured = tenant.of('configure-integration').filter(isOurs).at(-1);
    const token = this.#token(tenantId, integrationId);
    return {
      id,
      tenant_id: tenantId,
      type: created?.command.integrationType,
      direction: created?.command.direction,
      token,
      config: JSON.parse(configured?.command.configJson ?? '{}'),
      created_at: isoTime(created?.atMs ?? Number.NaN),
      webhook_url: `${this.#limits.baseUrl}/webhooks/${created?.command.integrationType}/${token}`,
    };
  }

  #tenant(tenantId: TenantId): ModelTenant {
    return this.#tenants.get(tenantId) ?? new ModelTenant(tenantId, '');
  }

  #agent(tenantId: TenantId, agentId: AgentId) {
    const tenant = this.#tenant(tenantId);
    const isOurs = ({ command }: { command: { agentId: AgentId } }) => command.agentId === agentId;
    const registrations = tenant.of('register-agent').filter(isOurs);
    const [first] = registrations;
    const last = registrations.at(-1);
    if (first === undefined || last === undefined) throw new Error(`no agent ${agentId}`);
    const seen = [
      ...registrations,
      ...tenant.of('heartbeat').filter(isOurs),
      ...tenant.of('record-events').filter(isOurs),
    ];
    const lastSeenAtMs = Math.max(...seen.map(({ atMs }) => atMs));
    const names = registrations.map(({ command: { name } }) => name).filter((name) => name !== null);
    const versions = registrations
      .map(({ command }) => command.version)
      .filter((version) => version !== null);
    return {
      id: agentId,
      tenant_id: tenantId,
      api_key_id: first.command.keyId,
      hostname: last.command.hostname,
      name: names.at(-1) ?? last.command.hostname,
      agent_version: versions.at(-1) ?? null,
      registered_at: isoTime(first.atMs),
      last_seen_at: isoTime(lastSeenAtMs),
      status: this.nowMs < lastSeenAtMs + this.#limits.agentStaleAfterMs ? 'live' : 'stale',
    };
  }

  #token(tenantId: TenantId, integrationId: IntegrationId): string {
    const tenant = this.#tenant(tenantId);
    const isOurs = ({ command }: { command: { integrationId: IntegrationId } }) =>
      command.integrationId === integrationId;
    const rotated = tenant.of('rotate-token').filter(isOurs).at(-1);
    return (rotated ?? tenant.of('create-integration').find(isOurs))?.command.token ?? '';
  }

  /** Goes through what a service received, oldest first: where the newest has no room, the oldest live ones leave. */
  #window(received: readonly Received[]): { readonly live: Received[]; readonly truncated: boolean } {
    const { windowMaxEvents, windowMaxBytes } = this.#limits;
    let held: Received[] = [];
    const evicted: Received[] = [];
    for (const newest of received) {
      held = held.filter(isLiveAt(newest.receivedAtMs));
      const isFull = () =>
        held.length >= windowMaxEvents ||
        held.reduce((sum, { event }) => sum + detailsBytes(event), detailsBytes(newest.event)) >
          windowMaxBytes;
      while (held.length > 0 && isFull()) evicted.push(...held.splice(0, 1));
      held.push(newest);
    }
    return { live: held.filter(isLiveAt(this.nowMs)), truncated: evicted.some(isLiveAt(this.nowMs)) };
  }
}

function keysOf(tenant: ModelTenant) {
  return tenant.of('create-keys').flatMap(({ command }) => command.keys.map((key) => ({ key })));
}

export const expiresAtMs = ({ event, receivedAtMs }: Received): number =>
  receivedAtMs + event.ttlSeconds * 1000;
const timestampMs = ({ event, receivedAtMs }: Received): number => event.timestampMs ?? receivedAtMs;
const isLiveAt = (nowMs: number) => (received: Received) => nowMs < expiresAtMs(received);

/** What an event counts for in its window: six fields as msgpack. */
function detailsBytes({ vendor, entity, oldValue, newValue, actor, sha }: ContextEvent): number {
  return [vendor, entity, oldValue, newValue, actor, sha].reduce((sum, text) => {
    if (text === null) return sum + 1;
    const header = text.length <= 10 ? 1 : text.length <= 85 ? 2 : 3;
    return sum + header + Buffer.byteLength(text);
  }, 0);
}

function windowEvent(received: Received): object {
  const { event } = received;
  return {
    event_type: event.eventType,
    vendor: event.vendor,
    entity: event.entity,
    old_value: event.oldValue,
    new_value: event.newValue,
    timestamp: isoTime(timestampMs(received)),
    actor: event.actor,
    sha: event.sha,
    confidence: event.confidence,
    expires_at: isoTime(expiresAtMs(received)),
  };
}

function storedEvent(tenantId: TenantId, received: Received): object {
  const { event, receivedAtMs, number } = received;
  return {
    id: eventIdOf(tenantId, receivedAtMs, number),
    service_name: event.serviceName,
    vendor: event.vendor,
    entity: event.entity,
    event_type: event.eventType,
    old_value: event.oldValue,
    new_value: event.newValue,
    actor: event.actor,
    sha: event.sha,
    confidence: event.confidence,
    ttl_seconds: event.ttlSeconds,
    timestamp: isoTime(timestampMs(received)),
    received_at: isoTime(receivedAtMs),
    expires_at: isoTime(expiresAtMs(received)),
  };
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
