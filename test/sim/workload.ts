/** What tenants do: random commands, most of them sensible. */
import type { AlertChange, AlertMatch, Candidate } from '../../src/domain/alert.ts';
import type { NewKey, TenantCommand } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import {
  type AgentId,
  agentIdOf,
  alertId,
  alertIdOf,
  deliveryId,
  eventIdOf,
  type IntegrationId,
  integrationId,
  type KeyId,
  keyId,
  outboundId,
  type TenantId,
  tenantId,
} from '../../src/domain/ids.ts';
import { DIRECTIONS, INTEGRATION_TYPES } from '../../src/domain/integration.ts';
import { KEY_KINDS } from '../../src/domain/key.ts';
import type { AttemptResult } from '../../src/domain/outbound.ts';
import type { Model } from './model.ts';
import type { Random } from './random.ts';

const DAY_SECONDS = 86_400;
const SERVICES = ['api', 'db', 'e\u0301', '__proto__'];
const VENDORS = ['argocd', 'postgresql', 'constructor'];
const TEXTS = ['v1', '\uFEFFmarked', '\uFFFD', '😀', 'a\0b', 'x'.repeat(11), 'y'.repeat(86), '𝒳'.repeat(30)];
const CONFIGS = [
  '{}',
  '{"pagerduty_token":"secret"}',
  '{"__proto__":{"x":1},"2":[],"1":null}',
  '{"pagerduty_token":"secret","pagerduty_routing_key":"key","alertmanager_url":"http://a"}',
  '{"pagerduty_token":"","pagerduty_routing_key":"key"}',
  '{"alertmanager_url":"http://a"}',
];
const INCIDENTS = ['Q1', 'Q2', '__proto__', '\uFFFD😀'];
const AGENTS = 3;

export class Workload {
  readonly #random: Random;
  readonly #tenants: readonly TenantId[];
  readonly #weights: Readonly<Record<keyof typeof WEIGHTS, number>>;
  #made = 0;
  #integrations = 0;
  #keys = 0;

  constructor(random: Random, tenants: number) {
    this.#random = random;
    this.#weights = random.chance(0.3) ? WEIGHTS_OF_ALERTS : WEIGHTS;
    this.#tenants = Array.from({ length: tenants }, (_, n) => tenantId(uuidOf(0xa0 + n, 1)));
  }

  /** What happens before anything else can. */
  firstCommands(): TenantCommand[] {
    return this.#tenants.flatMap((tenantId, n): TenantCommand[] => [
      { type: 'create-tenant', tenantId, name: `tenant ${n}` },
      this.#register(tenantId, 0),
    ]);
  }

  /** @param model what there is, as far as anybody was told */
  next(model: Model): TenantCommand {
    const random = this.#random;
    const tenantId = random.chance(0.01) ? foreignTenant : this.#tenant();
    const agentId = this.#agentId(tenantId, random.chance(0.5) ? 0 : random.below(AGENTS));
    switch (random.weighted(this.#weights)) {
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
          integrationId: this.#known(model.integrationIds(tenantId)),
          configJson: random.pick(CONFIGS),
        };
      case 'delete':
        return {
          type: 'delete-integration',
          tenantId,
          integrationId: this.#known(model.integrationIds(tenantId)),
        };
      case 'rotate':
        return {
          type: 'rotate-token',
          tenantId,
          integrationId: this.#known(model.integrationIds(tenantId)),
          token: this.#secret(),
        };
      case 'deliver':
        return {
          type: 'receive-delivery',
          tenantId,
          integrationId: this.#known(model.integrationIds(tenantId)),
          deliveryId: deliveryId(this.#secret()),
          toolDeliveryId: null,
          bodyJson: `{"n":${this.#made}}`,
        };
      case 'process': {
        const [delivery, integration] = this.#anyOf(model.alertsOf(tenantId).pending) ?? [];
        return {
          ...{ type: 'process-delivery', tenantId, deliveryId: delivery ?? deliveryId('no delivery') },
          integrationId: integration ?? this.#known(),
          changes: Array.from({ length: random.below(4) }, () => this.#change(tenantId, integration)),
        };
      }
      case 'correlate': {
        const [alert] = this.#anyOf(model.alertsOf(tenantId).alerts) ?? [];
        const candidates = Array.from({ length: random.below(3) }, () => this.#candidate(tenantId));
        const match = random.chance(0.5) ? null : this.#match();
        return {
          type: 'correlate-alert',
          tenantId,
          alertId: alert ?? alertId('no alert'),
          match,
          candidates,
        };
      }
      case 'stale': {
        const [agent, { lastSeenAtMs }] = this.#anyOf(model.alertsOf(tenantId).agents) ?? [
          agentId,
          { lastSeenAtMs: 0 },
        ];
        return {
          type: 'mark-agent-stale',
          tenantId,
          agentId: agent,
          lastSeenAtMs: lastSeenAtMs + random.pick([0, 0, 0, 1]),
        };
      }
      case 'start': {
        const [outbound] = this.#anyOf(model.alertsOf(tenantId).deliveries) ?? [];
        return { type: 'start-attempt', tenantId, outboundId: outbound ?? outboundId('nothing') };
      }
      case 'finish': {
        const { deliveries } = model.alertsOf(tenantId);
        const sending = new Map([...deliveries].filter(([, { state }]) => state === 'sending'));
        const [outbound] = this.#anyOf(random.chance(0.9) ? sending : deliveries) ?? [];
        const result = this.#result();
        return { type: 'finish-attempt', tenantId, outboundId: outbound ?? outboundId('nothing'), result };
      }
      case 'create-tenant':
        return { type: 'create-tenant', tenantId, name: `tenant ${random.below(4)}` };
    }
  }

  #anyOf<K, V>(things: ReadonlyMap<K, V>): [K, V] | undefined {
    return things.size === 0 ? undefined : this.#random.pick([...things]);
  }

  #match(): AlertMatch {
    const matched = { source: 'labels.app', via: 'name', exact: false } as const;
    return this.#random.pick<AlertMatch>([
      { type: 'unmatched', reason: 'no such service' },
      { type: 'matched', serviceName: this.#random.pick(SERVICES), ...matched },
    ]);
  }

  #change(tenantId: TenantId, integration: IntegrationId = this.#known()): AlertChange {
    const random = this.#random;
    const key = random.pick(INCIDENTS);
    const startedAtMs = 1_760_000_000_000 + random.below(3);
    if (random.chance(0.4)) return { type: 'resolved', key, endedAtMs: startedAtMs + 1000 };
    return {
      ...{ type: 'fired', alertId: alertIdOf(integration, key, startedAtMs), key, startedAtMs },
      ...{
        title: random.pick(TEXTS),
        severity: random.pick([null, 'P1']),
        url: null,
        serviceHints: [{ source: 'labels.app', name: '__proto__' }],
        entities: ['__proto__'],
      },
      match: this.#match(),
      candidates: Array.from({ length: random.below(3) }, () => this.#candidate(tenantId)),
    };
  }

  #candidate(tenantId: TenantId): Candidate {
    const random = this.#random;
    const { rawLine: _, ttlSeconds, timestampMs: __, ...facts } = { ...this.#event(), entity: 'entity' };
    const atMs = 1_760_000_000_000 + random.below(2);
    const times = { timestampMs: atMs, receivedAtMs: atMs, expiresAtMs: atMs + 1000 * ttlSeconds };
    return {
      event: { ...facts, ...times, id: eventIdOf(tenantId, atMs, 1 + random.below(3)) },
      minutesBefore: random.pick([0, -0.1, 59.9]),
      score: random.pick([1, 5e-324, 0.30000000000000004]),
      reasons: random.pick<Candidate['reasons']>([[], ['same_service', 'still_live']]),
      occurrences: random.between(1, 3),
    };
  }

  #result(): AttemptResult {
    const random = this.#random;
    const detail = random.pick(TEXTS);
    return random.pick<AttemptResult>([
      { type: 'delivered', noteId: random.pick([null, 'PNOTE']), detail },
      {
        type: 'retry',
        notBeforeMs: 1_760_000_000_000 + random.below(1e6),
        isInDoubt: random.chance(0.5),
        detail,
      },
      { type: 'gone', detail },
      { type: 'dead', detail },
    ]);
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
  #known(ours: readonly IntegrationId[] = []): IntegrationId {
    if (ours.length > 0 && this.#random.chance(0.7)) return this.#random.pick(ours);
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
  deliver: 4,
  process: 4,
  correlate: 2,
  stale: 2,
  start: 4,
  finish: 4,
  'create-tenant': 1,
};

/** For some seeds: lives are short, and a note is the end of a long story. */
const WEIGHTS_OF_ALERTS = {
  ...WEIGHTS,
  ...{ record: 5, heartbeat: 5, 'create-integration': 5, configure: 6, deliver: 8 },
  ...{ process: 10, correlate: 6, stale: 6, start: 12, finish: 10 },
};

/** A UUID that says what it is of and which. */
function uuidOf(kind: number, n: number): string {
  return `${kind.toString(16).padStart(8, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

const foreignTenant = tenantId(uuidOf(0xaf, 1));
