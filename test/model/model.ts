/**
 * The whole service, naively: the commands that were taken, each with its time, in one array a tenant. Every
 * question is answered by going through all of them again. Nothing is kept, indexed, counted or expired.
 */
import type { Command, TenantCommand } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import {
  type AgentId,
  agentIdOf,
  eventIdOf,
  type IntegrationId,
  type ServiceId,
  serviceIdOf,
  type TenantId,
} from '../../src/domain/ids.ts';
import type { EventLogRequest } from '../../src/queries/event-log.ts';
import type { ServiceLogRequest } from '../../src/queries/service-log.ts';
import { minutesOf } from '../support/minutes.ts';
import { serviceLogPage } from '../support/service-log.ts';
import { ModelTime } from './log-time.ts';

export interface ModelLimits {
  readonly windowMaxEvents: number;
  readonly windowMaxBytes: number;
  readonly retentionMs: number;
  readonly agentStaleAfterMs: number;
  readonly baseUrl: string;
}

export type ModelOutcome =
  | { readonly type: 'applied' }
  | { readonly type: 'rejection'; readonly kind: string; readonly detail: string };

interface Taken<C extends Command = Command> {
  readonly command: C;
  readonly atMs: number;
}

interface Received {
  readonly agentId: AgentId;
  readonly event: ContextEvent;
  readonly receivedAtMs: number;
  /** 1 for the tenant's first. */
  readonly number: number;
}

type Of<T extends TenantCommand['type']> = Extract<TenantCommand, { type: T }>;

const HOUR_MS = 3_600_000;

export class Model {
  time: ModelTime;
  readonly #limits: ModelLimits;
  readonly #taken: Taken[] = [];

  constructor(limits: ModelLimits, nowMs: number) {
    this.#limits = limits;
    this.time = new ModelTime(nowMs);
  }

  get nowMs(): number {
    return this.time.nowMs;
  }

  /** Time goes on from where it stood; that of an empty log is the wall clock's. */
  restart(): void {
    this.time = new ModelTime(this.#taken.length > 0 ? this.nowMs : 0);
  }

  submit(command: Command): ModelOutcome {
    const refused = this.#refusal(command);
    if (refused !== undefined) return refused;
    this.#taken.push({ command, atMs: this.nowMs });
    return { type: 'applied' };
  }

  /** Commands that all were admitted before the first of them was applied. */
  submitTogether(commands: readonly Command[]): ModelOutcome[] {
    const admitted = commands.map((command) => this.#refusal(command));
    return commands.map((command, index) => admitted[index] ?? this.submit(command));
  }

  #refusal(command: Command): ModelOutcome | undefined {
    if (command.type === 'pass-time') return undefined;
    const tenants = this.#all('create-tenant');
    if (command.type === 'create-tenant') {
      const taken = tenants.some(
        ({ command: { tenantId, name } }) => tenantId === command.tenantId || name === command.name,
      );
      const detail = `a tenant named ${JSON.stringify(command.name)} exists already`;
      return taken ? { type: 'rejection', kind: 'bad-input', detail } : undefined;
    }
    const { tenantId } = command;
    if (!tenants.some((tenant) => tenant.command.tenantId === tenantId)) return NOT_FOUND;
    switch (command.type) {
      case 'record-events':
      case 'heartbeat':
        return this.agentIds(tenantId).includes(command.agentId) ? undefined : NOT_REGISTERED;
      case 'configure-integration':
      case 'delete-integration':
      case 'rotate-token':
      case 'receive-delivery':
        return this.integrationIds(tenantId).includes(command.integrationId) ? undefined : NOT_FOUND;
      case 'revoke-key': {
        const known = this.#keys().some((key) => key.tenantId === tenantId && key.keyId === command.keyId);
        return known ? undefined : NOT_FOUND;
      }
      default:
        return undefined;
    }
  }

  // What exists, in the order in which it came to be.

  agentIds(tenantId: TenantId): AgentId[] {
    return distinct(this.#of(tenantId, 'register-agent').map(({ command }) => command.agentId));
  }

  serviceNames(tenantId: TenantId): string[] {
    return distinct(this.#events(tenantId).map(({ event }) => event.serviceName));
  }

  integrationIds(tenantId: TenantId): IntegrationId[] {
    const deleted = this.#of(tenantId, 'delete-integration').map(({ command }) => command.integrationId);
    return this.#of(tenantId, 'create-integration')
      .map(({ command }) => command.integrationId)
      .filter((id) => !deleted.includes(id));
  }

  /** The hashes that open a door, and what they open, in no order. */
  goodKeys(): object[] {
    const revoked = this.#all('revoke-key').map(({ command }) => command.keyId);
    return this.#keys()
      .filter(({ keyId }) => !revoked.includes(keyId))
      .map(({ hash, keyId, kind, tenantId }) => {
        return { hash, keyId, kind, tenantId, agentId: agentIdOf(tenantId, keyId) };
      });
  }

  /** Webhook tokens that are good, in no order. */
  webhookTokens(): string[] {
    const tenantIds = this.#all('create-tenant').map(({ command }) => command.tenantId);
    return tenantIds.flatMap((tenantId) =>
      this.integrationIds(tenantId).map((id) => this.#token(tenantId, id)),
    );
  }

  // Answers, as JSON values; undefined for what is not found.

  agents(tenantId: TenantId): object[] {
    return this.agentIds(tenantId).map((id) => {
      const { tenant_id, api_key_id, ...entry } = this.#agent(tenantId, id);
      const lastHour = this.#events(tenantId).filter(
        ({ agentId, receivedAtMs }) => agentId === id && this.nowMs < receivedAtMs + HOUR_MS,
      );
      return { ...entry, events_last_hour: lastHour.length };
    });
  }

  registeredAgent(tenantId: TenantId, agentId: AgentId): object | undefined {
    return this.agentIds(tenantId).includes(agentId) ? this.#agent(tenantId, agentId) : undefined;
  }

  agent(tenantId: TenantId, id: string, request: EventLogRequest): object | undefined {
    const agentId = this.agentIds(tenantId).find((known) => known === id);
    if (agentId === undefined) return undefined;
    const { page, perPage, service, vendor, eventType } = request;
    const retained = this.#events(tenantId).filter(
      (each) => each.agentId === agentId && this.nowMs < each.receivedAtMs + this.#limits.retentionMs,
    );
    const matching = retained
      .filter(({ event }) => service === null || event.serviceName === service)
      .filter(({ event }) => vendor === null || event.vendor === vendor)
      .filter(({ event }) => eventType === null || event.eventType === eventType)
      .sort((a, b) => b.number - a.number);
    return {
      agent: this.#agent(tenantId, agentId),
      events: matching
        .slice((page - 1) * perPage, page * perPage)
        .map((received) => storedEvent(tenantId, received)),
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
    const log = this.#events(tenantId)
      .filter(({ event }) => event.serviceName === name)
      .filter(({ event }) => eventType === null || event.eventType === eventType)
      .filter(({ receivedAtMs }) => this.nowMs < receivedAtMs + this.#limits.retentionMs)
      .sort((a, b) => b.number - a.number)
      .map((received) => ({
        ...(storedEvent(tenantId, received) as { readonly id: string }),
        agent_id: received.agentId,
      }));
    return serviceLogPage(log, request);
  }

  services(tenantId: TenantId): object[] {
    return this.serviceNames(tenantId).map((name) => {
      const received = this.#events(tenantId).filter(({ event }) => event.serviceName === name);
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
    const received = this.#events(tenantId).filter(({ event }) => event.serviceName === name);
    const { live, truncated } = windowAt(this.nowMs, received, this.#limits);
    const newestFirst = live.sort((a, b) => timestampMs(b) - timestampMs(a) || b.number - a.number);
    const groups = EVENT_TYPES.map((type) => {
      return [`${type}_events`, newestFirst.filter(({ event }) => event.eventType === type).map(windowEvent)];
    });
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
    const isOurs = ({ command }: { command: { integrationId: IntegrationId } }): boolean =>
      command.integrationId === integrationId;
    const created = this.#of(tenantId, 'create-integration').find(isOurs);
    const configured = this.#of(tenantId, 'configure-integration').filter(isOurs).at(-1);
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

  #agent(tenantId: TenantId, agentId: AgentId) {
    const isOurs = ({ command }: { command: { agentId: AgentId } }): boolean => command.agentId === agentId;
    const registrations = this.#of(tenantId, 'register-agent').filter(isOurs);
    const [first] = registrations;
    const last = registrations.at(-1);
    if (first === undefined || last === undefined) throw new Error(`no agent ${agentId}`);
    const lastSeenAtMs = Math.max(
      ...[
        ...registrations,
        ...this.#of(tenantId, 'heartbeat').filter(isOurs),
        ...this.#of(tenantId, 'record-events').filter(isOurs),
      ].map(({ atMs }) => atMs),
    );
    const names = registrations.flatMap(({ command: { name } }) => (name === null ? [] : [name]));
    const versions = registrations.flatMap(({ command: { version } }) => (version === null ? [] : [version]));
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
    const commands = [...this.#of(tenantId, 'create-integration'), ...this.#of(tenantId, 'rotate-token')];
    return (
      commands.filter(({ command }) => command.integrationId === integrationId).at(-1)?.command.token ?? ''
    );
  }

  #keys() {
    return this.#all('create-keys').flatMap(({ command: { tenantId, keys } }) =>
      keys.map((key) => ({ ...key, tenantId })),
    );
  }

  #events(tenantId: TenantId): Received[] {
    return this.#of(tenantId, 'record-events')
      .flatMap(({ command: { agentId, events }, atMs }) =>
        events.map((event) => ({ agentId, event, receivedAtMs: atMs })),
      )
      .map((received, index) => ({ ...received, number: index + 1 }));
  }

  #of<T extends TenantCommand['type']>(tenantId: TenantId, type: T): Taken<Of<T>>[] {
    return this.#all(type).filter(({ command }) => command.tenantId === tenantId);
  }

  #all<T extends TenantCommand['type']>(type: T): Taken<Of<T>>[] {
    return this.#taken.filter((taken): taken is Taken<Of<T>> => taken.command.type === type);
  }
}

const NOT_FOUND: ModelOutcome = { type: 'rejection', kind: 'not-found', detail: 'not found' };
const NOT_REGISTERED: ModelOutcome = { type: 'rejection', kind: 'forbidden', detail: 'agent not registered' };

/** Goes through what a service received, oldest first: where the newest has no room, the oldest live ones leave. */
function windowAt(
  nowMs: number,
  received: readonly Received[],
  { windowMaxEvents, windowMaxBytes }: ModelLimits,
): { readonly live: Received[]; readonly truncated: boolean } {
  let held: Received[] = [];
  const evicted: Received[] = [];
  for (const newest of received) {
    held = held.filter(isLiveAt(newest.receivedAtMs));
    const isFull = (): boolean =>
      held.length >= windowMaxEvents ||
      [...held, newest].reduce((sum, { event }) => sum + detailsBytes(event), 0) > windowMaxBytes;
    while (held.length > 0 && isFull()) evicted.push(...held.splice(0, 1));
    held.push(newest);
  }
  return { live: held.filter(isLiveAt(nowMs)), truncated: evicted.some(isLiveAt(nowMs)) };
}

/** What an event counts for: six fields as msgpack, whose strings are headed by what their length may come to. */
function detailsBytes({ vendor, entity, oldValue, newValue, actor, sha }: ContextEvent): number {
  return [vendor, entity, oldValue, newValue, actor, sha].reduce((sum, text) => {
    if (text === null) return sum + 1;
    const atMostBytes = 3 * text.length;
    const head = atMostBytes < 32 ? 1 : atMostBytes < 256 ? 2 : atMostBytes < 65_536 ? 3 : 5;
    return sum + head + Buffer.byteLength(text);
  }, 0);
}

const expiresAtMs = ({ event, receivedAtMs }: Received): number => receivedAtMs + event.ttlSeconds * 1000;
const timestampMs = ({ event, receivedAtMs }: Received): number => event.timestampMs ?? receivedAtMs;
const isLiveAt = (nowMs: number) => (received: Received) => nowMs < expiresAtMs(received);

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
    ...windowEvent(received),
    id: eventIdOf(tenantId, receivedAtMs, number),
    service_name: event.serviceName,
    ttl_seconds: event.ttlSeconds,
    received_at: isoTime(receivedAtMs),
  };
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function distinct<T>(values: readonly T[]): T[] {
  return values.filter((value, index) => values.indexOf(value) === index);
}

/** Ids of the services a tenant has, for those who ask. */
export function serviceIds(model: Model, tenantId: TenantId): ServiceId[] {
  return model.serviceNames(tenantId).map((name) => serviceIdOf(tenantId, name));
}
