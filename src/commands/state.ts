/**
 * The state: what the commands of the log add up to. Only `apply` changes it. A tenant's data hangs on its
 * `Tenant`; the three indexes beside them lead from a secret to the tenant it belongs to.
 */
import type { AgentIdentity, Presence, Registration } from '../actors/agent.ts';
import type { IntegrationActor } from '../actors/integration.ts';
import type { ServiceContext } from '../actors/service.ts';
import type { AgentId, AgentNumber, IntegrationId, KeyId, ServiceId, TenantId } from '../domain/ids.ts';
import type { ApiKey } from '../domain/key.ts';
import type { LoggedRecord } from '../log/replay.ts';
import { type TimerHandle, TimerWheel } from '../timers/wheel.ts';
import type { Chunk } from '../windows/arena.ts';
import { LiveEvents } from '../windows/live-events.ts';
import { Names } from '../windows/names.ts';
import { type Agent, Agents } from './agents.ts';
import { AlertBook } from './alert-book.ts';
import { IdempotencyKeys } from './idempotency.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { Service, Services } from './services.ts';

export interface Tenant {
  readonly id: TenantId;
  /** Tenants are numbered in the order in which this process came to know them. */
  readonly number: number;
  readonly name: string;
  readonly createdAtMs: number;
  /** Revoked ones too. */
  readonly keys: Map<KeyId, ApiKey>;
  readonly agents: Map<AgentId, Agent>;
  readonly services: Map<ServiceId, Service>;
  readonly servicesByName: Map<string, Service>;
  /** Of services and vendors, as histories have them. */
  readonly names: Names;
  readonly integrations: Map<IntegrationId, IntegrationActor>;
  /** Events recorded so far: an event's number within its tenant, from which its id is made. */
  eventCount: number;
  readonly inbox: Inbox;
  readonly alerts: AlertBook;
  readonly outbox: Outbox;
  /** Integrations that want to be told of changes; an ingest asks for nothing but whether there are any. */
  changeListeners: readonly IntegrationActor[];
  /** Whoever looks on; an ingest asks for nothing but whether there is somebody. */
  watcher: RecordWatcher | undefined;
}

/** Is shown the records of a tenant as they have been applied, in their order. */
export interface RecordWatcher {
  /** The record's bytes are good only during the call. */
  applied(record: LoggedRecord): void;
}

export interface StateLimits {
  /** How long an event stays in its agent's event log, milliseconds. */
  readonly retentionMs: number;
  /** Live events a service's window holds at most. */
  readonly windowMaxEvents: number;
  /** Bytes of live events a service's window holds at most. */
  readonly windowMaxBytes: number;
}

/** Told what a reader's snapshot of a resource has to be made anew for. */
export interface ChangeListener {
  changed(tenantId: TenantId, table: 'agents' | 'services' | 'integrations', id: string): void;
}

/** A chunk is given back in no time, but may take the pages of many others with it. */
const STEPS_PER_CHUNK = 4;
/** A sweep goes on at once while more than one in so many of the events held is stale. */
const STALE_PART = 8;

export class State {
  readonly tenants = new Map<TenantId, Tenant>();
  readonly tenantsByName = new Map<string, Tenant>();
  /** Keys that are good, by their SHA-256. */
  readonly keysByHash = new Map<string, ApiKey>();
  /** Keys that were good and are not any more. */
  revocations = 0;
  /** By number. */
  readonly #tenants: Tenant[] = [];
  /** Active integrations, by their webhook token. */
  readonly integrationsByToken = new Map<string, IntegrationActor>();
  readonly idempotencyKeys = new IdempotencyKeys();
  readonly changes: ChangeListener;
  readonly live: LiveEvents<TimerHandle>;
  readonly agents: Agents;
  readonly services: Services;
  readonly #expiries = new TimerWheel<Chunk>(0);

  constructor(limits: StateLimits, changes: ChangeListener) {
    this.agents = new Agents(limits.retentionMs);
    this.changes = changes;
    this.live = new LiveEvents(
      {
        schedule: (atMs, chunk) => this.#expiries.schedule(atMs, chunk),
        cancel: (handle) => {
          this.#expiries.cancel(handle);
        },
      },
      { maxEvents: limits.windowMaxEvents, maxBytes: limits.windowMaxBytes },
    );
    this.services = new Services(this.live.rows);
  }

  addTenant(id: TenantId, name: string, createdAtMs: number): Tenant {
    const tenant: Tenant = {
      id,
      number: this.#tenants.length,
      name,
      createdAtMs,
      keys: new Map(),
      agents: new Map(),
      services: new Map(),
      servicesByName: new Map(),
      names: new Names(),
      integrations: new Map(),
      eventCount: 0,
      inbox: new Inbox(),
      alerts: new AlertBook(),
      outbox: new Outbox(),
      changeListeners: [],
      watcher: undefined,
    };
    this.tenants.set(id, tenant);
    this.#tenants.push(tenant);
    this.tenantsByName.set(name, tenant);
    return tenant;
  }

  /** Adds a key, or puts it in the place of what was known of it. */
  addKey(tenant: Tenant, key: ApiKey): void {
    tenant.keys.set(key.id, key);
    if (key.revokedAtMs === null) this.keysByHash.set(key.hash, key);
    else if (this.keysByHash.delete(key.hash)) this.revocations += 1;
  }

  addAgent(tenant: Tenant, identity: AgentIdentity, registration: Registration, presence: Presence): Agent {
    const agent = this.agents.add(tenant, identity, registration, presence);
    const { id, keyId } = identity;
    // Under the very string that the key's requests come with: one that only equals it, and is a slice of a record's text
    // besides, took a microsecond to find among 50 000.
    const key = tenant.keys.get(keyId);
    tenant.agents.set(key?.agentId === id ? key.agentId : id, agent);
    if (key?.agentId === id) key.idsRow = agent.idsRow;
    this.changes.changed(tenant.id, 'agents', id);
    return agent;
  }

  tenantOf(agent: AgentNumber): Tenant {
    const tenant = this.#tenants[this.agents.tenantNumberOf(agent)];
    if (tenant === undefined) throw new Error(`no tenant of agent ${agent}`);
    return tenant;
  }

  addService(tenant: Tenant, id: ServiceId, name: string, context: ServiceContext): Service {
    const nameNumber = tenant.names.numberOf(name);
    // For good, as the service is.
    tenant.names.hold(nameNumber);
    const service = new Service(this.services, tenant, id, name, this.live.newWindow());
    this.services.add(service, nameNumber, context);
    tenant.services.set(id, service);
    tenant.servicesByName.set(name, service);
    this.changes.changed(tenant.id, 'services', id);
    return service;
  }

  /** An integration of the tenant was made, deleted or configured anew. */
  integrationChanged(tenant: Tenant, id: IntegrationId): void {
    tenant.changeListeners = [...tenant.integrations.values()].filter(({ sends }) => sends.changeEvents);
    this.changes.changed(tenant.id, 'integrations', id);
  }

  addIntegration(tenant: Tenant, integration: IntegrationActor): void {
    const { id, token } = integration.context;
    tenant.integrations.set(id, integration);
    this.integrationsByToken.set(token, integration);
    this.integrationChanged(tenant, id);
  }

  /**
   * Gives back the memory of events that have expired, in at most `limit` steps of each kind of work. True when what is left can wait for the next call. Nothing a reader sees depends
   * on it.
   */
  reclaim(nowMs: number, limit: number): boolean {
    const chunks = Math.ceil(limit / STEPS_PER_CHUNK);
    const isAllFreed = this.#expiries.advance(nowMs, (chunk) => this.live.reclaim(chunk, nowMs), chunks);
    const isAllSwept = this.live.sweep(nowMs, limit);
    const isAllTrimmed = this.agents.trim(nowMs, limit);
    // To chase the last of them round and round all windows would cost more than they do.
    return isAllFreed && isAllTrimmed && (isAllSwept || this.live.stale * STALE_PART < this.live.held);
  }

  /** How long memory has been waiting to be given back, milliseconds, at the most; 0 where none waits. */
  reclaimLagMs(nowMs: number): number {
    const dueMs = this.#expiries.nextDueMs();
    return dueMs === undefined ? 0 : Math.max(0, nowMs - dueMs);
  }
}
