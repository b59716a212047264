/** Services and their state windows as JSON. */
import type { Service } from '../commands/services.ts';
import type { State } from '../commands/state.ts';
import { EVENT_TYPES } from '../domain/event.ts';
import { DetailsTexts } from '../events/details.ts';
import type { LiveEvent, LiveEvents } from '../windows/live-events.ts';
import { closeObject, isoTime, openObject } from './json.ts';
import { JsonWriter, jsonPart } from './json-writer.ts';
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
  const truncatedUntilMs = live.truncatedUntilMs(window);
  const isTruncated = nowMs < truncatedUntilMs;
  let untilMs = isTruncated ? truncatedUntilMs : Number.POSITIVE_INFINITY;
  for (const { expiresAtMs } of events) untilMs = Math.min(untilMs, expiresAtMs);
  json.begin();
  json.part(SERVICE);
  json.value(name);
  for (const group of GROUPS) writeGroup(group, events);
  json.part(UPDATED_AT);
  json.time(context.updatedAtMs);
  json.part(isTruncated ? TRUNCATED_END : END);
  return { json: json.finish(), fromMs: nowMs, untilMs };
}

const json = new JsonWriter();
const texts = new DetailsTexts();

const SERVICE = jsonPart('{"service":');
/** Of each type of event, in which order they are told. */
const GROUPS = EVENT_TYPES.map((type) => ({
  type,
  begin: jsonPart(`,"${type}_events":[`),
  eventBegin: jsonPart(`{"event_type":"${type}","vendor":`),
}));
const COMMA = jsonPart(',');
const GROUP_END = jsonPart(']');
const ENTITY = jsonPart(',"entity":');
const OLD_VALUE = jsonPart(',"old_value":');
const NEW_VALUE = jsonPart(',"new_value":');
const TIMESTAMP = jsonPart(',"timestamp":');
const ACTOR = jsonPart(',"actor":');
const SHA = jsonPart(',"sha":');
const CONFIDENCE = jsonPart(',"confidence":');
const EXPIRES_AT = jsonPart(',"expires_at":');
const NULL = jsonPart('null');
const UPDATED_AT = jsonPart(',"updated_at":');
const END = jsonPart('}');
const TRUNCATED_END = jsonPart(',"truncated":true}');

function writeGroup(
  { type, begin, eventBegin }: (typeof GROUPS)[number],
  events: readonly LiveEvent[],
): void {
  json.part(begin);
  let isFirst = true;
  for (const event of events) {
    if (event.eventType !== type) continue;
    if (!isFirst) json.part(COMMA);
    isFirst = false;
    json.part(eventBegin);
    writeEvent(event);
  }
  json.part(GROUP_END);
}

/** From its vendor on. */
function writeEvent({ timestampMs, expiresAtMs, confidence, details }: LiveEvent): void {
  texts.begin(details);
  writeText();
  json.part(ENTITY);
  writeText();
  json.part(OLD_VALUE);
  writeText();
  json.part(NEW_VALUE);
  writeText();
  json.part(TIMESTAMP);
  json.time(timestampMs);
  json.part(ACTOR);
  writeText();
  json.part(SHA);
  writeText();
  json.part(CONFIDENCE);
  json.number(confidence);
  json.part(EXPIRES_AT);
  json.time(expiresAtMs);
  json.part(END);
}

function writeText(): void {
  if (texts.next()) json.string(texts.view, texts.start, texts.end);
  else json.part(NULL);
}
