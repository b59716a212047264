/** What is sent to alerting tools, and how far it has come. */
import type { PastEvent } from './alert.ts';
import { type AgentId, type AlertId, type IntegrationId, type OutboundId, outboundIdOf } from './ids.ts';

export const OUTBOUND_STATES = ['queued', 'sending', 'waiting', 'delivered', 'dead-lettered'] as const;
export type OutboundState = (typeof OUTBOUND_STATES)[number];

/** An agent that is not heard of, as it was called when that began: what ends an alert must name it alike. */
export interface StaleAgentFacts {
  readonly id: AgentId;
  readonly name: string;
  readonly hostname: string;
  readonly lastSeenAtMs: number;
  readonly staleSinceMs: number;
}

export type OutboundSubject =
  /** What changed before an alert, as a note on its incident. The text is made when it is sent. */
  | { readonly type: 'note'; readonly alertId: AlertId; readonly incident: string }
  | { readonly type: 'change-event'; readonly event: PastEvent }
  | { readonly type: 'agent-stale'; readonly agent: StaleAgentFacts }
  | { readonly type: 'agent-returned'; readonly agent: StaleAgentFacts; readonly returnedAtMs: number };

export interface OutboundDelivery {
  readonly id: OutboundId;
  readonly integrationId: IntegrationId;
  readonly subject: OutboundSubject;
  readonly queuedAtMs: number;
  readonly updatedAtMs: number;
  /** Since it was queued last. */
  readonly attempts: number;
  readonly firstAttemptAtMs: number | null;
  /** The next attempt is not made before. */
  readonly notBeforeMs: number;
  /** What became of the last attempt, for whom the integration belongs to. */
  readonly detail: string | null;
  /** The note that was made. */
  readonly noteId: string | null;
  /** An attempt may have made the note without our hearing of it: it is looked for before another is made. */
  readonly isInDoubt: boolean;
  /** What is to be said has changed while it was being sent. */
  readonly isOutdated: boolean;
}

export type AttemptResult =
  | { readonly type: 'delivered'; readonly noteId: string | null; readonly detail: string }
  | {
      readonly type: 'retry';
      readonly notBeforeMs: number;
      readonly isInDoubt: boolean;
      readonly detail: string;
    }
  /** The note that was to be updated is not there any more: another is made. */
  | { readonly type: 'gone'; readonly detail: string }
  | { readonly type: 'dead'; readonly detail: string };

/** Of the alarm that an agent is silent, and of its end: one of each for a spell of silence. */
export function alarmIdOf(
  integration: IntegrationId,
  kind: 'stale' | 'returned',
  { id, staleSinceMs }: Pick<StaleAgentFacts, 'id' | 'staleSinceMs'>,
): OutboundId {
  return outboundIdOf(integration, `${kind} ${id} ${staleSinceMs}`);
}
