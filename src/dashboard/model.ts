/** What the page knows, as the API tells it. */

export const EVENT_TYPES = [
  'deploy',
  'flag_change',
  'restart',
  'saturation',
  'circuit_open',
  'dependency_failure',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface Service {
  readonly id: string;
  readonly name: string;
  readonly agent_id: string;
  readonly last_event_at: string;
}

export interface Agent {
  readonly id: string;
  readonly hostname: string;
  readonly name: string;
  readonly agent_version: string | null;
  readonly last_seen_at: string;
  readonly status: 'live' | 'stale';
  readonly events_last_hour?: number;
}

/** An event as a window, an event log, a candidate or the stream has it: not all have all of it. */
export interface EventFields {
  readonly id?: string;
  readonly agent_id?: string;
  readonly service_name?: string;
  readonly event_type: EventType;
  readonly vendor: string;
  readonly entity: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
  readonly confidence: number;
  readonly timestamp: string;
  readonly received_at?: string;
  readonly expires_at: string;
}

export interface Candidate {
  readonly minutes_before: number;
  readonly score: number;
  readonly reasons: readonly string[];
  readonly occurrences: number;
  readonly event: EventFields & { readonly service_name: string };
}

export interface Alert {
  readonly id: string;
  readonly integration_id: string;
  readonly type: string;
  readonly title: string;
  readonly severity: string | null;
  readonly url: string | null;
  readonly status: 'firing' | 'resolved';
  readonly started_at: string;
  readonly received_at: string;
  readonly resolved_at: string | null;
  readonly service: string | null;
  readonly service_id: string | null;
  readonly matched_by: { readonly source: string; readonly via: string } | null;
  readonly unmatched_reason: string | null;
  readonly candidate_count: number;
  readonly candidates?: readonly Candidate[];
  readonly deliveries?: readonly Delivery[];
}

export interface Delivery {
  readonly id: string;
  readonly integration_id: string;
  readonly kind: string;
  readonly alert_id: string | null;
  readonly state: string;
  readonly attempts: number;
  readonly updated_at: string;
  readonly detail: string | null;
}

export interface Integration {
  readonly id: string;
  readonly type: string;
  readonly direction: string;
  readonly webhook_url: string;
  readonly created_at: string;
}

/** Of a service, in the page's store. */
export interface ServiceEvent extends EventFields {
  readonly key: string;
  readonly service_id: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export function typeName(type: string): string {
  return type.replaceAll('_', ' ');
}
