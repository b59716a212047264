/**
 * Webhook deliveries that were taken: those that wait to be worked out, and the ids of those that came lately, so
 * that one that a tool sends again is not taken twice.
 */
import type { DeliveryId, IntegrationId } from '../domain/ids.ts';

export interface PendingDelivery {
  readonly id: DeliveryId;
  readonly integrationId: IntegrationId;
  readonly receivedAtMs: number;
  readonly bodyJson: string;
}

/** Deliveries that may wait, and their characters: they are worked out within a second, where nothing is wrong. */
const MAX_PENDING = 1000;
const MAX_PENDING_LENGTH = 64 * 1024 * 1024;

/** Ids kept of an integration. */
const MAX_RECENT = 4096;

interface Recent {
  readonly atMs: number;
  readonly isForMs: number;
}

export class Inbox {
  readonly pending = new Map<DeliveryId, PendingDelivery>();
  readonly #recent = new Map<IntegrationId, Map<string, Recent>>();
  #length = 0;

  get isFull(): boolean {
    return this.pending.size >= MAX_PENDING || this.#length >= MAX_PENDING_LENGTH;
  }

  /** Whether a delivery of this id has come, not longer ago than its kind is remembered. */
  has(integrationId: IntegrationId, toolDeliveryId: string, nowMs: number): boolean {
    const recent = this.#recent.get(integrationId)?.get(toolDeliveryId);
    return recent !== undefined && nowMs < recent.atMs + recent.isForMs;
  }

  /** @param rememberForMs how long one of the same id is the same delivery */
  take(delivery: PendingDelivery, toolDeliveryId: string | null, rememberForMs: number): void {
    this.pending.set(delivery.id, delivery);
    this.#length += delivery.bodyJson.length;
    if (toolDeliveryId === null) return;
    this.remember(delivery.integrationId, toolDeliveryId, delivery.receivedAtMs, rememberForMs);
  }

  remember(integrationId: IntegrationId, toolDeliveryId: string, atMs: number, isForMs: number): void {
    let recent = this.#recent.get(integrationId);
    if (recent === undefined) {
      recent = new Map();
      this.#recent.set(integrationId, recent);
    }
    recent.delete(toolDeliveryId);
    recent.set(toolDeliveryId, { atMs, isForMs });
    const [oldest] = recent.keys();
    if (recent.size > MAX_RECENT && oldest !== undefined) recent.delete(oldest);
  }

  /** It has been worked out. */
  done(id: DeliveryId): void {
    this.#length -= this.pending.get(id)?.bodyJson.length ?? 0;
    this.pending.delete(id);
  }

  /** What comes again is new. */
  forgetIds(integrationId: IntegrationId): void {
    this.#recent.delete(integrationId);
  }

  /** The integration is gone. */
  forget(integrationId: IntegrationId): void {
    this.forgetIds(integrationId);
    for (const delivery of this.pending.values()) {
      if (delivery.integrationId === integrationId) this.done(delivery.id);
    }
  }

  /** What is remembered at `nowMs`, the oldest first. */
  *remembered(
    nowMs: number,
  ): Iterable<{ integrationId: IntegrationId; toolDeliveryId: string; atMs: number; isForMs: number }> {
    for (const [integrationId, recent] of this.#recent) {
      for (const [toolDeliveryId, { atMs, isForMs }] of recent) {
        if (nowMs < atMs + isForMs) yield { integrationId, toolDeliveryId, atMs, isForMs };
      }
    }
  }
}
