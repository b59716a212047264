/** What a reader wants to be told of: all of its tenant, or what is of one service, one event type, or both. */
import type { EventType } from '../domain/event.ts';

export interface StreamFilter {
  readonly service: string | null;
  readonly eventType: EventType | null;
}

/** What of a message a filter looks at; null where it has none, which only a filter that does not ask lets through. */
export interface Traits {
  readonly service: string | null;
  readonly eventType: EventType | null;
}

export function lets(filter: StreamFilter, { service, eventType }: Traits): boolean {
  if (filter.service !== null && filter.service !== service) return false;
  return filter.eventType === null || filter.eventType === eventType;
}
