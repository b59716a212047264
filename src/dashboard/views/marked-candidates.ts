/** The candidates of an alert among the events of a timeline. */
import type { Candidate, ServiceEvent } from '../model.ts';

export interface Marked {
  readonly ranks: ReadonlyMap<string, number>;
  /** Of other services. */
  readonly others: readonly ServiceEvent[];
  /** Each candidate's event. */
  readonly events: readonly ServiceEvent[];
}

/** Of the candidates those that are known, by rank; and those of other services, which are shown beside them. */
export function candidatesAmong(
  known: readonly ServiceEvent[],
  candidates: readonly Candidate[],
  service: string | undefined,
): Marked {
  const ranks = new Map<string, number>();
  const others: ServiceEvent[] = [];
  const events = candidates.map(({ event }, index) => {
    const same =
      event.service_name === service
        ? (known.find(({ id }) => id !== undefined && id === event.id) ??
          // A window tells no ids.
          known.find(
            (each) =>
              each.id === undefined &&
              each.event_type === event.event_type &&
              each.vendor === event.vendor &&
              each.entity === event.entity &&
              each.old_value === event.old_value &&
              each.new_value === event.new_value &&
              each.timestamp === event.timestamp &&
              each.expires_at === event.expires_at,
          ))
        : undefined;
    const fromMs = Date.parse(event.received_at ?? event.timestamp);
    const untilMs = Date.parse(event.expires_at);
    const marked = same ?? { ...event, key: `candidate ${event.id}`, service_id: '', fromMs, untilMs };
    if (same === undefined) others.push(marked);
    if (!ranks.has(marked.key)) ranks.set(marked.key, index + 1);
    return marked;
  });
  return { ranks, others, events };
}
