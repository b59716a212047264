/**
 * Commands: everything that changes what Foreshock knows, as it stands in the log. A command holds all that
 * is nondeterministic about it (ids, tokens, key hashes); the log adds the rest, its sequence number and its
 * time. Applying the same commands to an empty state gives the same state, always.
 */
import type { AlertChange, AlertMatch, Candidate } from './alert.ts';
import type { ContextEvent } from './event.ts';
import type { AgentId, AlertId, DeliveryId, IntegrationId, KeyId, OutboundId, TenantId } from './ids.ts';
import type { Direction, IntegrationType } from './integration.ts';
import type { KeyKind } from './key.ts';
import type { AttemptResult } from './outbound.ts';

/** Of one tenant, or making one. */
export type TenantCommand =
  | CreateTenant
  | CreateKeys
  | RevokeKey
  | RegisterAgent
  | Heartbeat
  | RecordEvents
  | CreateIntegration
  | ConfigureIntegration
  | DeleteIntegration
  | RotateToken
  | ReceiveDelivery
  | ProcessDelivery
  | CorrelateAlert
  | MarkAgentStale
  | StartAttempt
  | FinishAttempt;

export type Command = TenantCommand | PassTime;

export type CommandType = Command['type'];

export interface CreateTenant {
  readonly type: 'create-tenant';
  readonly tenantId: TenantId;
  readonly name: string;
}

/** Keys made together: all of them or none. */
export interface CreateKeys {
  readonly type: 'create-keys';
  readonly tenantId: TenantId;
  readonly keys: readonly NewKey[];
}

export interface NewKey {
  readonly keyId: KeyId;
  readonly kind: KeyKind;
  readonly name: string | null;
  /** SHA-256 of the whole key, lower-case hex. */
  readonly hash: string;
}

export interface RevokeKey {
  readonly type: 'revoke-key';
  readonly tenantId: TenantId;
  readonly keyId: KeyId;
}

export interface RegisterAgent {
  readonly type: 'register-agent';
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  readonly keyId: KeyId;
  readonly hostname: string;
  /** Null where the call gave none: the name then follows the hostname, or stays as it was given before. */
  readonly name: string | null;
  /** Null where the call gave none: an agent keeps the version it gave before. */
  readonly version: string | null;
}

export interface Heartbeat {
  readonly type: 'heartbeat';
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
}

/** What a sender calls a request that it may send again, and what was in it. */
export interface Idempotency {
  /** Idempotency-Key */
  readonly key: string;
  /** Half of the SHA-256 of what was sent, lower-case hex. */
  readonly payloadHash: string;
}

/** One event or a batch of them: a batch is one record, taken whole or not at all. */
export interface RecordEvents {
  readonly type: 'record-events';
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  readonly events: readonly ContextEvent[];
  readonly idempotency?: Idempotency;
}

export interface CreateIntegration {
  readonly type: 'create-integration';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
  readonly integrationType: IntegrationType;
  readonly direction: Direction;
  readonly token: string;
}

export interface ConfigureIntegration {
  readonly type: 'configure-integration';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
  /** The new config, a JSON object as text: its keys are the tenant's, so no codec may touch them. */
  readonly configJson: string;
}

export interface DeleteIntegration {
  readonly type: 'delete-integration';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
}

export interface RotateToken {
  readonly type: 'rotate-token';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
  readonly token: string;
}

/** An inbound webhook call, kept as it came. */
export interface ReceiveDelivery {
  readonly type: 'receive-delivery';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
  readonly deliveryId: DeliveryId;
  /** The tool's own id of the delivery, the same on its retries; null where the tool has none. */
  readonly toolDeliveryId: string | null;
  readonly bodyJson: string;
}

/** What a delivery that was received comes to: worked out beside the log, decided by being in it. */
export interface ProcessDelivery {
  readonly type: 'process-delivery';
  readonly tenantId: TenantId;
  readonly integrationId: IntegrationId;
  readonly deliveryId: DeliveryId;
  readonly changes: readonly AlertChange[];
}

/** The causes of an alert, looked for again when events that were late have come. */
export interface CorrelateAlert {
  readonly type: 'correlate-alert';
  readonly tenantId: TenantId;
  readonly alertId: AlertId;
  /** Null leaves it as it was. */
  readonly match: AlertMatch | null;
  readonly candidates: readonly Candidate[];
}

export interface MarkAgentStale {
  readonly type: 'mark-agent-stale';
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  /** When it was last seen as far as was known: where it has been seen since, it is not stale. */
  readonly lastSeenAtMs: number;
}

/** Logged before anything is sent: after a crash it is known that it may have been. */
export interface StartAttempt {
  readonly type: 'start-attempt';
  readonly tenantId: TenantId;
  readonly outboundId: OutboundId;
}

export interface FinishAttempt {
  readonly type: 'finish-attempt';
  readonly tenantId: TenantId;
  readonly outboundId: OutboundId;
  readonly result: AttemptResult;
}

/**
 * Nothing has happened but that time has passed, and readers have seen it pass. Logged when the server stops: what
 * they saw expire stays expired, also where the clock has been set back by the next start.
 */
export interface PassTime {
  readonly type: 'pass-time';
}

/** What the log gives a command when it is appended. */
export interface Stamp {
  /** 1 for the first command of a log; no gaps. */
  readonly sequence: number;
  /** Milliseconds since the epoch; never before the time of an earlier command. */
  readonly atMs: number;
}
