/**
 * What a window shows, as JSON in the making: in steps, since 10 000 events take 6 to 10 ms, in which nobody else would be
 * answered. It is of the moment at which it was begun, whatever comes and goes meanwhile: of a window that is not written
 * at once, what it shows is copied first.
 */
import type { Service } from '../commands/services.ts';
import { EVENT_TYPES } from '../domain/event.ts';
import { DetailsTexts } from '../events/details.ts';
import type { Clock } from '../lib/clock.ts';
import type { LiveEvent, LiveEvents } from '../windows/live-events.ts';
import { JsonWriter, jsonPart } from './json-writer.ts';
import type { Making } from './lister.ts';
import type { WindowCache } from './window-cache.ts';

export interface WindowJsonOptions {
  readonly live: LiveEvents<unknown>;
  readonly cache: WindowCache;
  readonly time: Pick<Clock, 'now'>;
}

/** What is written, and how far that has come. */
interface Begun {
  readonly json: JsonWriter;
  /** By type, of each the newest first. */
  readonly events: readonly LiveEvent[];
  readonly updatedAtMs: number;
  readonly isTruncated: boolean;
  /** Of the window, when it was begun. */
  readonly inserted: number;
  readonly fromMs: number;
  /** Nothing of it expires before. */
  readonly untilMs: number;
  /** The event that is written next. */
  next: number;
  /** The type whose events are being written, by its place; before the first, -1. */
  group: number;
}

export class WindowJson implements Making {
  readonly #options: WindowJsonOptions;
  readonly #service: Service;
  #begun: Begun | undefined;

  constructor(options: WindowJsonOptions, service: Service) {
    this.#options = options;
    this.#service = service;
  }

  get name(): string {
    return `${this.#service.tenant.id}/${this.#service.id}`;
  }

  get length(): number {
    const { live } = this.#options;
    return live.sizeOf(this.#service.window);
  }

  advance(events: number): Buffer | undefined {
    this.#begun ??= this.#begin(this.length > events);
    const begun = this.#begun;
    const end = Math.min(begun.events.length, begun.next + events);
    for (; begun.next < end; begun.next += 1) writeNext(begun);
    if (end < begun.events.length) return undefined;
    const json = finish(begun);
    const { inserted, fromMs, untilMs } = begun;
    this.#options.cache.keep(this.#service.window, { json, inserted, fromMs, untilMs });
    return json;
  }

  #begin(goesOn: boolean): Begun {
    const { live, time } = this.#options;
    const { name, window, context } = this.#service;
    const nowMs = time.now();
    // Of equal times the one received last comes first: so they come, and sorting is stable.
    const events = [...live.live(window, nowMs)].sort(
      (a, b) => a.type - b.type || b.timestampMs - a.timestampMs,
    );
    const truncatedUntilMs = live.truncatedUntilMs(window);
    const isTruncated = nowMs < truncatedUntilMs;
    let untilMs = isTruncated ? truncatedUntilMs : Number.POSITIVE_INFINITY;
    for (const { expiresAtMs } of events) untilMs = Math.min(untilMs, expiresAtMs);
    const json = goesOn ? new JsonWriter() : shared;
    json.begin();
    json.part(SERVICE);
    json.value(name);
    return {
      json,
      events: goesOn ? copied(events) : events,
      updatedAtMs: context.updatedAtMs,
      isTruncated,
      inserted: live.insertedInto(window),
      fromMs: nowMs,
      untilMs,
      next: 0,
      group: -1,
    };
  }
}

/** Of all that are written at once. */
const shared = new JsonWriter();
const texts = new DetailsTexts();

/** In memory of their own: the arena's is good only as long as they stay. */
function copied(events: readonly LiveEvent[]): LiveEvent[] {
  const details = Buffer.concat(events.map((event) => event.details));
  let at = 0;
  return events.map((event) => {
    const start = at;
    at += event.details.length;
    return { ...event, details: details.subarray(start, at) };
  });
}

const SERVICE = jsonPart('{"service":');
/** In the order in which they are told. */
const GROUPS = EVENT_TYPES.map((type) => ({
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

/** The next event, and its group's beginning where it is the first. */
function writeNext(begun: Begun): void {
  const event = begun.events[begun.next];
  if (event === undefined) return;
  if (begun.group === event.type) begun.json.part(COMMA);
  else beginGroups(begun, event.type);
  writeEvent(begun.json, event);
}

/** Ends the group that is being written, and begins those up to one: empty ones, but for the last. */
function beginGroups(begun: Begun, upTo: number): void {
  for (const { begin } of GROUPS.slice(begun.group + 1, upTo + 1)) {
    if (begun.group >= 0) begun.json.part(GROUP_END);
    begun.json.part(begin);
    begun.group += 1;
  }
}

function finish(begun: Begun): Buffer {
  beginGroups(begun, GROUPS.length - 1);
  const { json, updatedAtMs, isTruncated } = begun;
  json.part(GROUP_END);
  json.part(UPDATED_AT);
  json.time(updatedAtMs);
  json.part(isTruncated ? TRUNCATED_END : END);
  return json.finish();
}

function writeEvent(json: JsonWriter, event: LiveEvent): void {
  const { type, timestampMs, expiresAtMs, confidence, details } = event;
  texts.begin(details);
  json.part(GROUPS[type]?.eventBegin ?? NULL);
  writeText(json);
  json.part(ENTITY);
  writeText(json);
  json.part(OLD_VALUE);
  writeText(json);
  json.part(NEW_VALUE);
  writeText(json);
  json.part(TIMESTAMP);
  json.time(timestampMs);
  json.part(ACTOR);
  writeText(json);
  json.part(SHA);
  writeText(json);
  json.part(CONFIDENCE);
  json.number(confidence);
  json.part(EXPIRES_AT);
  json.time(expiresAtMs);
  json.part(END);
}

function writeText(json: JsonWriter): void {
  if (texts.next()) json.string(texts.view, texts.start, texts.end);
  else json.part(NULL);
}
