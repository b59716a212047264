/**
 * API keys as the system knows them: never the secret, only its SHA-256. A key is also who is calling: the
 * value that a tenant's data is reached through.
 */
import type { AgentId, KeyId, TenantId } from './ids.ts';

export const KEY_KINDS = ['ingest', 'read-only'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const NOT_REGISTERED = -1;

export interface ApiKey {
  readonly id: KeyId;
  readonly tenantId: TenantId;
  readonly kind: KeyKind;
  /** The one agent that an ingest key identifies, registered or not; derived, see `agentIdOf`. */
  readonly agentId: AgentId;
  /** Where the state has the ids of tenant and agent as bytes; NOT_REGISTERED until it registers, which nothing takes back. */
  idsRow: number;
  /** What the operator calls it; null where no name was given. */
  readonly name: string | null;
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

export function hasRegistered({ idsRow }: ApiKey): boolean {
  return idsRow !== NOT_REGISTERED;
}
