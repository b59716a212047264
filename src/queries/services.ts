/** Services and their state windows as JSON. */
import type { Service } from '../commands/services.ts';
import type { State } from '../commands/state.ts';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { readDetails } from '../events/cursor.ts';
import type { LiveEvent, LiveEvents } from '../windows/live-events.ts';
import { closeObject, isoTime, openObject } from './json.ts';
import type { WindowAnswer } from './window-cache.ts';

/** The part of a list entry that never changes. */
export function serviceRow({ tenant, id, name }: Service): string {
  return openObject({ id, tenant_id: tenant.id, name });
}

export function serviceEntry(row: string, { context }: Service, state: State): string {
  const { agent, lastEventAtMs } = context;
  return closeObject(row, {
    agent_id: state.agents.at(agent).identity.id,
    last_event_at: isoTime(lastEventAtMs),
  });
}

/** Live events as of `nowMs`, by type, newest first, and until when nothing of it expires. */
export function windowAnswer(
  live: LiveEvents<unknown>,
  { name, window, context }: Service,
  nowMs: number,
): WindowAnswer {
  // Of equal times the one received last comes first: so they come, and sorting is stable.
  const events = [...live.live(window, nowMs)].sort((a, b) => b.timestampMs - a.timestampMs);
  const byType = new Map<EventType, object[]>(EVENT_TYPES.map((type) => [type, []]));
  for (const event of events) byType.get(event.eventType)?.push(windowEvent(event));
  const truncatedUntilMs = live.truncatedUntilMs(window);
  const isTruncated = nowMs < truncatedUntilMs;
  let untilMs = isTruncated ? truncatedUntilMs : Number.POSITIVE_INFINITY;
  for (const { expiresAtMs } of events) untilMs = Math.min(untilMs, expiresAtMs);
  const json = JSON.stringify({
    service: name,
    ...Object.fromEntries([...byType].map(([type, group]) => [`${type}_events`, group])),
    updated_at: isoTime(context.updatedAtMs),
    ...(isTruncated ? { truncated: true } : {}),
  });
  return { json: ownBytes(json), fromMs: nowMs, untilMs };
}

/** In memory of its own: a slice of Node's pool would keep the whole pool alive. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function windowEvent({ eventType, timestampMs, expiresAtMs, confidence, details }: LiveEvent): object {
  const { vendor, entity, oldValue, newValue, actor, sha } = readDetails(details, 0);
  return {
    event_type: eventType,
    vendor,
    entity,
    old_value: oldValue,
    new_value: newValue,
    timestamp: isoTime(timestampMs),
    actor,
    sha,
    confidence,
    expires_at: isoTime(expiresAtMs),
  };
}
