/** The state window of a service: what is still relevant of what happened to it. */
import type { EventType } from './event.ts';

export interface WindowEvent {
  readonly eventType: EventType;
  readonly vendor: string;
  readonly entity: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly timestampMs: number;
  readonly actor: string | null;
  readonly sha: string | null;
  readonly confidence: number;
  readonly expiresAtMs: number;
}

export interface StateWindow {
  /** Newest timestamp first; of equal timestamps the one received last comes first. */
  readonly events: readonly WindowEvent[];
  /** True while an event that would still be live had to leave for want of room. */
  readonly truncated: boolean;
}
