/** Query parameters that lists have in common. */
import { type EventType, isEventType } from '../domain/event.ts';
import { badInput, type Rejection } from '../domain/rejection.ts';

export interface Page {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

const PER_PAGE = [10, 20, 50, 100];
const INTEGER = /^\d{1,15}$/;

export function pageIn(query: URLSearchParams): Page | Rejection {
  const perPage = perPageIn(query);
  if (typeof perPage !== 'number') return perPage;
  const page = integer(query.get('page') ?? '1');
  if (page === undefined || page < 1) return badInput('page must be an integer from 1');
  return { page, perPage };
}

export function perPageIn(query: URLSearchParams): number | Rejection {
  const perPage = integer(query.get('per_page') ?? '10');
  if (perPage !== undefined && PER_PAGE.includes(perPage)) return perPage;
  return badInput(`per_page must be one of ${PER_PAGE.join(', ')}`);
}

export function eventTypeIn(query: URLSearchParams): EventType | null | Rejection {
  const eventType = filterIn(query, 'event_type');
  if (eventType === null || isEventType(eventType)) return eventType;
  return badInput('event_type must be one of the event types');
}

/** A filter left empty, as a form sends it, is a filter not set. */
export function filterIn(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null;
}

function integer(text: string): number | undefined {
  return INTEGER.test(text) ? Number(text) : undefined;
}
