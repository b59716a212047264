/** What the page knows, as the API tells it. */
import type * as wire from '../client/wire.ts';

export type {
  Candidate,
  Delivery,
  EventType,
  Integration,
  IntegrationConfig,
  Service,
} from '../client/wire.ts';

export const EVENT_TYPES = [
  'deploy',
  'flag_change',
  'restart',
  'saturation',
  'circuit_open',
  'dependency_failure',
] as const satisfies readonly wire.EventType[];

/** The stream tells of an agent without the events of its last hour. */
export type Agent = Omit<wire.AgentEntry, 'events_last_hour'> &
  Partial<Pick<wire.AgentEntry, 'events_last_hour'>>;

/** A list tells of an alert without what it may be due to, and what was posted of it. */
export type Alert = wire.AlertSummary & Partial<Pick<wire.Alert, 'candidates' | 'deliveries'>>;

/** An event as a window, an event log, a candidate or the stream has it: not all have all of it. */
export type EventFields = wire.WindowEvent &
  Partial<Pick<wire.StoredEvent, 'id' | 'service_name' | 'received_at'>> & { readonly agent_id?: string };

/** Of a service, in the page's store. */
export type ServiceEvent = EventFields & {
  readonly key: string;
  readonly service_id: string;
  readonly fromMs: number;
  readonly untilMs: number;
};

/** What became of asking for something. */
export interface Load {
  readonly state: 'loading' | 'loaded' | 'missing' | 'failed';
  /** The server's sentence where it failed. */
  readonly detail: string;
  readonly endedAtMs: number;
}

/** How far back the event log of a service is known. */
export interface Past {
  /** Receipt of the oldest event that is loaded; undefined before there is one. */
  readonly oldestMs: number | undefined;
  /** Where to go on; null at the end of the log. */
  readonly before: string | null;
  /** Pages that were loaded. */
  readonly pages: number;
  /** As much of it is kept as can be. */
  readonly isFull: boolean;
}

export function typeName(type: string): string {
  return type.replaceAll('_', ' ');
}
