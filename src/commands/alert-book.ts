/** The alerts of a tenant, in the order in which they came. */
import { AlertActor, type Finding } from '../actors/alert.ts';
import type { Alert } from '../domain/alert.ts';
import type { AlertId, IntegrationId } from '../domain/ids.ts';

/** Past this the oldest leave, those that are resolved first. */
const MAX_ALERTS = 10_000;

/** Ends that are remembered without an alert that they ended: the oldest leave first. */
const MAX_EARLY_ENDS = 1000;

export interface EarlyEnd {
  readonly integrationId: IntegrationId;
  readonly key: string;
  readonly endedAtMs: number;
}

export class AlertBook {
  readonly alerts = new Map<AlertId, AlertActor>();
  /** Those whose causes are to be looked for once more. */
  readonly unsettled = new Set<AlertId>();
  /** Those that fire, by what their integration's tool calls them. */
  readonly #firing = new Map<string, AlertId>();

  /** Ends of alerts that had not been told of, by what their tool calls them: deliveries overtake each other. */
  readonly #earlyEnds = new Map<string, EarlyEnd>();

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
  endEarly(end: EarlyEnd): void {
    const name = nameOf(end.integrationId, end.key);
    const before = this.#earlyEnds.get(name);
    this.#earlyEnds.delete(name);
    this.#earlyEnds.set(name, before === undefined || before.endedAtMs < end.endedAtMs ? end : before);
    const [oldest] = this.#earlyEnds.keys();
    if (this.#earlyEnds.size > MAX_EARLY_ENDS && oldest !== undefined) this.#earlyEnds.delete(oldest);
  }

  /** When an alert that began then had ended, as was told before it was; one that began later is another. */
  earlyEndOf(integrationId: IntegrationId, key: string, startedAtMs: number): number | undefined {
    const name = nameOf(integrationId, key);
    const end = this.#earlyEnds.get(name);
    if (end === undefined || startedAtMs < end.endedAtMs) return end?.endedAtMs;
    this.#earlyEnds.delete(name);
    return undefined;
  }

  /** The oldest first. */
  get earlyEnds(): Iterable<EarlyEnd> {
    return this.#earlyEnds.values();
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
