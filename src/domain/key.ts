/**
 * API keys as the system knows them: never the secret, only its SHA-256. A key is also who is calling: the
 * value that a tenant's data is reached through.
 */
import type { AgentId, KeyId, TenantId } from './ids.ts';

export const KEY_KINDS = ['ingest', 'read-only'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export interface ApiKey {
  readonly id: KeyId;
  readonly tenantId: TenantId;
  readonly kind: KeyKind;
  /** The one agent that an ingest key identifies, registered or not; derived, see `agentIdOf`. */
  readonly agentId: AgentId;
  /** That agent has registered; nothing takes it back. */
  isRegistered: boolean;
  /** What the operator calls it; null where no name was given. */
  readonly name: string | null;
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}
