/**
 * The hot command, record-events, as msgpack, written and read by hand: it is one in a thousand of the kinds of
 * commands and nearly all of the log. A reader walks the bytes and makes strings only of what apply looks up;
 * what a state window shows of an event stays a slice of bytes, which is copied, not decoded.
 *
 *   [1, tenant id, agent id, [event, …]]
 *
 *   event    [service name, event type, confidence, ttl seconds, timestamp ms or null, raw line or null, details …]
 *   details  vendor, entity, old value, new value, actor, sha     (six fields in a row, the last four or null)
 *
 * Any msgpack reader understands it: strings are fixstr, str8, str16 or str32, integers below 2^32 are
 * positive fixint, uint8, uint16 or uint32, all other numbers float64.
 */
import type { RecordEvents } from '../domain/command.ts';
import { type ContextEvent, EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { AgentId, TenantId } from '../domain/ids.ts';

export const RECORD_EVENTS_CODE = 1;

const EVENT_FIELDS = 12;

/** Bytes that a string takes beyond its UTF-8, and a number in all, at most. */
const OVERHEAD = 9;

export interface Details {
  readonly vendor: string;
  readonly entity: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
}

/** Upper bound of the bytes that a command takes: UTF-8 is at most three bytes a code unit. */
export function maxEncodedBytes({ tenantId, agentId, events }: Omit<RecordEvents, 'type'>): number {
  let total = 3 * (tenantId.length + agentId.length) + 8 * OVERHEAD;
  for (const event of events) {
    const characters =
      event.serviceName.length +
      event.vendor.length +
      event.entity.length +
      lengthOf(event.oldValue) +
      lengthOf(event.newValue) +
      lengthOf(event.actor) +
      lengthOf(event.sha) +
      lengthOf(event.rawLine);
    total += 3 * characters + (EVENT_FIELDS + 1) * OVERHEAD;
  }
  return total;
}

function lengthOf(text: string | null): number {
  return text === null ? 0 : text.length;
}

/** Writes the command at `at`; answers where it ends. */
export function encodeEvents(
  bytes: Buffer,
  at: number,
  tenantId: TenantId,
  agentId: AgentId,
  events: readonly ContextEvent[],
): number {
  let end = at;
  bytes[end++] = 0x94;
  end = writeNumber(bytes, end, RECORD_EVENTS_CODE);
  end = writeText(bytes, end, tenantId);
  end = writeText(bytes, end, agentId);
  end = writeArrayHeader(bytes, end, events.length);
  for (const event of events) {
    end = writeArrayHeader(bytes, end, EVENT_FIELDS);
    end = writeText(bytes, end, event.serviceName);
    end = writeNumber(bytes, end, EVENT_TYPES.indexOf(event.eventType));
    end = writeNumber(bytes, end, event.confidence);
    end = writeNumber(bytes, end, event.ttlSeconds);
    end = event.timestampMs === null ? writeNull(bytes, end) : writeNumber(bytes, end, event.timestampMs);
    end = writeText(bytes, end, event.rawLine);
    end = writeText(bytes, end, event.vendor);
    end = writeText(bytes, end, event.entity);
    end = writeText(bytes, end, event.oldValue);
    end = writeText(bytes, end, event.newValue);
    end = writeText(bytes, end, event.actor);
    end = writeText(bytes, end, event.sha);
  }
  return end;
}

function writeArrayHeader(bytes: Buffer, at: number, length: number): number {
  if (length < 16) {
    bytes[at] = 0x90 | length;
    return at + 1;
  }
  bytes[at] = 0xdc;
  return bytes.writeUInt16BE(length, at + 1);
}

function writeNull(bytes: Buffer, at: number): number {
  bytes[at] = 0xc0;
  return at + 1;
}

function writeNumber(bytes: Buffer, at: number, value: number): number {
  if (value < 128 && value >= 0 && Number.isInteger(value) && !Object.is(value, -0)) {
    bytes[at] = value;
    return at + 1;
  }
  if (value <= 0xffffffff && value >= 0 && Number.isInteger(value) && !Object.is(value, -0)) {
    bytes[at] = 0xce;
    return bytes.writeUInt32BE(value, at + 1);
  }
  bytes[at] = 0xcb;
  return bytes.writeDoubleBE(value, at + 1);
}

function writeText(bytes: Buffer, at: number, text: string | null): number {
  if (text === null) return writeNull(bytes, at);
  // Where three bytes a code unit would still fit the short form, the length is known to fit before it is known.
  if (text.length <= 10) {
    const length = bytes.write(text, at + 1);
    bytes[at] = 0xa0 | length;
    return at + 1 + length;
  }
  if (text.length <= 85) {
    const length = bytes.write(text, at + 2);
    bytes[at] = 0xd9;
    bytes[at + 1] = length;
    return at + 2 + length;
  }
  if (text.length <= 21_845) {
    const length = bytes.write(text, at + 3);
    bytes[at] = 0xda;
    bytes.writeUInt16BE(length, at + 1);
    return at + 3 + length;
  }
  const length = bytes.write(text, at + 5);
  bytes[at] = 0xdb;
  bytes.writeUInt32BE(length, at + 1);
  return at + 5 + length;
}

/**
 * Walks the events of a record-events payload. `next` moves to the next event and fills the fields below; they
 * are good until it is called again. Throws where the bytes are not what `encodeEvents` writes, which a record
 * whose CRC is right never shows.
 */
export class EventCursor {
  readonly bytes: Buffer;
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
  /** Events in all. */
  readonly count: number;
  #at: number;
  #left: number;
  serviceName = '';
  eventType: EventType = EVENT_TYPES[0];
  confidence = 0;
  ttlSeconds = 0;
  timestampMs: number | null = null;
  vendor = '';
  /** The details, in `bytes`. */
  detailsStart = 0;
  detailsEnd = 0;
  #rawLineAt = 0;

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes;
    this.#at = start;
    this.#arrayLength();
    if (this.#number() !== RECORD_EVENTS_CODE) throw new Error('not a record of events');
    this.tenantId = this.#text() as TenantId;
    this.agentId = this.#text() as AgentId;
    this.count = this.#arrayLength();
    this.#left = this.count;
  }

  next(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    if (this.#arrayLength() < EVENT_FIELDS) throw new Error('an event with too few fields');
    this.serviceName = this.#text();
    const eventType = EVENT_TYPES[this.#number()];
    if (eventType === undefined) throw new Error('an event of no known type');
    this.eventType = eventType;
    this.confidence = this.#number();
    this.ttlSeconds = this.#number();
    this.timestampMs = this.bytes[this.#at] === 0xc0 ? this.#null() : this.#number();
    this.#rawLineAt = this.#at;
    this.#skipText();
    this.detailsStart = this.#at;
    this.vendor = this.#text();
    for (let field = 1; field < 6; field += 1) this.#skipText();
    this.detailsEnd = this.#at;
    return true;
  }

  /** The event it is at, as a value. */
  event(): ContextEvent {
    return {
      serviceName: this.serviceName,
      eventType: this.eventType,
      confidence: this.confidence,
      ttlSeconds: this.ttlSeconds,
      timestampMs: this.timestampMs,
      rawLine: textOrNullAt(this.bytes, this.#rawLineAt).text,
      ...readDetails(this.bytes, this.detailsStart),
    };
  }

  #null(): null {
    this.#at += 1;
    return null;
  }

  #arrayLength(): number {
    const head = this.bytes[this.#at++] ?? 0;
    if ((head & 0xf0) === 0x90) return head & 0x0f;
    if (head !== 0xdc) throw new Error('an array was expected');
    const length = this.bytes.readUInt16BE(this.#at);
    this.#at += 2;
    return length;
  }

  #number(): number {
    const head = this.bytes[this.#at++] ?? 0;
    if (head < 0x80) return head;
    if (head === 0xce) {
      this.#at += 4;
      return this.bytes.readUInt32BE(this.#at - 4);
    }
    if (head !== 0xcb) throw new Error('a number was expected');
    this.#at += 8;
    return this.bytes.readDoubleBE(this.#at - 8);
  }

  #text(): string {
    const start = textStart(this.bytes, this.#at);
    const end = start + textLength(this.bytes, this.#at);
    this.#at = end;
    return this.bytes.toString('utf8', start, end);
  }

  #skipText(): void {
    if (this.bytes[this.#at] === 0xc0) this.#at += 1;
    else this.#at = textStart(this.bytes, this.#at) + textLength(this.bytes, this.#at);
  }
}

/** The details that start at a byte. */
export function readDetails(bytes: Buffer, start: number): Details {
  const vendor = textOrNullAt(bytes, start);
  const entity = textOrNullAt(bytes, vendor.end);
  const oldValue = textOrNullAt(bytes, entity.end);
  const newValue = textOrNullAt(bytes, oldValue.end);
  const actor = textOrNullAt(bytes, newValue.end);
  const sha = textOrNullAt(bytes, actor.end);
  return {
    vendor: vendor.text ?? '',
    entity: entity.text ?? '',
    oldValue: oldValue.text,
    newValue: newValue.text,
    actor: actor.text,
    sha: sha.text,
  };
}

function textOrNullAt(bytes: Buffer, at: number): { readonly text: string | null; readonly end: number } {
  if (bytes[at] === 0xc0) return { text: null, end: at + 1 };
  const start = textStart(bytes, at);
  const end = start + textLength(bytes, at);
  return { text: bytes.toString('utf8', start, end), end };
}

function textStart(bytes: Buffer, at: number): number {
  const head = bytes[at] ?? 0;
  if ((head & 0xe0) === 0xa0) return at + 1;
  if (head === 0xd9) return at + 2;
  if (head === 0xda) return at + 3;
  if (head === 0xdb) return at + 5;
  throw new Error('a string was expected');
}

function textLength(bytes: Buffer, at: number): number {
  const head = bytes[at] ?? 0;
  if ((head & 0xe0) === 0xa0) return head & 0x1f;
  if (head === 0xd9) return bytes[at + 1] ?? 0;
  if (head === 0xda) return bytes.readUInt16BE(at + 1);
  return bytes.readUInt32BE(at + 1);
}
