/** How deliveries are worked out: the second look, and what a hostile or unlucky delivery cannot do. */
import { afterEach, describe, expect, it } from 'vitest';
import { deliveryId, integrationId } from '../../src/domain/ids.ts';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { Inbound } from '../../src/reactors/inbound.ts';
import { anEvent, openTestEngine, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const made = new StopStack();
afterEach(() => made.run());

/** An engine whose deliveries are worked out when it is told to look. */
class Looking {
  readonly engine: TestEngine;
  readonly troubles: unknown[] = [];
  readonly #of: Awaited<ReturnType<TestEngine['newTenant']>>;
  readonly #inbound: Inbound;
  #tasks: (() => void)[] = [];
  #deliveries = 0;

  private constructor(engine: TestEngine, of: Awaited<ReturnType<TestEngine['newTenant']>>) {
    this.engine = engine;
    this.#of = of;
    this.#inbound = new Inbound({
      ...engine,
      scheduler: {
        after: (_, task) => {
          this.#tasks.push(task);
          return () => {};
        },
        soon: (task) => {
          setImmediate(task);
        },
      },
      onTrouble: (error) => this.troubles.push(error),
    });
    this.#inbound.start();
  }

  static async start(): Promise<Looking> {
    const directory = temporaryDirectory();
    made.push(() => removeDirectory(directory));
    const engine = await openTestEngine(directory);
    made.push(() => engine.close());
    return new Looking(engine, await engine.newTenant('payments'));
  }

  get alerts() {
    const tenant = this.engine.state.tenants.get(this.#of.tenantId);
    return [...(tenant?.alerts.alerts.values() ?? [])].map(({ context }) => context);
  }

  get outbox() {
    return [...(this.engine.state.tenants.get(this.#of.tenantId)?.outbox.deliveries.values() ?? [])];
  }

  get waiting(): number {
    return this.engine.state.tenants.get(this.#of.tenantId)?.inbox.pending.size ?? 0;
  }

  /** Looks once, and waits until it is done and waits to look again. */
  async look(afterMs = 0): Promise<void> {
    this.engine.clock.step(afterMs);
    for (const task of this.#tasks.splice(0)) task();
    while (this.#tasks.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  async record(...events: Parameters<typeof anEvent>[0][]): Promise<void> {
    const { tenantId, agentId } = this.#of;
    await this.engine.submit({ type: 'record-events', tenantId, agentId, events: events.map(anEvent) });
  }

  async integrate(integrationType: 'pagerduty' | 'alertmanager', config: object = {}) {
    const id = integrationId(crypto.randomUUID());
    const common = { tenantId: this.#of.tenantId, integrationId: id };
    const token = `token-of-${id}`;
    const direction = 'bidirectional';
    await this.engine.submit({ type: 'create-integration', ...common, integrationType, direction, token });
    const configJson = JSON.stringify(config);
    await this.engine.submit({ type: 'configure-integration', ...common, configJson });
    return id;
  }

  async receive(id: ReturnType<typeof integrationId>, body: object): Promise<void> {
    this.#deliveries += 1;
    await this.engine.submit({
      ...{ type: 'receive-delivery', tenantId: this.#of.tenantId, integrationId: id },
      ...{ deliveryId: deliveryId(`delivery-${this.#deliveries}`), toolDeliveryId: null },
      bodyJson: JSON.stringify(body),
    });
  }
}

const group = (...alerts: object[]) => ({ version: '4', groupKey: 'g', alerts });
const firing = (n: number | string, labels: object = {}) => ({
  ...{ status: 'firing', fingerprint: `f${n}`, startsAt: '2026-08-22T10:00:00Z' },
  labels: { alertname: 'Slow', service: 'checkout-api', ...labels },
});

describe('an alert', () => {
  it('is looked at once more half a minute later, and has what came late by then', async () => {
    const site = await Looking.start();
    const id = await site.integrate('pagerduty', { pagerduty_token: 't', pagerduty_from: 'a@example.com' });
    await site.record({ entity: 'early' });
    const data = { id: 'Q1', type: 'incident', title: 'slow', service: { summary: 'checkout-api' } };
    await site.receive(id, { event: { event_type: 'incident.triggered', data } });
    await site.look();
    expect(site.alerts).toMatchObject([{ isSettled: false, candidates: [{ event: { entity: 'early' } }] }]);
    const [note] = site.outbox;
    note?.send({ type: 'started', atMs: 1 });
    note?.send({ type: 'delivered', atMs: 2, noteId: 'P1', detail: 'answered 200' });
    // Told of late: it happened before the alert.
    await site.record({ entity: 'late', timestampMs: site.engine.clock.now() - 60_000 });
    await site.look(29_999);
    expect(site.alerts[0]?.candidates).toHaveLength(1);
    expect(note?.state).toBe('delivered');
    await site.look(1);
    expect(site.alerts).toMatchObject([{ isSettled: true }]);
    expect(site.alerts[0]?.candidates.map(({ event }) => event.entity).sort()).toEqual(['early', 'late']);
    expect(note?.state).toBe('queued');
    await site.look(60_000);
    expect(site.troubles).toEqual([]);
  });

  it('leaves its note alone where nothing came late', async () => {
    const site = await Looking.start();
    const id = await site.integrate('pagerduty', { pagerduty_token: 't', pagerduty_from: 'a@example.com' });
    await site.record({});
    const data = { id: 'Q1', type: 'incident', title: 'slow', service: { summary: 'checkout-api' } };
    await site.receive(id, { event: { event_type: 'incident.triggered', data } });
    await site.look();
    const [note] = site.outbox;
    note?.send({ type: 'started', atMs: 1 });
    note?.send({ type: 'delivered', atMs: 2, noteId: 'P1', detail: 'answered 200' });
    await site.look(30_000);
    expect(site.alerts).toMatchObject([{ isSettled: true }]);
    expect(note?.state).toBe('delivered');
  });
});

describe('a delivery of a thousand alerts', () => {
  it('is taken whole, though all they may have been caused by would fit into no record', async () => {
    const site = await Looking.start();
    const id = await site.integrate('alertmanager');
    const long = '€'.repeat(4000);
    await site.record(
      ...Array.from({ length: 20 }, (_, n) => ({ entity: `e${n}`, oldValue: long, newValue: `${n}${long}` })),
    );
    await site.receive(id, group(...Array.from({ length: 1000 }, (_, n) => firing(n))));
    await site.look(1000);
    expect(site.troubles).toEqual([]);
    expect(site.waiting).toBe(0);
    expect(site.alerts).toHaveLength(1000);
    expect(site.alerts[0]?.candidates).toHaveLength(20);
    expect(site.alerts.at(-1)).toMatchObject({ match: { serviceName: 'checkout-api' }, candidates: [] });
  });

  it('is taken whole, however long the labels are that they share', async () => {
    const site = await Looking.start();
    const id = await site.integrate('alertmanager');
    const names = ['pod', 'node', 'host', 'queue', 'topic', 'table', 'index', 'device', 'volume', 'upstream'];
    const more = names.flatMap((name) => [name, `exported_${name}`, `${name}_name`]);
    const commonLabels = Object.fromEntries(more.map((name, n) => [name, `${n}${'€'.repeat(510)}`]));
    const alerts = Array.from({ length: 1000 }, (_, n) => firing(n));
    await site.receive(id, { ...group(...alerts), commonLabels });
    await site.look(1000);
    expect(site.troubles).toEqual([]);
    expect(site.alerts).toHaveLength(1000);
  });
});
