/**
 * Works out webhook deliveries after they were answered: which alerts they tell of, which services those are about,
 * and what may have caused them. The result is a command like any other; until it is in the log, the delivery waits,
 * and a restart works it out again.
 *
 * An alert is looked at once more a little later: agents that follow a log are seconds behind it, and what came just
 * before an alert may come to us just after it.
 */
import type { IntegrationActor } from '../actors/integration.ts';
import { signalsIn } from '../alerting/inbound.ts';
import { matchService } from '../alerting/matching.ts';
import type { PendingDelivery } from '../commands/inbox.ts';
import type { Pipeline } from '../commands/pipeline.ts';
import type { State, Tenant } from '../commands/state.ts';
import type { Alert, AlertChange, AlertMatch, AlertSignal, ServiceHint } from '../domain/alert.ts';
import { alertIdOf } from '../domain/ids.ts';
import type { IntegrationConfig } from '../domain/integration-config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import { Causes } from './causes.ts';
import type { PastEventsOptions } from './past-events.ts';

export interface InboundOptions {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly time: Pick<Clock, 'now'>;
  readonly scheduler: Scheduler;
  readonly readEvents: PastEventsOptions['readEvents'];
  /** A delivery that could not be worked out: it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

const LOOK_INTERVAL_MS = 50;
const RETRY_INTERVAL_MS = 1000;
/** Events come this much later than what they tell of, and no later, where nothing is wrong. */
const SETTLE_AFTER_MS = 30_000;

/**
 * Of what one delivery comes to, in characters, so that it fits into a record: a thousand alerts with twenty causes
 * each would not. What has no room comes with the second look, which has a record for each alert.
 */
const MAX_CHANGES_LENGTH = 4 * 1024 * 1024;

export class Inbound {
  readonly #options: InboundOptions;
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  start(delayMs = LOOK_INTERVAL_MS): void {
    this.#options.scheduler.after(delayMs, () => {
      if (this.#stopped) return;
      let nextMs = LOOK_INTERVAL_MS;
      this.#working = this.#look()
        .catch((error: unknown) => {
          this.#options.onTrouble(error);
          nextMs = RETRY_INTERVAL_MS;
        })
        .finally(() => {
          this.#working = undefined;
          this.start(nextMs);
        });
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
  }

  async #look(): Promise<void> {
    const nowMs = this.#options.time.now();
    const failures: unknown[] = [];
    for (const tenant of this.#options.state.tenants.values()) {
      for (const delivery of [...tenant.inbox.pending.values()]) {
        if (this.#stopped) return;
        // One that cannot be worked out keeps no other waiting.
        await this.#workOut(tenant, delivery).catch((error: unknown) => failures.push(error));
      }
      for (const id of [...tenant.alerts.unsettled]) {
        const alert = tenant.alerts.alerts.get(id)?.context;
        if (this.#stopped) return;
        if (alert !== undefined && nowMs >= alert.receivedAtMs + SETTLE_AFTER_MS)
          await this.#settle(tenant, alert);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #workOut(tenant: Tenant, delivery: PendingDelivery): Promise<void> {
    const integration = tenant.integrations.get(delivery.integrationId);
    if (integration === undefined) return;
    const changes: AlertChange[] = [];
    const causes = this.#causes(tenant);
    let roomLeft = MAX_CHANGES_LENGTH;
    const { id: integrationId, type } = integration.context;
    for (const signal of signalsIn(type, JSON.parse(delivery.bodyJson))) {
      const change = await this.#changeOf(tenant, integration, signal, delivery.receivedAtMs, causes);
      roomLeft -= JSON.stringify(change).length;
      changes.push(roomLeft < 0 ? withoutDetails(change) : change);
      await this.#pause();
    }
    await this.#submit({
      type: 'process-delivery',
      tenantId: tenant.id,
      integrationId,
      deliveryId: delivery.id,
      changes,
    });
  }

  async #changeOf(
    tenant: Tenant,
    integration: IntegrationActor,
    signal: AlertSignal,
    receivedAtMs: number,
    causes: Causes,
  ): Promise<AlertChange> {
    const { key, status, title, severity, url, serviceHints, entities } = signal;
    const { context, config } = integration;
    const alertId = alertIdOf(context.id, key, signal.startedAtMs);
    if (status === 'resolved') {
      const endedAtMs = Math.min(signal.endedAtMs ?? receivedAtMs, receivedAtMs);
      return { type: 'resolved', key, endedAtMs, ...(signal.startedAtMs === undefined ? {} : { alertId }) };
    }
    // A tool whose clock is ahead of ours cannot have seen what is still to come.
    const startedAtMs = Math.min(signal.startedAtMs ?? receivedAtMs, receivedAtMs);
    const match = matchIn(tenant, config, serviceHints);
    const known = tenant.alerts.firing(context.id, key)?.context.match;
    const candidates =
      match.type === 'unmatched' || known?.type === 'matched'
        ? []
        : await causes.of(
            { startedAtMs, serviceName: match.serviceName, entities, title },
            config.lookbackMs,
          );
    const facts = { key, startedAtMs, title, severity, url, serviceHints, entities };
    return { type: 'fired', alertId, ...facts, match, candidates };
  }

  async #settle(tenant: Tenant, alert: Alert): Promise<void> {
    const { id, integrationId, startedAtMs, title, entities, serviceHints } = alert;
    const config = tenant.integrations.get(integrationId)?.config;
    // A service is known from its first event on, which may have come after the alert.
    const isOpen = alert.match.type === 'unmatched' && config !== undefined;
    const match = isOpen ? matchIn(tenant, config, serviceHints) : alert.match;
    const candidates =
      match.type === 'unmatched' || config === undefined
        ? alert.candidates
        : await this.#causes(tenant).of(
            { startedAtMs, serviceName: match.serviceName, entities, title },
            config.lookbackMs,
          );
    await this.#submit({ type: 'correlate-alert', tenantId: tenant.id, alertId: id, match, candidates });
  }

  #causes(tenant: Tenant): Causes {
    const { readEvents, time } = this.#options;
    return new Causes(tenant, { readEvents, nowMs: time.now(), pause: () => this.#pause() });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.scheduler.soon(resolve));
  }

  #submit(command: Parameters<Pipeline['submit']>[0]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#options.pipeline.submit(command, (outcome) => {
        // What is not there any more needs no work.
        if (outcome.type === 'applied' || outcome.kind === 'not-found') resolve();
        else if (this.#stopped) resolve();
        else reject(new Error(outcome.detail));
      });
    });
  }
}

function matchIn(
  tenant: Tenant,
  { serviceMap }: IntegrationConfig,
  hints: readonly ServiceHint[],
): AlertMatch {
  const { servicesByName } = tenant;
  return matchService(
    hints,
    serviceMap,
    (name) => servicesByName.has(name),
    () => servicesByName.keys(),
  );
}

function withoutDetails(change: AlertChange): AlertChange {
  return change.type === 'fired' ? { ...change, entities: [], candidates: [] } : change;
}
