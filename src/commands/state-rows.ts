/**
 * The state as rows, and back: what a checkpoint holds. Each row starts with a letter that says what it is;
 * a tenant's rows follow its own. Restoring the rows gives a state that answers every question alike.
 */
import type { StaleSpell } from '../actors/agent.ts';
import { IntegrationActor } from '../actors/integration.ts';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { agentId, agentIdOf, integrationId, keyId, serviceId, tenantId } from '../domain/ids.ts';
import {
  DIRECTIONS,
  type Direction,
  INTEGRATION_TYPES,
  type IntegrationType,
} from '../domain/integration.ts';
import { KEY_KINDS, type KeyKind, NOT_REGISTERED } from '../domain/key.ts';
import { Fields } from '../lib/fields.ts';
import type { LiveEvent } from '../windows/live-events.ts';
import type { Agent } from './agents.ts';
import { dumpAlerts, restoreAlerts } from './alert-rows.ts';
import type { Service } from './services.ts';
import type { State, Tenant } from './state.ts';

type Row = readonly unknown[];

const TENANT = 't';
const KEY = 'k';
const AGENT = 'a';
const HISTORY = 'h';
const SERVICE = 's';
const EVENTS = 'e';
const INTEGRATION = 'i';
/** Of all tenants, behind what is theirs: which is the oldest is asked of all together. */
const IDEMPOTENCY_KEY = 'd';

/** Histories and windows are cut into rows of this many entries. */
const ENTRIES_PER_ROW = 1000;

/** Everything that can still be seen at `nowMs` or later. */
export function* dumpState(state: State, nowMs: number): Iterable<Row> {
  for (const tenant of state.tenants.values()) {
    yield [TENANT, tenant.id, tenant.name, tenant.createdAtMs, tenant.eventCount];
    for (const { id, kind, name, hash, createdAtMs, revokedAtMs } of tenant.keys.values()) {
      yield [KEY, id, KEY_KINDS.indexOf(kind), name, hash, createdAtMs, revokedAtMs];
    }
    for (const agent of tenant.agents.values()) yield* dumpAgent(agent, nowMs);
    for (const service of tenant.services.values()) yield* dumpService(state, service, nowMs);
    for (const { context } of tenant.integrations.values()) {
      const { id, type, direction, token, configJson, createdAtMs, deliveries } = context;
      const kinds = [INTEGRATION_TYPES.indexOf(type), DIRECTIONS.indexOf(direction)];
      yield [INTEGRATION, id, ...kinds, token, configJson, createdAtMs, deliveries];
    }
    yield* dumpAlerts(tenant, nowMs);
  }
  for (const { tenantId, agentId, key, payloadHash, atMs } of state.idempotencyKeys.entries(nowMs)) {
    yield [IDEMPOTENCY_KEY, tenantId, agentId, key, payloadHash, atMs];
  }
}

function* dumpAgent({ context, history }: Agent, nowMs: number): Iterable<Row> {
  const { id, keyId, hostname, givenName, version, registeredAtMs, lastSeenAtMs, stale } = context;
  const known = [id, keyId, hostname, givenName, version, registeredAtMs, lastSeenAtMs];
  yield [AGENT, ...known, stale === null ? null : JSON.stringify(stale)];
  for (const chunk of chunks(history.entries(nowMs))) {
    yield [
      HISTORY,
      id,
      ...chunk.map(({ eventNumber, receivedAtMs, position, index, service, vendor, type }) => [
        eventNumber,
        receivedAtMs,
        position,
        index,
        service,
        vendor,
        type,
      ]),
    ];
  }
}

function* dumpService(state: State, { id, name, window, context }: Service, nowMs: number): Iterable<Row> {
  const { agent, lastEventAtMs, updatedAtMs } = context;
  const agentId = state.agents.at(agent).identity.id;
  yield [SERVICE, id, name, agentId, lastEventAtMs, updatedAtMs, state.live.truncatedUntilMs(window)];
  const oldestFirst = [...state.live.live(window, nowMs)].reverse();
  for (const chunk of chunks(oldestFirst)) yield [EVENTS, id, nowMs, ...chunk.map(eventFields)];
}

function eventFields({ type, timestampMs, expiresAtMs, confidence, details }: LiveEvent): Row {
  return [type, timestampMs, expiresAtMs, confidence, details];
}

function* chunks<T>(items: Iterable<T>): Iterable<T[]> {
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < ENTRIES_PER_ROW) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Takes the rows of a dump, in order, into an empty state. */
export class StateRestorer {
  readonly #state: State;
  #tenant: Tenant | undefined;

  constructor(state: State) {
    this.#state = state;
  }

  readonly take = (row: Row): void => {
    const fields = new Fields(row);
    const kind = fields.text();
    if (kind === TENANT) {
      this.#tenant = this.#state.addTenant(tenantId(fields.text()), fields.text(), fields.number());
      this.#tenant.eventCount = fields.number();
      return;
    }
    if (kind === IDEMPOTENCY_KEY) return this.#idempotencyKey(fields);
    const tenant = this.#tenant;
    if (tenant === undefined) throw new Error('a row of no tenant');
    switch (kind) {
      case KEY:
        return this.#key(tenant, fields);
      case AGENT:
        return this.#agent(tenant, fields);
      case HISTORY:
        return this.#history(tenant, fields);
      case SERVICE:
        return this.#service(tenant, fields);
      case EVENTS:
        return this.#events(tenant, fields);
      case INTEGRATION:
        return this.#integration(tenant, fields);
      default:
        if (restoreAlerts(tenant, kind, fields)) return;
        throw new Error(`a row of unknown kind ${kind}`);
    }
  };

  #idempotencyKey(fields: Fields): void {
    this.#state.idempotencyKeys.remember({
      tenantId: tenantId(fields.text()),
      agentId: agentId(fields.text()),
      key: fields.text(),
      payloadHash: fields.text(),
      atMs: fields.number(),
    });
  }

  #key(tenant: Tenant, fields: Fields): void {
    const id = keyId(fields.text());
    this.#state.addKey(tenant, {
      id,
      tenantId: tenant.id,
      kind: fields.member<KeyKind>(KEY_KINDS),
      agentId: agentIdOf(tenant.id, id),
      idsRow: NOT_REGISTERED,
      name: fields.textOrNull(),
      hash: fields.text(),
      createdAtMs: fields.number(),
      revokedAtMs: fields.numberOrNull(),
    });
  }

  #agent(tenant: Tenant, fields: Fields): void {
    const id = agentId(fields.text());
    const key = keyId(fields.text());
    const registration = {
      hostname: fields.text(),
      givenName: fields.textOrNull(),
      version: fields.textOrNull(),
    };
    const identity = { id, keyId: key, registeredAtMs: fields.number() };
    const presence = { lastSeenAtMs: fields.number(), stale: fields.jsonOrNull<StaleSpell>() };
    this.#state.addAgent(tenant, identity, registration, presence);
  }

  #history(tenant: Tenant, fields: Fields): void {
    const agent = tenant.agents.get(agentId(fields.text()));
    const { names } = tenant;
    for (const entry of fields.rest()) {
      const restored = {
        eventNumber: entry.number(),
        receivedAtMs: entry.number(),
        position: entry.number(),
        index: entry.number(),
        // Its service, which comes with a later row, will hold it.
        service: names.numberOf(entry.text()),
        vendor: names.numberOf(entry.text()),
        type: EVENT_TYPES.indexOf(entry.member<EventType>(EVENT_TYPES)),
      };
      if (agent === undefined) continue;
      names.hold(restored.vendor);
      agent.history.append(restored);
    }
  }

  #service(tenant: Tenant, fields: Fields): void {
    const id = serviceId(fields.text());
    const name = fields.text();
    const agent = tenant.agents.get(agentId(fields.text()))?.number;
    // Agents never leave, and their rows come first.
    if (agent === undefined) throw new Error('a service that no agent has told of');
    const context = { agent, lastEventAtMs: fields.number(), updatedAtMs: fields.number() };
    const service = this.#state.addService(tenant, id, name, context);
    this.#state.live.truncate(service.window, fields.number());
  }

  #events(tenant: Tenant, fields: Fields): void {
    const service = tenant.services.get(serviceId(fields.text()));
    const nowMs = fields.number();
    for (const event of fields.rest()) {
      const type = EVENT_TYPES.indexOf(event.member<EventType>(EVENT_TYPES));
      const timestampMs = event.number();
      const expiresAtMs = event.number();
      const confidence = event.number();
      const details = event.bytes();
      if (service === undefined) continue;
      const restored = {
        type,
        timestampMs,
        confidence,
        details,
        detailsStart: 0,
        detailsEnd: details.length,
      };
      // What it has left to live groups it as well as what it had.
      this.#state.live.restore(service.window, restored, expiresAtMs - nowMs, expiresAtMs);
    }
  }

  #integration(tenant: Tenant, fields: Fields): void {
    this.#state.addIntegration(
      tenant,
      IntegrationActor.restore({
        id: integrationId(fields.text()),
        tenantId: tenant.id,
        type: fields.member<IntegrationType>(INTEGRATION_TYPES),
        direction: fields.member<Direction>(DIRECTIONS),
        token: fields.text(),
        configJson: fields.text(),
        createdAtMs: fields.number(),
        deliveries: fields.number(),
      }),
    );
  }
}
