/**
 * What has to do with alerting tools, after a start: a checkpoint and the log behind it answer as the whole log does,
 * and as the engine did that wrote it. Beside the answers, what is remembered to tell repeated deliveries, what waits
 * to be worked out, and what is to be sent.
 */
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { v5 as uuidv5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { makeCheckpoint } from '../../src/commands/checkpointer.ts';
import type { Settings } from '../../src/config.ts';
import type { Candidate } from '../../src/domain/alert.ts';
import type { TenantCommand } from '../../src/domain/command.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import {
  type AlertId,
  alertId,
  alertIdOf,
  deliveryId,
  eventIdOf,
  type IntegrationId,
  integrationId,
  type OutboundId,
  outboundId,
} from '../../src/domain/ids.ts';
import { DIRECTIONS } from '../../src/domain/integration.ts';
import type { AttemptResult } from '../../src/domain/outbound.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const SETTINGS: Partial<Settings> = { segmentBytes: 2048, retentionSeconds: 7200 };
const LIMITS = { retentionMs: 7_200_000, windowMaxEvents: 10_000, windowMaxBytes: 8 * 1024 * 1024 };
const KEYS = ['Q1', 'Q2', '__proto__', '😀'];
const CONFIGS = [
  {},
  { pagerduty_token: 't' },
  { pagerduty_token: 't', pagerduty_routing_key: 'r', alertmanager_url: 'http://a' },
  { alertmanager_url: 'http://a', pagerduty_routing_key: 'r' },
];

/** What happens next, in numbers: which of the things that there are by then is meant depends on what there is. */
interface Deed {
  readonly what:
    | 'integrate'
    | 'configure'
    | 'delete'
    | 'receive'
    | 'process'
    | 'correlate'
    | 'start'
    | 'finish'
    | 'stale'
    | 'seen'
    | 'record';
  readonly pick: number;
  readonly other: number;
  readonly stepMs: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  what: fc.constantFrom(
    ...(['integrate', 'configure', 'delete', 'receive', 'receive', 'receive', 'process', 'process'] as const),
    ...([
      'process',
      'correlate',
      'start',
      'start',
      'start',
      'finish',
      'finish',
      'stale',
      'seen',
      'record',
    ] as const),
  ),
  pick: fc.nat(1000),
  other: fc.nat(1000),
  stepMs: fc.constantFrom(0, 1, 1000, 59_999, 60_000, 3_600_000),
});

type Owner = Awaited<ReturnType<TestEngine['newTenant']>>;

function at<T>(values: readonly T[], index: number): T | undefined {
  return values[index % Math.max(1, values.length)];
}

class Life {
  readonly #engine: TestEngine;
  readonly #owners: readonly Owner[];
  /** So many things were made, from which each has its name. */
  #made: number;

  constructor(engine: TestEngine, owners: readonly Owner[], made: number) {
    this.#engine = engine;
    this.#owners = owners;
    this.#made = made;
  }

  async take(deed: Deed): Promise<void> {
    this.#engine.clock.step(deed.stepMs);
    const command = this.#command(deed);
    if (command !== undefined) await this.#engine.submit(command);
  }

  #command({ what, pick, other }: Deed): TenantCommand | undefined {
    const owner = at(this.#owners, other);
    const tenant = owner && this.#engine.state.tenants.get(owner.tenantId);
    if (owner === undefined || tenant === undefined) return undefined;
    const { tenantId, agentId } = owner;
    const nowMs = this.#engine.clock.now();
    const integration: IntegrationId = at([...tenant.integrations.keys()], pick) ?? integrationId('none');
    const outbound: OutboundId = at([...tenant.outbox.waiting], pick) ?? outboundId('none');
    this.#made += 1;
    switch (what) {
      case 'integrate':
        return {
          ...{
            type: 'create-integration',
            tenantId,
            integrationId: integrationId(uuidv5(`${this.#made}`, tenantId)),
          },
          integrationType: pick % 4 === 0 ? 'alertmanager' : 'pagerduty',
          direction: at(DIRECTIONS, pick) ?? 'bidirectional',
          token: `token-${this.#made}`,
        };
      case 'configure': {
        const configJson = JSON.stringify(at(CONFIGS, other >> 1) ?? {});
        return { type: 'configure-integration', tenantId, integrationId: integration, configJson };
      }
      case 'delete':
        if (pick % 4 > 0) return undefined;
        return { type: 'delete-integration', tenantId, integrationId: integration };
      case 'receive': {
        const toolDeliveryId = pick % 5 === 0 ? null : `tool-${pick % 7}`;
        const delivery = deliveryId(`d-${this.#made}`);
        const common = { tenantId, integrationId: integration, deliveryId: delivery, toolDeliveryId };
        return { type: 'receive-delivery', ...common, bodyJson: `{"__proto__":${this.#made}}` };
      }
      case 'process': {
        const pending = at([...tenant.inbox.pending.values()], pick);
        if (pending === undefined) return undefined;
        const key = at(KEYS, other) ?? '';
        const startedAtMs = START_MS + 1000 * (pick % 3);
        return {
          ...{
            type: 'process-delivery',
            tenantId,
            integrationId: pending.integrationId,
            deliveryId: pending.id,
          },
          changes: [
            ...(pick % 3 === 0 ? [{ type: 'resolved', key, endedAtMs: nowMs } as const] : []),
            {
              ...{
                type: 'fired',
                alertId: alertIdOf(pending.integrationId, key, startedAtMs),
                key,
                startedAtMs,
              },
              ...{
                title: key,
                severity: null,
                url: null,
                serviceHints: [{ source: 's', name: 'api' }],
                entities: ['e'],
                candidates: [this.#candidate(owner)],
              },
              match:
                pick % 2 === 0
                  ? { type: 'unmatched', reason: 'none' }
                  : { type: 'matched', serviceName: 'api', source: 's', via: 'name', exact: false },
            },
          ],
        };
      }
      case 'correlate': {
        const alert: AlertId = at([...tenant.alerts.alerts.keys()], pick) ?? alertId('none');
        const candidates = pick % 2 === 0 ? [] : [this.#candidate(owner)];
        const match = pick % 3 === 0 ? null : ({ type: 'unmatched', reason: `${pick}` } as const);
        return { type: 'correlate-alert', tenantId, alertId: alert, match, candidates };
      }
      case 'start':
        return { type: 'start-attempt', tenantId, outboundId: outbound };
      case 'finish':
        return { type: 'finish-attempt', tenantId, outboundId: outbound, result: this.#result(pick, nowMs) };
      case 'stale': {
        const lastSeenAtMs = tenant.agents.get(agentId)?.context.lastSeenAtMs ?? 0;
        return { type: 'mark-agent-stale', tenantId, agentId, lastSeenAtMs };
      }
      case 'seen':
        return { type: 'heartbeat', tenantId, agentId };
      case 'record': {
        const eventType = at(EVENT_TYPES, pick) ?? 'deploy';
        return {
          type: 'record-events',
          tenantId,
          agentId,
          events: [anEvent({ eventType, serviceName: 'api' })],
        };
      }
    }
  }

  #candidate({ tenantId }: Owner): Candidate {
    const { rawLine: _, ttlSeconds, ...facts } = anEvent({ entity: `e-${this.#made % 3}` });
    const times = {
      timestampMs: START_MS,
      receivedAtMs: START_MS,
      expiresAtMs: START_MS + 1000 * ttlSeconds,
    };
    const event = { ...facts, ...times, id: eventIdOf(tenantId, START_MS, 1) };
    return { event, minutesBefore: -0.5, score: 0.1 + 0.2, reasons: ['same_service'], occurrences: 1 };
  }

  #result(pick: number, nowMs: number): AttemptResult {
    const results: readonly AttemptResult[] = [
      { type: 'delivered', noteId: `note-${this.#made}`, detail: 'answered 200' },
      { type: 'delivered', noteId: null, detail: 'answered 202' },
      { type: 'retry', notBeforeMs: nowMs + 5000, isInDoubt: pick % 2 === 0, detail: 'answered 503' },
      { type: 'gone', detail: 'answered 404' },
      { type: 'dead', detail: 'answered 401' },
    ];
    return at(results, pick) ?? { type: 'dead', detail: '' };
  }
}

/** Everything that can be asked, and everything that decides what happens next. */
function all({ state, queries, clock }: TestEngine): object[] {
  const page = { page: 1, perPage: 100, service: null, status: null } as const;
  return [...state.tenants.values()].map(({ id, integrations, inbox, alerts, outbox, agents }) => ({
    agents: queries.agents(id),
    stale: [...agents.values()].map(({ context }) => context.stale),
    integrations: queries.integrations(id),
    deliveries: [...integrations.keys()].map((integration) => queries.deliveries(id, integration)),
    alerts: queries.alerts(id, page),
    firing: queries.alerts(id, { ...page, status: 'firing' }),
    ofService: queries.alerts(id, { ...page, service: 'api', page: 2, perPage: 10 }),
    details: [...alerts.alerts.keys()].map((alert) => queries.alert(id, alert)),
    pending: [...inbox.pending.values()],
    remembered: [...integrations.keys()].map((integration) =>
      Array.from({ length: 7 }, (_, n) => inbox.has(integration, `tool-${n}`, clock.now())),
    ),
    unsettled: [...alerts.unsettled].sort(),
    sending: [...outbox.deliveries.values()]
      .map(({ state, context }) => JSON.stringify([state, context]))
      .sort(),
    nextToBeSent: [...outbox.waiting],
    firingKeys: [...integrations.keys()].map((integration) =>
      KEYS.map((key) => alerts.firing(integration, key)?.context.id),
    ),
  }));
}

describe('alerts, deliveries and what is remembered of them', () => {
  it('are after a start from any checkpoint what they were, and after a replay of the whole log', {
    timeout: 120_000,
  }, async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(deed, { minLength: 20, maxLength: 150, size: 'max' }),
        fc.array(deed, { maxLength: 20 }),
        async (first, then) => {
          const made = new StopStack();
          try {
            const fresh = () => {
              const directory = temporaryDirectory();
              made.push(() => removeDirectory(directory));
              return directory;
            };
            const directory = fresh();
            const clock = new ManualClock(START_MS);
            const engine = await openTestEngine(directory, SETTINGS, clock);
            const owners = [await engine.newTenant('payments'), await engine.newTenant('search')];
            const life = new Life(engine, owners, 0);
            for (const name of ['integrate', 'configure', 'integrate', 'configure', 'integrate'] as const) {
              for (const other of [2, 3])
                await life.take({ what: name, pick: 2 + checked, other, stepMs: 1 });
            }
            for (const step of first) await life.take(step);
            const before = all(engine);
            await engine.close();
            const sealed = readdirSync(join(directory, 'log')).length - 2;
            for (const throughOrdinal of [0, 1, Math.ceil(sealed / 2), sealed]) {
              const copy = fresh();
              cpSync(directory, copy, { recursive: true });
              if (throughOrdinal > 0 && throughOrdinal <= sealed) {
                await makeCheckpoint({ dataDirectory: copy, limits: LIMITS, throughOrdinal, disk: nodeDisk });
                checked += 1;
              }
              const again = await openTestEngine(copy, SETTINGS, new ManualClock(clock.now()));
              expect(all(again)).toEqual(before);
              await again.close();
            }
            // And what happens afterwards comes to the same.
            const outcomes: object[][] = [];
            for (const throughOrdinal of [0, sealed]) {
              const copy = fresh();
              cpSync(directory, copy, { recursive: true });
              if (throughOrdinal > 0) {
                await makeCheckpoint({ dataDirectory: copy, limits: LIMITS, throughOrdinal, disk: nodeDisk });
              }
              const again = await openTestEngine(copy, SETTINGS, new ManualClock(clock.now()));
              const afterLife = new Life(again, owners, 1000);
              for (const step of then) await afterLife.take(step);
              outcomes.push(all(again));
              await again.close();
            }
            expect(outcomes[1]).toEqual(outcomes[0]);
          } finally {
            await made.run();
          }
        },
      ),
      { numRuns: 20 },
    );
    expect(checked).toBeGreaterThan(20);
  });
});
