/** How events are read: the form stands at the top of encoding.ts. */
import type { Idempotency } from '../domain/command.ts';
import type { EncodedEvents } from '../domain/encoded-events.ts';
import { type ContextEvent, EVENT_TYPES, type EventType } from '../domain/event.ts';
import { type AgentId, type TenantId, uuidText } from '../domain/ids.ts';
import { TextCache, utf8Text } from '../lib/text-cache.ts';
import { readDetails } from './details.ts';
import { BIN_8, EVENT_FIELDS, RECORD_EVENTS_CODE } from './encoding.ts';
import { endOfText, memoryOf, NULL, startOfText, textOrNullAt } from './texts.ts';

const UNKEYED_FIELDS = 4;
const DETAILS_FIELDS = 6;

/** Ids and names come again and again. (An ingest finds its service without its name: commands/services.ts.) */
const ids = new TextCache(65_536, (view, start, length) =>
  uuidText(new Uint8Array(view.buffer, view.byteOffset + start, length)),
);
const names = new TextCache(65_536, utf8Text);

/**
 * Walks the events of a record-events payload. `next` moves to the next event and fills the fields below; they
 * are good until it is called again. Throws where the bytes are not what `encodeEvents` writes, which a record
 * whose CRC is right never shows.
 *
 * Texts become strings when they are asked for. Numbers are read through a view of the memory, which takes a third
 * of what Buffer's methods do.
 */
export class EventCursor {
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Events in all. */
  readonly count: number;
  /** The request had an Idempotency-Key. */
  readonly isKeyed: boolean;
  /** The ids of tenant and agent as they are written, in the view. */
  readonly idsStart: number;
  readonly idsEnd: number;
  /** Where `bytes` begin in the view. */
  readonly #base: number;
  /** In the view, as all that has no other word. */
  #at: number;
  #left: number;
  #serviceAt = 0;
  #rawLineAt = 0;
  #detailsAt = 0;
  /** Its place among the event types. */
  type = 0;
  confidence = 0;
  ttlSeconds = 0;
  timestampMs: number | null = null;

  constructor(bytes: Buffer, start: number) {
    this.bytes = bytes;
    this.view = memoryOf(bytes);
    this.#base = bytes.byteOffset;
    this.#at = this.#base + start;
    this.isKeyed = this.#arrayLength() > UNKEYED_FIELDS;
    if (this.#number() !== RECORD_EVENTS_CODE) throw new Error('not a record of events');
    this.idsStart = this.#at;
    this.#at = endOfId(this.view, endOfId(this.view, this.#at));
    this.idsEnd = this.#at;
    this.count = this.#arrayLength();
    this.#left = this.count;
  }

  get tenantId(): TenantId {
    return this.#idAt(this.idsStart) as TenantId;
  }

  get agentId(): AgentId {
    return this.#idAt(endOfId(this.view, this.idsStart)) as AgentId;
  }

  get serviceName(): string {
    return this.#textAt(this.#serviceAt);
  }

  /** The same as bytes, in the view. */
  get serviceNameStart(): number {
    return startOfText(this.view, this.#serviceAt);
  }

  get serviceNameEnd(): number {
    return endOfText(this.view, this.#serviceAt);
  }

  get vendor(): string {
    return this.#textAt(this.#detailsAt);
  }

  get eventType(): EventType {
    return EVENT_TYPES[this.type] ?? EVENT_TYPES[0];
  }

  /** The details, in `bytes`. */
  get detailsStart(): number {
    return this.#detailsAt - this.#base;
  }

  get detailsEnd(): number {
    return this.#at - this.#base;
  }

  next(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    if (this.#arrayLength() < EVENT_FIELDS) throw new Error('an event with too few fields');
    this.#serviceAt = this.#at;
    this.#skipText();
    this.type = this.#number();
    if (this.type >= EVENT_TYPES.length) throw new Error('an event of no known type');
    this.confidence = this.#number();
    this.ttlSeconds = this.#number();
    this.timestampMs = this.view.getUint8(this.#at) === NULL ? this.#null() : this.#number();
    this.#rawLineAt = this.#at;
    this.#skipText();
    this.#detailsAt = this.#at;
    for (let field = 0; field < DETAILS_FIELDS; field += 1) this.#skipText();
    return true;
  }

  /** Moves past the next event without reading it: 20 ns, where `next` takes more. */
  skip(): void {
    if (this.#left === 0) throw new Error('there is no event to be passed over');
    this.#left -= 1;
    this.#at = endOfEvent(this.view, this.#at);
  }

  /** The event it is at, as a value. */
  event(): ContextEvent {
    return {
      serviceName: this.serviceName,
      eventType: this.eventType,
      confidence: this.confidence,
      ttlSeconds: this.ttlSeconds,
      timestampMs: this.timestampMs,
      rawLine: textOrNullAt(this.bytes, this.#rawLineAt - this.#base).text,
      ...readDetails(this.bytes, this.detailsStart),
    };
  }

  /** Behind the last event, where `next` has answered false. */
  idempotency(): Idempotency | undefined {
    if (!this.isKeyed || this.#left > 0) return undefined;
    const key = textOrNullAt(this.bytes, this.#at - this.#base);
    const payloadHash = textOrNullAt(this.bytes, key.end);
    return { key: key.text ?? '', payloadHash: payloadHash.text ?? '' };
  }

  #null(): null {
    this.#at += 1;
    return null;
  }

  #arrayLength(): number {
    const head = this.view.getUint8(this.#at);
    this.#at += 1;
    if ((head & 0xf0) === 0x90) return head & 0x0f;
    if (head !== 0xdc) throw new Error('an array was expected');
    this.#at += 2;
    return this.view.getUint16(this.#at - 2);
  }

  #number(): number {
    const head = this.view.getUint8(this.#at);
    this.#at += 1;
    if (head < 0x80) return head;
    if (head === 0xce) {
      this.#at += 4;
      return this.view.getUint32(this.#at - 4);
    }
    if (head !== 0xcb) throw new Error('a number was expected');
    this.#at += 8;
    return this.view.getFloat64(this.#at - 8);
  }

  #textAt(at: number): string {
    const end = endOfText(this.view, at);
    return names.read(this.view, startOfText(this.view, at), end);
  }

  #idAt(at: number): string {
    const { view } = this;
    return view.getUint8(at) === BIN_8 ? ids.read(view, at + 2, endOfId(view, at)) : this.#textAt(at);
  }

  #skipText(): void {
    this.#at = endOfText(this.view, this.#at);
  }
}

/** The Idempotency-Key of a record of events that has one, found by walking past its events. */
export function idempotencyIn(bytes: Buffer, start: number): Idempotency | undefined {
  const cursor = new EventCursor(bytes, start);
  while (cursor.next());
  return cursor.idempotency();
}

function endOfId(view: DataView, at: number): number {
  return view.getUint8(at) === BIN_8 ? at + 2 + view.getUint8(at + 1) : endOfText(view, at);
}

function endOfEvent(view: DataView, at: number): number {
  const head = view.getUint8(at);
  const isShort = (head & 0xf0) === 0x90;
  let end = isShort ? at + 1 : at + 3;
  for (let field = isShort ? head & 0x0f : view.getUint16(at + 1); field > 0; field -= 1) {
    const kind = view.getUint8(end);
    if (kind < 0x80) end += 1;
    else if (kind === 0xce) end += 5;
    else if (kind === 0xcb) end += 9;
    else end = endOfText(view, end);
  }
  return end;
}

/** Shows where in their bytes the service name of each event stands, of events that are to be logged. */
export function eachServiceName(
  { count, view, start: firstAt }: EncodedEvents,
  visit: (index: number, start: number, end: number) => void,
): void {
  let eventAt = firstAt;
  for (let index = 0; index < count; index += 1) {
    const nameAt = eventAt + 1;
    visit(index, startOfText(view, nameAt), endOfText(view, nameAt));
    if (index + 1 < count) eventAt = endOfEvent(view, eventAt);
  }
}
