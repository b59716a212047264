import type { ServiceLogRequest } from '../../src/queries/service-log.ts';

/** The page of a service's event log that is asked for, of all its events that match, the newest first. */
export function serviceLogPage<Event extends { readonly id: string }>(
  log: readonly Event[],
  { perPage, before }: ServiceLogRequest,
): object {
  // Ids sort by receipt.
  const older = log.filter((event) => before === null || event.id < before);
  const events = older.slice(0, perPage);
  return {
    events,
    per_page: perPage,
    next_before: older.length > perPage ? (events.at(-1)?.id ?? null) : null,
  };
}
