/** What tenants do: random commands, most of them sensible. */
import type { NewKey, TenantCommand } from '../../src/domain/command.ts';
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
import type { Random } from './random.ts';

const DAY_SECONDS = 86_400;
const SERVICES = ['api', 'db', 'e\u0301', '__proto__'];
const VENDORS = ['argocd', 'postgresql', 'constructor'];
const TEXTS = ['v1', '\uFEFFmarked', '\uFFFD', '😀', 'a\0b', 'x'.repeat(11), 'y'.repeat(86), '𝒳'.repeat(30)];
const CONFIGS = ['{}', '{"pagerduty_token":"secret"}', '{"__proto__":{"x":1},"2":[],"1":null}'];
const AGENTS = 3;

export class Workload {
  readonly #random: Random;
  readonly #tenants: readonly TenantId[];
  #made = 0;
  #integrations = 0;
  #keys = 0;

  constructor(random: Random, tenants: number) {
    this.#random = random;
    this.#tenants = Array.from({ length: tenants }, (_, n) => tenantId(uuidOf(0xa0 + n, 1)));
  }

  /** What happens before anything else can. */
  firstCommands(): TenantCommand[] {
    return this.#tenants.flatMap((tenantId, n): TenantCommand[] => [
      { type: 'create-tenant', tenantId, name: `tenant ${n}` },
      this.#register(tenantId, 0),
    ]);
  }

  next(): TenantCommand {
    const random = this.#random;
    const tenantId = random.chance(0.01) ? foreignTenant : this.#tenant();
    const agentId = this.#agentId(tenantId, random.chance(0.5) ? 0 : random.below(AGENTS));
    switch (random.weighted(WEIGHTS)) {
      case 'record': {
        const count = random.chance(0.7) ? 1 : random.below(7);
        return {
          type: 'record-events',
          tenantId,
          agentId,
          events: Array.from({ length: count }, () => this.#event()),
        };
      }
      case 'register':
        return this.#register(tenantId, random.below(AGENTS));
      case 'heartbeat':
        return { type: 'heartbeat', tenantId, agentId };
      case 'create-keys':
        return {
          type: 'create-keys',
          tenantId,
          keys: Array.from({ length: random.between(1, 2) }, () => this.#key()),
        };
      case 'revoke-key':
        return { type: 'revoke-key', tenantId, keyId: this.#keyId(random.below(this.#keys + 1)) };
      case 'create-integration':
        this.#integrations += 1;
        return {
          type: 'create-integration',
          tenantId,
          integrationId: this.#integrationId(this.#integrations),
          integrationType: random.pick(INTEGRATION_TYPES),
          direction: random.pick(DIRECTIONS),
          token: this.#secret(),
        };
      case 'configure':
        return {
          type: 'configure-integration',
          tenantId,
          integrationId: this.#known(),
          configJson: random.pick(CONFIGS),
        };
      case 'delete':
        return { type: 'delete-integration', tenantId, integrationId: this.#known() };
      case 'rotate':
        return { type: 'rotate-token', tenantId, integrationId: this.#known(), token: this.#secret() };
      case 'deliver':
        return {
          type: 'receive-delivery',
          tenantId,
          integrationId: this.#known(),
          deliveryId: deliveryId(this.#secret()),
          toolDeliveryId: null,
          bodyJson: `{"n":${this.#made}}`,
        };
      case 'create-tenant':
        return { type: 'create-tenant', tenantId, name: `tenant ${random.below(4)}` };
    }
  }

  /** One of them sends the most, so that its windows come to be full. */
  #tenant(): TenantId {
    const busiest = this.#tenants[0];
    return busiest !== undefined && this.#random.chance(0.5) ? busiest : this.#random.pick(this.#tenants);
  }

  #register(tenantId: TenantId, agent: number): TenantCommand {
    const random = this.#random;
    return {
      type: 'register-agent',
      tenantId,
      agentId: this.#agentId(tenantId, agent),
      keyId: keyId(uuidOf(0xb0 + agent, 1)),
      hostname: `host ${++this.#made}`,
      name: random.pick([null, null, 'named', '\uFFFDnamed']),
      version: random.pick([null, '1.0']),
    };
  }

  #event(): ContextEvent {
    const random = this.#random;
    const textOrNull = () => (random.chance(0.6) ? null : random.pick(TEXTS));
    return {
      serviceName: random.chance(0.6) ? 'api' : random.pick(SERVICES),
      vendor: random.pick(VENDORS),
      // So that no two events are equal.
      entity: `entity ${++this.#made}`,
      eventType: random.pick(EVENT_TYPES),
      oldValue: textOrNull(),
      newValue: random.chance(0.05) ? 'n'.repeat(random.ofAnySize(4000)) : textOrNull(),
      actor: textOrNull(),
      sha: null,
      confidence: random.pick([1, 0.95, 5e-324, 0.30000000000000004]),
      ttlSeconds: random.pick([1, 2, 60, 60, 3600, 3600, DAY_SECONDS, 400 * DAY_SECONDS]),
      timestampMs: random.pick([null, null, -1, 0, 1_760_000_000_000, 1_760_000_000_001]),
      rawLine: random.chance(0.1) ? 'r'.repeat(random.ofAnySize(2000)) : null,
    };
  }

  #key(): NewKey {
    this.#keys += 1;
    return {
      keyId: this.#keyId(this.#keys),
      kind: this.#random.pick(KEY_KINDS),
      name: null,
      hash: this.#secret(),
    };
  }

  #agentId(tenantId: TenantId, agent: number): AgentId {
    return agentIdOf(tenantId, keyId(uuidOf(0xb0 + agent, 1)));
  }

  #keyId(n: number): KeyId {
    return keyId(uuidOf(0xc0, n));
  }

  #integrationId(n: number): IntegrationId {
    return integrationId(uuidOf(0xd0, n));
  }

  /** An integration that was made, perhaps by another tenant, perhaps deleted since. */
  #known(): IntegrationId {
    return this.#integrationId(this.#random.between(1, Math.max(1, this.#integrations)));
  }

  #secret(): string {
    return `secret ${++this.#made}`;
  }
}

const WEIGHTS = {
  record: 24,
  register: 4,
  heartbeat: 3,
  'create-keys': 2,
  'revoke-key': 2,
  'create-integration': 3,
  configure: 2,
  delete: 1,
  rotate: 2,
  deliver: 1,
  'create-tenant': 1,
};

/** A UUID that says what it is of and which. */
function uuidOf(kind: number, n: number): string {
  return `${kind.toString(16).padStart(8, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

const foreignTenant = tenantId(uuidOf(0xaf, 1));
