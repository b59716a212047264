/** Random scripts: what tenants do, what the clock does, and when the timers run, as data. */
import fc from 'fast-check';
import { v5 as uuidv5 } from 'uuid';
import type { Command } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import {
  type AgentId,
  agentIdOf,
  deliveryId,
  type IntegrationId,
  integrationId,
  type KeyId,
  keyId,
  type TenantId,
  tenantId,
} from '../../src/domain/ids.ts';
import { DIRECTIONS, INTEGRATION_TYPES } from '../../src/domain/integration.ts';
import { KEY_KINDS } from '../../src/domain/key.ts';
import { START_MS } from '../support/engine.ts';
import { anyText, HOSTILE_TEXTS } from './hostile-text.ts';

const DAY_SECONDS = 24 * 3600;
const YEAR_SECONDS = 365 * DAY_SECONDS;
const AGENTS = 3;

/** What a tenant does, in terms of its own things; `FOREIGN` names another tenant's. */
export type Deed =
  | {
      readonly type: 'register';
      readonly agent: number;
      readonly hostname: string;
      readonly name: string | null;
      readonly version: string | null;
    }
  | { readonly type: 'heartbeat'; readonly agent: number }
  | { readonly type: 'record'; readonly agent: number; readonly events: readonly ContextEvent[] }
  | { readonly type: 'create-keys'; readonly kinds: readonly number[] }
  | { readonly type: 'revoke-key'; readonly pick: number }
  | { readonly type: 'create-integration'; readonly kind: number; readonly direction: number }
  | { readonly type: 'configure'; readonly pick: number; readonly configJson: string }
  | { readonly type: 'delete' | 'rotate' | 'deliver'; readonly pick: number }
  | { readonly type: 'create-again' };

export type Step =
  | { readonly type: 'act'; readonly tenant: number; readonly deed: Deed }
  /** Submitted one after the other before any has settled. */
  | { readonly type: 'together'; readonly tenant: number; readonly deeds: readonly Deed[] }
  | { readonly type: 'clock'; readonly stepMs: number }
  /** A clock that was set back comes back to where it was. */
  | { readonly type: 'catch-up' }
  | { readonly type: 'reclaim'; readonly limit: number }
  /** What the engine does beside the requests: reclaiming, projecting, in `write` mode syncing. */
  | { readonly type: 'housekeep' }
  /** Of the segments that are sealed; then what is superfluous is deleted. */
  | { readonly type: 'checkpoint' }
  | { readonly type: 'restart' };

const FOREIGN = 99;

export const tenantIdOf = (tenant: number): TenantId =>
  tenantId(uuidv5(`tenant ${tenant}`, '5b0f6ba2-7d7a-4c1e-9d2a-0f6f5e1d2c3b'));

export const keyIdOf = (tenant: number, agent: number): KeyId =>
  keyId(uuidv5(`key ${agent}`, tenantIdOf(tenant)));

export const idOfAgent = (tenant: number, agent: number): AgentId =>
  agent === FOREIGN
    ? agentIdOf(tenantIdOf(tenant + 1), keyIdOf(tenant + 1, 0))
    : agentIdOf(tenantIdOf(tenant), keyIdOf(tenant, agent));

export const idOfIntegration = (tenant: number, n: number): IntegrationId =>
  n === FOREIGN
    ? integrationId(uuidv5('integration 0', tenantIdOf(tenant + 1)))
    : integrationId(uuidv5(`integration ${n}`, tenantIdOf(tenant)));

/** Turns what one tenant does into commands. Its ids depend on its own deeds alone. */
export class Scribe {
  readonly #tenant: number;
  #integrations = 0;
  #keys = 0;
  #secrets = 0;

  constructor(tenant: number) {
    this.#tenant = tenant;
  }

  createTenant(): Command {
    return { type: 'create-tenant', tenantId: tenantIdOf(this.#tenant), name: `tenant ${this.#tenant}` };
  }

  command(deed: Deed): Command {
    const tenant = this.#tenant;
    const tenantId = tenantIdOf(tenant);
    switch (deed.type) {
      case 'register': {
        const { agent, hostname, name, version } = deed;
        const keyId = keyIdOf(tenant, agent);
        const agentId = idOfAgent(tenant, agent);
        return { type: 'register-agent', tenantId, agentId, keyId, hostname, name, version };
      }
      case 'heartbeat':
        return { type: 'heartbeat', tenantId, agentId: idOfAgent(tenant, deed.agent) };
      case 'record': {
        const agentId = idOfAgent(tenant, deed.agent);
        return { type: 'record-events', tenantId, agentId, events: deed.events };
      }
      case 'create-keys': {
        const keys = deed.kinds.map((kind) => {
          this.#keys += 1;
          const keyId = this.#keyId(this.#keys);
          return { keyId, kind: at(KEY_KINDS, kind), name: null, hash: this.#secret('hash') };
        });
        return { type: 'create-keys', tenantId, keys };
      }
      case 'revoke-key':
        return { type: 'revoke-key', tenantId, keyId: this.#keyId(deed.pick % (this.#keys + 2)) };
      case 'create-integration': {
        const integrationType = at(INTEGRATION_TYPES, deed.kind);
        const direction = at(DIRECTIONS, deed.direction);
        const integrationId = idOfIntegration(tenant, this.#integrations++);
        const token = this.#secret('token');
        return { type: 'create-integration', tenantId, integrationId, integrationType, direction, token };
      }
      case 'configure': {
        const { configJson } = deed;
        return { type: 'configure-integration', tenantId, integrationId: this.#pick(deed.pick), configJson };
      }
      case 'delete':
        return { type: 'delete-integration', tenantId, integrationId: this.#pick(deed.pick) };
      case 'rotate': {
        const token = this.#secret('token');
        return { type: 'rotate-token', tenantId, integrationId: this.#pick(deed.pick), token };
      }
      case 'deliver':
        return {
          type: 'receive-delivery',
          tenantId,
          integrationId: this.#pick(deed.pick),
          deliveryId: deliveryId(this.#secret('delivery')),
          toolDeliveryId: null,
          bodyJson: '{}',
        };
      case 'create-again':
        return { type: 'create-tenant', tenantId, name: `tenant ${tenant + 1}` };
    }
  }

  #pick(pick: number): IntegrationId {
    return idOfIntegration(this.#tenant, pick === FOREIGN ? FOREIGN : pick % (this.#integrations + 1));
  }

  #keyId(n: number): KeyId {
    return keyId(uuidv5(`other key ${n}`, tenantIdOf(this.#tenant)));
  }

  #secret(kind: string): string {
    this.#secrets += 1;
    return uuidv5(`${kind} ${this.#secrets}`, tenantIdOf(this.#tenant));
  }
}

function at<T>(values: readonly T[], index: number): T {
  const value = values[index % values.length];
  if (value === undefined) throw new RangeError('nothing to choose from');
  return value;
}

/** Few names, so that they meet; at times one that is hard to carry. */
const name = fc.oneof(
  { weight: 7, arbitrary: fc.constantFrom('api', 'db') },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
);

const ttlSeconds = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(1, 2, 60, 3600) },
  { weight: 1, arbitrary: fc.constantFrom(DAY_SECONDS, YEAR_SECONDS) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: YEAR_SECONDS }) },
);

/** The same few times again and again, so that there are ties. */
const timestampMs = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.constantFrom(START_MS, START_MS + 1000, START_MS - 60_000) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: START_MS - 3 * 86_400_000, max: START_MS + 3 * 86_400_000 }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      Date.parse('0001-01-01T00:00:00Z'),
      -1,
      0,
      Date.parse('9999-12-31T23:59:59.999Z'),
    ),
  },
);

const textOrNull = fc.option(anyText, { freq: 2 });

const event: fc.Arbitrary<ContextEvent> = fc.record({
  serviceName: name,
  vendor: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('argocd', 'postgresql') },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  ),
  entity: anyText,
  eventType: fc.constantFrom(...EVENT_TYPES),
  oldValue: textOrNull,
  newValue: textOrNull,
  actor: textOrNull,
  sha: textOrNull,
  confidence: fc.oneof(
    fc.constantFrom(1, 0.95, 5e-324, 0.1 + 0.2),
    fc.double({ min: 5e-324, max: 1, noNaN: true }),
  ),
  ttlSeconds,
  timestampMs,
  rawLine: textOrNull,
});

const agent = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.nat(AGENTS - 1) },
  { weight: 1, arbitrary: fc.constant(FOREIGN) },
);
const pick = fc.oneof({ weight: 15, arbitrary: fc.nat(20) }, { weight: 1, arbitrary: fc.constant(FOREIGN) });

const configJson = fc.oneof(
  fc.constantFrom(
    '{}',
    '{"pagerduty_token":"secret"}',
    '{"__proto__":{"polluted":true},"constructor":"x"}',
    '{"2":1,"1":2,"\\u0000":null,"\uFEFF":"\uFFFD"}',
    '{"n":1e308,"deep":[[[{"a":[]}]]]}',
  ),
  fc.dictionary(anyText, fc.jsonValue({ maxDepth: 1 })).map((config) => JSON.stringify(config)),
);

export const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('record' as const),
      agent,
      events: fc.oneof(
        { weight: 3, arbitrary: fc.array(event, { minLength: 1, maxLength: 1 }) },
        { weight: 1, arbitrary: fc.array(event, { maxLength: 12, size: 'max' }) },
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('register' as const),
      agent: fc.nat(AGENTS - 1),
      hostname: anyText,
      name: textOrNull,
      version: textOrNull,
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('heartbeat' as const), agent }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('create-integration' as const),
      kind: fc.nat(1),
      direction: fc.nat(2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('configure' as const), pick, configJson }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('delete' as const, 'rotate', 'deliver'), pick }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('create-keys' as const),
      kinds: fc.array(fc.nat(1), { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('revoke-key' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('create-again' as const) }) },
);

/** To the very millisecond of an expiry, around it, and to anywhere. */
export const clockStep: fc.Arbitrary<Step> = fc
  .oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 1, 999, 1000, 2000) },
    { weight: 3, arbitrary: fc.constantFrom(59_999, 60_000, 3_599_999, 3_600_000, 86_400_000) },
    { weight: 1, arbitrary: fc.constantFrom(-1, -1000, -86_400_000) },
    { weight: 1, arbitrary: fc.integer({ min: -7_200_000, max: 3 * 86_400_000 }) },
    { weight: 1, arbitrary: fc.constant(400 * 86_400_000) },
  )
  .map((stepMs) => ({ type: 'clock', stepMs }));

export const reclaimStep: fc.Arbitrary<Step> = fc
  .oneof(fc.nat(10), fc.constant(Number.POSITIVE_INFINITY))
  .map((limit) => ({ type: 'reclaim', limit }));

export const actStep = (tenants: number): fc.Arbitrary<Step> =>
  fc.record({ type: fc.constant('act' as const), tenant: fc.nat(tenants - 1), deed });

export const togetherStep = (tenants: number): fc.Arbitrary<Step> =>
  fc.record({
    type: fc.constant('together' as const),
    tenant: fc.nat(tenants - 1),
    deeds: fc.array(deed, { minLength: 2, maxLength: 4 }),
  });

export const restartStep: fc.Arbitrary<Step> = fc.constant({ type: 'restart' });

export const housekeepStep: fc.Arbitrary<Step> = fc.constant({ type: 'housekeep' });

export const checkpointStep: fc.Arbitrary<Step> = fc.constant({ type: 'checkpoint' });
