/** Services and their state windows as JSON. */
import type { Service } from '../commands/state.ts';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { TenantId } from '../domain/ids.ts';
import type { WindowEvent } from '../domain/window.ts';
import { closeObject, isoTime, openObject } from './json.ts';

/** The part of a list entry that never changes. */
export function serviceRow(tenantId: TenantId, { actor }: Service): string {
  const { id, name } = actor.context;
  return openObject({ id, tenant_id: tenantId, name });
}

export function serviceEntry(row: string, { actor }: Service): string {
  const { agentId, lastEventAtMs } = actor.context;
  return closeObject(row, { agent_id: agentId, last_event_at: isoTime(lastEventAtMs) });
}

/** Live events as of `nowMs`, by type, newest first. */
export function windowJson({ actor, window }: Service, nowMs: number): string {
  const { name, updatedAtMs } = actor.context;
  const { events, truncated } = window.read(nowMs);
  const byType = new Map<EventType, object[]>(EVENT_TYPES.map((type) => [type, []]));
  for (const event of events) byType.get(event.eventType)?.push(windowEvent(event));
  return JSON.stringify({
    service: name,
    ...Object.fromEntries([...byType].map(([type, group]) => [`${type}_events`, group])),
    updated_at: isoTime(updatedAtMs),
    ...(truncated ? { truncated } : {}),
  });
}

function windowEvent(event: WindowEvent): object {
  return {
    event_type: event.eventType,
    vendor: event.vendor,
    entity: event.entity,
    old_value: event.oldValue,
    new_value: event.newValue,
    timestamp: isoTime(event.timestampMs),
    actor: event.actor,
    sha: event.sha,
    confidence: event.confidence,
    expires_at: isoTime(event.expiresAtMs),
  };
}
