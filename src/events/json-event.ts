/**
 * An event in JSON, read in one pass over its bytes: where its texts stand, and what its numbers are. Only the plain
 * form is read, as agents write it: known keys, each once; plain numbers; times in UTC. Anything else is declined,
 * and is no mistake: it takes the long way, which decides (strict JSON, then the schema).
 */
import { isUtf8 } from 'node:buffer';
import { EVENT_TYPES } from '../domain/event.ts';
import { LIMITS } from '../domain/limits.ts';
import { EVENT_FIELDS, writeArrayHeader, writeNull, writeNumber } from './encoding.ts';
import { JsonBytes } from './json-bytes.ts';

/** Texts come first, so that their numbers are their places in the columns of texts. */
const FIELDS = {
  service_name: 0,
  vendor: 1,
  entity: 2,
  old_value: 3,
  new_value: 4,
  actor: 5,
  sha: 6,
  raw_line: 7,
  event_type: 8,
  confidence: 9,
  ttl_seconds: 10,
  timestamp: 11,
} as const;

const { nameLength, valueLength, shaLength, rawLineLength } = LIMITS;
/** In bytes, which are never fewer than characters. */
const MAX_TEXT_BYTES = [
  nameLength,
  nameLength,
  nameLength,
  valueLength,
  valueLength,
  nameLength,
  shaLength,
  rawLineLength,
];

const bit = (...fields: number[]) => fields.reduce((bits, field) => bits | (1 << field), 0);
const NAMES = bit(FIELDS.service_name, FIELDS.vendor, FIELDS.entity);
const TIME = bit(FIELDS.timestamp);
const REQUIRED = NAMES | bit(FIELDS.event_type, FIELDS.confidence, FIELDS.ttl_seconds);

/** A key with the quote that ends it: the first bytes that tell it apart lead to it. */
const keyBytes = (key: keyof typeof FIELDS) => Buffer.from(`${key}"`);
const KEYS = {
  service: { bytes: keyBytes('service_name'), field: FIELDS.service_name },
  vendor: { bytes: keyBytes('vendor'), field: FIELDS.vendor },
  entity: { bytes: keyBytes('entity'), field: FIELDS.entity },
  oldValue: { bytes: keyBytes('old_value'), field: FIELDS.old_value },
  newValue: { bytes: keyBytes('new_value'), field: FIELDS.new_value },
  actor: { bytes: keyBytes('actor'), field: FIELDS.actor },
  sha: { bytes: keyBytes('sha'), field: FIELDS.sha },
  rawLine: { bytes: keyBytes('raw_line'), field: FIELDS.raw_line },
  eventType: { bytes: keyBytes('event_type'), field: FIELDS.event_type },
  confidence: { bytes: keyBytes('confidence'), field: FIELDS.confidence },
  ttlSeconds: { bytes: keyBytes('ttl_seconds'), field: FIELDS.ttl_seconds },
  timestamp: { bytes: keyBytes('timestamp'), field: FIELDS.timestamp },
} as const;
type Key = (typeof KEYS)[keyof typeof KEYS];

const TYPE_BYTES = EVENT_TYPES.map((type) => Buffer.from(`${type}"`));

const NOTHING = Buffer.from([0]);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const END_BRACE = 0x7d;
const NOT_ASCII = 0x80;

export const DECLINED = -1;

export class JsonEvent {
  readonly #json = new JsonBytes();
  readonly #textStart = new Int32Array(MAX_TEXT_BYTES.length);
  readonly #textEnd = new Int32Array(MAX_TEXT_BYTES.length);
  /** Bit n is set where text n stands among the texts that had escapes, clear where it stands in the JSON. */
  #unescaped = 0;
  #present = 0;
  #eventType = 0;
  #confidence = 0;
  #ttlSeconds = 0;
  #timestampMs = 0;

  /** Reads the object that begins at `start`; answers where it ends, or DECLINED. */
  read(bytes: Buffer, start: number): number {
    const json = this.#json;
    json.begin(bytes, start);
    this.#unescaped = 0;
    this.#present = 0;
    let seen = 0;
    if (!json.take(BRACE)) return DECLINED;
    do {
      if (!json.take(QUOTE)) return DECLINED;
      const field = this.#field();
      if (field === DECLINED || (seen & (1 << field)) !== 0) return DECLINED;
      seen |= 1 << field;
      if (!json.take(COLON) || !this.#value(field)) return DECLINED;
    } while (json.take(COMMA));
    if (!json.take(END_BRACE) || (this.#present & REQUIRED) !== REQUIRED) return DECLINED;
    if (json.seenBits >= NOT_ASCII && !isUtf8(bytes.subarray(start, json.at))) return DECLINED;
    return json.at;
  }

  /** Writes what was read as the log has it; answers where that ends. */
  write(to: Buffer, at: number): number {
    let end = writeArrayHeader(to, at, EVENT_FIELDS);
    end = this.#writeText(to, end, FIELDS.service_name);
    end = writeNumber(to, end, this.#eventType);
    end = writeNumber(to, end, this.#confidence);
    end = writeNumber(to, end, this.#ttlSeconds);
    end = (this.#present & TIME) !== 0 ? writeNumber(to, end, this.#timestampMs) : writeNull(to, end);
    end = this.#writeText(to, end, FIELDS.raw_line);
    end = this.#writeText(to, end, FIELDS.vendor);
    end = this.#writeText(to, end, FIELDS.entity);
    end = this.#writeText(to, end, FIELDS.old_value);
    end = this.#writeText(to, end, FIELDS.new_value);
    end = this.#writeText(to, end, FIELDS.actor);
    return this.#writeText(to, end, FIELDS.sha);
  }

  /** The field whose key is read, its quote before it being taken. */
  #field(): number {
    const json = this.#json;
    switch (json.next) {
      case 0x73 /* s */:
        return this.#key(json.following === 0x65 ? KEYS.service : KEYS.sha);
      case 0x76 /* v */:
        return this.#key(KEYS.vendor);
      case 0x65 /* e */:
        return this.#key(json.following === 0x6e ? KEYS.entity : KEYS.eventType);
      case 0x63 /* c */:
        return this.#key(KEYS.confidence);
      case 0x74 /* t */:
        return this.#key(json.following === 0x69 ? KEYS.timestamp : KEYS.ttlSeconds);
      case 0x6f /* o */:
        return this.#key(KEYS.oldValue);
      case 0x6e /* n */:
        return this.#key(KEYS.newValue);
      case 0x61 /* a */:
        return this.#key(KEYS.actor);
      case 0x72 /* r */:
        return this.#key(KEYS.rawLine);
      default:
        return DECLINED;
    }
  }

  #key({ bytes, field }: Key): number {
    return this.#json.takeBytes(bytes) ? field : DECLINED;
  }

  #value(field: number): boolean {
    const json = this.#json;
    json.skipSpace();
    switch (field) {
      case FIELDS.event_type:
        if (!json.take(QUOTE)) return false;
        this.#eventType = this.#typeNumber();
        if (this.#eventType === DECLINED) return false;
        break;
      case FIELDS.confidence:
        this.#confidence = json.fraction();
        if (!(this.#confidence > 0 && this.#confidence <= 1)) return false;
        break;
      case FIELDS.ttl_seconds:
        this.#ttlSeconds = json.natural();
        if (!(this.#ttlSeconds > 0 && this.#ttlSeconds <= LIMITS.ttlSeconds)) return false;
        break;
      case FIELDS.timestamp:
        if (json.takeNull()) return true;
        this.#timestampMs = json.utcTime();
        if (Number.isNaN(this.#timestampMs)) return false;
        break;
      default:
        return this.#text(field);
    }
    this.#present |= 1 << field;
    return true;
  }

  #typeNumber(): number {
    for (let type = 0; type < TYPE_BYTES.length; type += 1) {
      if (this.#json.takeBytes(TYPE_BYTES[type] ?? NOTHING)) return type;
    }
    return DECLINED;
  }

  #text(field: number): boolean {
    const json = this.#json;
    const { bytes } = json;
    const bits = 1 << field;
    const isName = (bits & NAMES) !== 0;
    if (bytes[json.at] !== QUOTE) return !isName && json.takeNull();
    // The loop that most bytes go through: what it needs is in local variables.
    const start = json.at + 1;
    let end = start;
    let seenBits = 0;
    for (;;) {
      // Past the end is 0: a byte that no text holds.
      const byte = bytes[end] ?? 0;
      if (byte === QUOTE) break;
      if (byte < FIRST_PRINTABLE || byte === BACKSLASH) return this.#oddText(field);
      seenBits |= byte;
      end += 1;
    }
    json.seenBits |= seenBits;
    json.at = end + 1;
    return this.#keepText(field, start, end);
  }

  /** One with escapes, which is copied without them; or one that is no text. */
  #oddText(field: number): boolean {
    const json = this.#json;
    if (!json.takeText()) return false;
    if (json.isTextUnescaped) this.#unescaped |= 1 << field;
    return this.#keepText(field, json.textStart, json.textEnd);
  }

  #keepText(field: number, start: number, end: number): boolean {
    const bits = 1 << field;
    const length = end - start;
    if (length > (MAX_TEXT_BYTES[field] ?? 0) || (length === 0 && (bits & NAMES) !== 0)) return false;
    this.#textStart[field] = start;
    this.#textEnd[field] = end;
    this.#present |= bits;
    return true;
  }

  #writeText(to: Buffer, at: number, field: number): number {
    if ((this.#present & (1 << field)) === 0) return writeNull(to, at);
    const from = (this.#unescaped & (1 << field)) === 0 ? this.#json.bytes : this.#json.unescaped;
    return copyText(to, at, from, this.#textStart[field] ?? 0, this.#textEnd[field] ?? 0);
  }
}

/** Up to here a loop is quicker than a call out of JavaScript. */
const SHORT_BYTES = 48;

/** Writes bytes that are UTF-8 as a msgpack string of fewer than 65 536; answers where it ends. */
function copyText(to: Buffer, at: number, from: Buffer, start: number, end: number): number {
  const length = end - start;
  let out = at;
  if (length < 32) to[out++] = 0xa0 | length;
  else if (length < 256) {
    to[out++] = 0xd9;
    to[out++] = length;
  } else {
    to[out++] = 0xda;
    to[out++] = length >>> 8;
    to[out++] = length & 0xff;
  }
  if (length <= SHORT_BYTES)
    for (let index = 0; index < length; index += 1) to[out + index] = from[start + index] ?? 0;
  else from.copy(to, out, start, end);
  return out + length;
}
