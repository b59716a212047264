/** What a tenant's integrations are to send, and what became of what they sent lately. */
import { DeliveryActor, type DeliveryEvent } from '../actors/delivery.ts';
import type { IntegrationId, OutboundId } from '../domain/ids.ts';
import type { OutboundDelivery, OutboundState, OutboundSubject } from '../domain/outbound.ts';

/** Of an integration: what waits at most, and how many that are done are kept. */
const MAX_WAITING = 2000;
const MAX_DONE = 1000;
/** Change events wait only where fewer than this do: they come in any number, and must leave room for notes. */
const MAX_WAITING_FOR_CHANGES = 1000;

export class Outbox {
  readonly deliveries = new Map<OutboundId, DeliveryActor>();
  /** Those that are not done. */
  readonly waiting = new Set<OutboundId>();
  readonly #waitingOf = new Map<IntegrationId, number>();
  /** The oldest first. */
  readonly #doneOf = new Map<IntegrationId, Set<OutboundId>>();

  /** Queues it, or has it sent again where it was sent: there is something new to say. */
  want(id: OutboundId, integrationId: IntegrationId, subject: OutboundSubject, atMs: number): void {
    const known = this.deliveries.get(id);
    if (known !== undefined) return this.send(known, { type: 'wanted', atMs, subject });
    const most = subject.type === 'change-event' ? MAX_WAITING_FOR_CHANGES : MAX_WAITING;
    const isFull = (this.#waitingOf.get(integrationId) ?? 0) >= most;
    const delivery: OutboundDelivery = {
      id,
      integrationId,
      subject,
      queuedAtMs: atMs,
      updatedAtMs: atMs,
      attempts: 0,
      firstAttemptAtMs: null,
      notBeforeMs: atMs,
      detail: isFull ? `not sent: ${most} deliveries of the integration wait already` : null,
      noteId: null,
      isInDoubt: false,
      isOutdated: false,
    };
    this.restore(delivery, isFull ? 'dead-lettered' : 'queued');
  }

  /** Puts one in as it is. */
  restore(delivery: OutboundDelivery, state: OutboundState): void {
    const actor = new DeliveryActor(delivery, state);
    this.deliveries.set(delivery.id, actor);
    this.#place(actor);
  }

  send(actor: DeliveryActor, event: DeliveryEvent): void {
    actor.send(event);
    this.#place(actor);
  }

  /** What changed last first: the order in which they are kept is not the same after a restart. */
  latestFirst(which: (delivery: OutboundDelivery) => boolean): DeliveryActor[] {
    return [...this.deliveries.values()]
      .filter(({ context }) => which(context))
      .sort(({ context: a }, { context: b }) => b.updatedAtMs - a.updatedAtMs || (a.id < b.id ? -1 : 1));
  }

  /** All, in an order in which `restore` makes the same of them: who is done first is dropped first. */
  *inOrder(): Iterable<DeliveryActor> {
    for (const ids of [...this.#doneOf.values(), this.waiting]) {
      for (const id of ids) {
        const actor = this.deliveries.get(id);
        if (actor !== undefined) yield actor;
      }
    }
  }

  /** The integration is gone, and with it what it was to send. */
  forget(integrationId: IntegrationId): void {
    for (const { context } of this.deliveries.values()) {
      if (context.integrationId !== integrationId) continue;
      this.deliveries.delete(context.id);
      this.waiting.delete(context.id);
    }
    this.#waitingOf.delete(integrationId);
    this.#doneOf.delete(integrationId);
  }

  #place(actor: DeliveryActor): void {
    const { id, integrationId } = actor.context;
    const done = this.#doneOf.get(integrationId) ?? new Set();
    this.#doneOf.set(integrationId, done);
    done.delete(id);
    const waited = this.waiting.delete(id) ? 1 : 0;
    const waits = actor.isFinal ? 0 : 1;
    this.#waitingOf.set(integrationId, (this.#waitingOf.get(integrationId) ?? 0) - waited + waits);
    if (waits === 1) {
      this.waiting.add(id);
      return;
    }
    done.add(id);
    const [oldest] = done;
    if (done.size <= MAX_DONE || oldest === undefined) return;
    done.delete(oldest);
    this.deliveries.delete(oldest);
  }
}
