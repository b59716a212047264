/** A dispatcher over a real engine, with a clock that is told what time it is and peers that are functions. */

import type { Command } from '../../src/domain/command.ts';
import {
  type AlertId,
  alertIdOf,
  eventIdOf,
  type IntegrationId,
  integrationId,
  type TenantId,
} from '../../src/domain/ids.ts';
import type { IntegrationType } from '../../src/domain/integration.ts';
import type { OutboundDelivery, OutboundState } from '../../src/domain/outbound.ts';
import type { Scheduler } from '../../src/lib/scheduler.ts';
import type { StopStack } from '../../src/lib/stop-stack.ts';
import type { CallResult, OutboundRequest } from '../../src/outbound/call-result.ts';
import { Dispatcher } from '../../src/reactors/dispatcher.ts';
import { anEvent, openTestEngine, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

export const PAGERDUTY_API = 'http://api.pagerduty.test';
export const PAGERDUTY_EVENTS = 'http://events.pagerduty.test';
export const ALERTMANAGER = 'http://alertmanager.test';

export type Peer = (request: OutboundRequest) => CallResult | Promise<CallResult>;

export const answered = (status: number, body: object = {}): CallResult => ({
  type: 'answered',
  status,
  headers: new Map([['content-type', 'application/json']]),
  body: JSON.stringify(body),
  complete: true,
});

export const lost: CallResult = { type: 'failed', reason: 'no answer: ECONNRESET', sent: true };

/** Runs what it was given when it is told to. */
class Steps implements Scheduler {
  #waiting: (() => void)[] = [];

  after(_delayMs: number, task: () => void): () => void {
    this.#waiting.push(task);
    return () => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== task);
    };
  }

  soon(task: () => void): void {
    setImmediate(task);
  }

  run(): void {
    for (const task of this.#waiting.splice(0)) task();
  }
}

export class Dispatching {
  readonly engine: TestEngine;
  readonly tenantId: TenantId;
  /** What the peers were asked, in order. */
  readonly requests: (OutboundRequest & { readonly atMs: number })[] = [];
  peer: Peer = () => answered(200, { note: { id: 'PNOTE1' } });
  readonly #steps = new Steps();
  readonly #agentId: Extract<Command, { type: 'heartbeat' }>['agentId'];
  #incidents = 0;

  private constructor(engine: TestEngine, of: Awaited<ReturnType<TestEngine['newTenant']>>) {
    this.engine = engine;
    this.tenantId = of.tenantId;
    this.#agentId = of.agentId;
    new Dispatcher({
      ...engine,
      scheduler: this.#steps,
      random: () => 0,
      sending: {
        pagerdutyApiUrl: PAGERDUTY_API,
        pagerdutyEventsUrl: PAGERDUTY_EVENTS,
        baseUrl: () => 'http://foreshock.test',
        call: async (request) => {
          this.requests.push({ ...request, atMs: engine.clock.now() });
          return this.peer(request);
        },
      },
      onTrouble: (error) => {
        throw error;
      },
    }).start();
  }

  static async start(made: StopStack): Promise<Dispatching> {
    const directory = temporaryDirectory();
    made.push(() => removeDirectory(directory));
    const engine = await openTestEngine(directory);
    made.push(() => engine.close());
    return new Dispatching(engine, await engine.newTenant('payments'));
  }

  /** The dispatcher looks once, and whatever follows from it at once has followed. */
  async look(afterMs = 0): Promise<void> {
    this.engine.clock.step(afterMs);
    this.#steps.run();
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async integrate(integrationType: IntegrationType, config: object): Promise<IntegrationId> {
    const id = integrationId(crypto.randomUUID());
    const { tenantId } = this;
    await this.engine.submit({
      ...{ type: 'create-integration', tenantId, integrationId: id },
      ...{ integrationType, direction: 'bidirectional', token: `token-of-${id}` },
    });
    await this.configure(id, config);
    return id;
  }

  async configure(id: IntegrationId, config: object): Promise<void> {
    const configJson = JSON.stringify(config);
    const { tenantId } = this;
    await this.engine.submit({ type: 'configure-integration', tenantId, integrationId: id, configJson });
  }

  async heartbeat(): Promise<void> {
    await this.engine.submit({ type: 'heartbeat', tenantId: this.tenantId, agentId: this.#agentId });
  }

  async goStale(): Promise<void> {
    const agent = this.engine.state.tenants.get(this.tenantId)?.agents.get(this.#agentId);
    const lastSeenAtMs = agent?.context.lastSeenAtMs ?? 0;
    const { tenantId } = this;
    await this.engine.submit({ type: 'mark-agent-stale', tenantId, agentId: this.#agentId, lastSeenAtMs });
  }

  async record(events: Extract<Command, { type: 'record-events' }>['events']): Promise<void> {
    await this.engine.submit({
      type: 'record-events',
      tenantId: this.tenantId,
      agentId: this.#agentId,
      events,
    });
  }

  /** A delivery that says so is received and worked out. */
  async process(
    integration: IntegrationId,
    changes: Extract<Command, { type: 'process-delivery' }>['changes'],
  ): Promise<void> {
    this.#incidents += 1;
    const deliveryId = `delivery-${this.#incidents}` as Extract<
      Command,
      { type: 'process-delivery' }
    >['deliveryId'];
    const common = { tenantId: this.tenantId, integrationId: integration, deliveryId };
    await this.engine.submit({ type: 'receive-delivery', ...common, toolDeliveryId: null, bodyJson: '{}' });
    await this.engine.submit({ type: 'process-delivery', ...common, changes });
  }

  /** An incident of PagerDuty's fires; answers the id of its alert. */
  async incident(
    integration: IntegrationId,
    key: string,
    startedAtMs = this.engine.clock.now(),
  ): Promise<AlertId> {
    const alertId = alertIdOf(integration, key, startedAtMs);
    const facts = {
      key,
      startedAtMs,
      title: `incident ${key}`,
      severity: null,
      url: null,
      serviceHints: [],
      entities: [],
    };
    const match = {
      type: 'matched',
      serviceName: 'checkout-api',
      source: 'service.summary',
      via: 'name',
      exact: true,
    } as const;
    await this.process(integration, [{ type: 'fired', alertId, ...facts, match, candidates: [] }]);
    return alertId;
  }

  async resolve(integration: IntegrationId, key: string): Promise<void> {
    await this.process(integration, [{ type: 'resolved', key, endedAtMs: this.engine.clock.now() }]);
  }

  /** The alert is looked at once more, and one thing is found that may have caused it. */
  async correlate(alertId: AlertId, minutesBefore: number): Promise<void> {
    const atMs = this.engine.clock.now();
    const { rawLine: _, ttlSeconds, ...facts } = anEvent({ newValue: `v${minutesBefore}` });
    const event = {
      ...facts,
      id: eventIdOf(this.tenantId, atMs, 1),
      ...{ timestampMs: atMs, receivedAtMs: atMs, expiresAtMs: atMs + ttlSeconds * 1000 },
    };
    const candidates = [{ event, minutesBefore, score: 0.9, reasons: [], occurrences: 1 }];
    await this.engine.submit({
      type: 'correlate-alert',
      tenantId: this.tenantId,
      alertId,
      match: null,
      candidates,
    });
  }

  /** What an integration has sent and is to send, the oldest first. */
  deliveries(id: IntegrationId): readonly (OutboundDelivery & { readonly state: OutboundState })[] {
    const outbox = this.engine.state.tenants.get(this.tenantId)?.outbox;
    return [...(outbox?.deliveries.values() ?? [])]
      .filter(({ context }) => context.integrationId === id)
      .map(({ context, state }) => ({ ...context, state }));
  }
}
