/**
 * Idempotency keys: what agents call requests that they may send again. A request whose key and payload are known has
 * been carried out; one whose key is known with another payload is a mistake of the sender's.
 *
 * A key is an agent's own, and good for a day. Keys are bounded, of a tenant and in all, and the oldest leave first;
 * the bounds are no settings, since what is forgotten must be the same at every replay.
 */
import type { Idempotency } from '../domain/command.ts';
import type { AgentId, TenantId } from '../domain/ids.ts';
import { KEY_REUSED, type Rejection } from '../domain/rejection.ts';

const GOOD_FOR_MS = 24 * 3600 * 1000;
/** About 300 bytes each. */
const MAX_KEYS_OF_TENANT = 100_000;
const MAX_KEYS = 400_000;

export interface Replayed {
  readonly type: 'replayed';
}

const REPLAYED: Replayed = { type: 'replayed' };

export interface KnownKey extends Idempotency {
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  /** When the request was carried out. */
  readonly atMs: number;
}

export interface KeyBounds {
  readonly maxKeysOfTenant: number;
  readonly maxKeys: number;
}

export class IdempotencyKeys {
  readonly #bounds: KeyBounds;
  /** By agent and key, the oldest first. */
  readonly #known = new Map<string, KnownKey>();
  readonly #ofTenant = new Map<TenantId, Set<string>>();

  constructor(bounds: KeyBounds = { maxKeysOfTenant: MAX_KEYS_OF_TENANT, maxKeys: MAX_KEYS }) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#known.size;
  }

  /** What a request with this key comes to where it is known; undefined where it is to be carried out. */
  verdict(
    agentId: AgentId,
    { key, payloadHash }: Idempotency,
    nowMs: number,
  ): Replayed | Rejection | undefined {
    const known = this.#known.get(nameOf(agentId, key));
    if (known === undefined || isOver(known, nowMs)) return undefined;
    return known.payloadHash === payloadHash ? REPLAYED : KEY_REUSED;
  }

  /** The request is being carried out. */
  remember(known: KnownKey): void {
    const name = nameOf(known.agentId, known.key);
    this.#forget(name);
    this.#known.set(name, known);
    let own = this.#ofTenant.get(known.tenantId);
    if (own === undefined) {
      own = new Set();
      this.#ofTenant.set(known.tenantId, own);
    }
    own.add(name);
    if (own.size > this.#bounds.maxKeysOfTenant) this.#forgetOldest(own);
    if (this.#known.size > this.#bounds.maxKeys) this.#forgetOldest(this.#known);
    this.#forgetOver(known.atMs);
  }

  /** Those that are good at `nowMs`, the oldest first: remembered in this order they are the same again. */
  *entries(nowMs: number): Iterable<KnownKey> {
    for (const known of this.#known.values()) if (!isOver(known, nowMs)) yield known;
  }

  /** They stand in the order of their times. */
  #forgetOver(nowMs: number): void {
    for (const [name, known] of this.#known) {
      if (!isOver(known, nowMs)) return;
      this.#forget(name);
    }
  }

  #forgetOldest(names: Pick<Set<string>, 'keys'>): void {
    const [oldest] = names.keys();
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    this.#known.delete(name);
    const own = this.#ofTenant.get(known.tenantId);
    own?.delete(name);
    if (own?.size === 0) this.#ofTenant.delete(known.tenantId);
  }
}

/** The first millisecond at which the key is as good as new. */
function isOver({ atMs }: KnownKey, nowMs: number): boolean {
  return nowMs >= atMs + GOOD_FOR_MS;
}

function nameOf(agentId: AgentId, key: string): string {
  return `${agentId} ${key}`;
}
