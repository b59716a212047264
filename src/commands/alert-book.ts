/** The alerts of a tenant, in the order in which they came. */
import { AlertActor, type Finding } from '../actors/alert.ts';
import type { Alert } from '../domain/alert.ts';
import type { AlertId, IntegrationId } from '../domain/ids.ts';

/** Past this the oldest leave, those that are resolved first. */
const MAX_ALERTS = 10_000;

/** Ends that are remembered without an alert that they ended: the oldest leave first. */
const MAX_EARLY_ENDS = 1000;

export class AlertBook {
  readonly alerts = new Map<AlertId, AlertActor>();
  /** Those whose causes are to be looked for once more. */
  readonly unsettled = new Set<AlertId>();
  /** Those that fire, by what their integration's tool calls them. */
  readonly #firing = new Map<string, AlertId>();
  /** When alerts ended that nobody had told of yet, for deliveries overtake each other; the oldest first. */
  readonly #earlyEnds = new Map<AlertId, number>();

  get firingCount(): number {
    return this.#firing.size;
  }

  /** The alert that an integration's tool calls so, while it fires. */
  firing(integrationId: IntegrationId, key: string): AlertActor | undefined {
    const id = this.#firing.get(nameOf(integrationId, key));
    return id === undefined ? undefined : this.alerts.get(id);
  }

  add(alert: Alert): AlertActor {
    const actor = new AlertActor(alert);
    this.alerts.set(alert.id, actor);
    if (!alert.isSettled) this.unsettled.add(alert.id);
    if (alert.status === 'firing') this.#firing.set(nameOf(alert.integrationId, alert.key), alert.id);
    if (this.alerts.size > MAX_ALERTS) this.#dropOldest();
    return actor;
  }

  fire(actor: AlertActor, finding: Finding): void {
    actor.send({ type: 'fired', ...finding });
    const { integrationId, key, id } = actor.context;
    this.#firing.set(nameOf(integrationId, key), id);
    this.unsettled.add(id);
  }

  settle(actor: AlertActor, finding: Finding): void {
    actor.send({ type: 'correlated', ...finding });
    this.unsettled.delete(actor.context.id);
  }

  /** An alert has ended that nobody has told of yet. */
  endEarly(id: AlertId, endedAtMs: number): void {
    this.#earlyEnds.delete(id);
    this.#earlyEnds.set(id, endedAtMs);
    const [oldest] = this.#earlyEnds.keys();
    if (this.#earlyEnds.size > MAX_EARLY_ENDS && oldest !== undefined) this.#earlyEnds.delete(oldest);
  }

  get earlyEnds(): ReadonlyMap<AlertId, number> {
    return this.#earlyEnds;
  }

  resolve(actor: AlertActor, atMs: number): void {
    actor.send({ type: 'resolved', atMs });
    const { integrationId, key } = actor.context;
    this.#firing.delete(nameOf(integrationId, key));
  }

  #dropOldest(): void {
    let oldest: AlertActor | undefined;
    for (const actor of this.alerts.values()) {
      oldest ??= actor;
      if (actor.context.status === 'resolved') {
        oldest = actor;
        break;
      }
    }
    if (oldest === undefined) return;
    const { id, integrationId, key, status } = oldest.context;
    this.alerts.delete(id);
    this.unsettled.delete(id);
    if (status === 'firing') this.#firing.delete(nameOf(integrationId, key));
  }
}

function nameOf(integrationId: IntegrationId, key: string): string {
  return `${integrationId} ${key}`;
}
