/** How events are read: the form stands at the top of encoding.ts. */
import type { Idempotency } from '../domain/command.ts';
import type { RecordEncodedEvents } from '../domain/encoded-events.ts';
import { type ContextEvent, EVENT_TYPES, type EventType } from '../domain/event.ts';
import type { AgentId, TenantId } from '../domain/ids.ts';
import { TextCache } from '../lib/text-cache.ts';
import { EVENT_FIELDS, encodeEvents, maxEncodedBytes, RECORD_EVENTS_CODE } from './encoding.ts';

export interface Details {
  readonly vendor: string;
  readonly entity: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
}

const UNKEYED_FIELDS = 4;

/** Ids and names come again and again. */
const ids = new TextCache(65_536);
const names = new TextCache(131_072);

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
  /** The request had an Idempotency-Key. */
  readonly isKeyed: boolean;
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
    this.isKeyed = this.#arrayLength() > UNKEYED_FIELDS;
    if (this.#number() !== RECORD_EVENTS_CODE) throw new Error('not a record of events');
    this.tenantId = this.#text(ids) as TenantId;
    this.agentId = this.#text(ids) as AgentId;
    this.count = this.#arrayLength();
    this.#left = this.count;
  }

  next(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    if (this.#arrayLength() < EVENT_FIELDS) throw new Error('an event with too few fields');
    this.serviceName = this.#text(names);
    const eventType = EVENT_TYPES[this.#number()];
    if (eventType === undefined) throw new Error('an event of no known type');
    this.eventType = eventType;
    this.confidence = this.#number();
    this.ttlSeconds = this.#number();
    this.timestampMs = this.bytes[this.#at] === 0xc0 ? this.#null() : this.#number();
    this.#rawLineAt = this.#at;
    this.#skipText();
    this.detailsStart = this.#at;
    this.vendor = this.#text(names);
    for (let field = 1; field < 6; field += 1) this.#skipText();
    this.detailsEnd = this.#at;
    return true;
  }

  /** Moves past the next event without reading it: 20 ns, where `next` takes 100 and more. */
  skip(): void {
    if (this.#left === 0) throw new Error('there is no event to be passed over');
    this.#left -= 1;
    for (let field = this.#arrayLength(); field > 0; field -= 1) {
      const head = this.bytes[this.#at] ?? 0;
      if (head < 0x80) this.#at += 1;
      else if (head === 0xce) this.#at += 5;
      else if (head === 0xcb) this.#at += 9;
      else this.#skipText();
    }
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

  /** Behind the last event, where `next` has answered false. */
  idempotency(): Idempotency | undefined {
    if (!this.isKeyed || this.#left > 0) return undefined;
    const key = textOrNullAt(this.bytes, this.#at);
    const payloadHash = textOrNullAt(this.bytes, key.end);
    return { key: key.text ?? '', payloadHash: payloadHash.text ?? '' };
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

  #text(cache: TextCache): string {
    const start = textStart(this.bytes, this.#at);
    const end = start + textLength(this.bytes, this.#at);
    this.#at = end;
    return cache.read(this.bytes, start, end);
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

/** The Idempotency-Key of a record of events that has one, found by walking past its events. */
export function idempotencyIn(bytes: Buffer, start: number): Idempotency | undefined {
  const cursor = new EventCursor(bytes, start);
  while (cursor.next());
  return cursor.idempotency();
}

/** Of events that are to be logged. Encodes them once more: to be asked seldom. */
export function* serviceNamesIn({ tenantId, agentId, events }: RecordEncodedEvents): Iterable<string> {
  const bytes = Buffer.allocUnsafe(maxEncodedBytes({ tenantId, agentId, events }));
  encodeEvents(bytes, 0, tenantId, agentId, events);
  const cursor = new EventCursor(bytes, 0);
  while (cursor.next()) yield cursor.serviceName;
}
