/**
 * An event in JSON, read in one pass over its bytes: where its texts stand, and what its numbers are. Only the plain
 * form is read, as agents write it: known keys, each once; plain numbers; times in UTC. Anything else is declined,
 * and is no mistake: it takes the long way, which decides (strict JSON, then the schema).
 */
import { isUtf8 } from 'node:buffer';
import { EVENT_TYPES } from '../domain/event.ts';
import { LIMITS } from '../domain/limits.ts';
import { EVENT_FIELDS, writeArrayHeader, writeNull, writeNumber } from './encoding.ts';
import { DECLINED, JsonBytes } from './json-bytes.ts';
import { isWordAt, type Word, wordOf } from './word.ts';

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

interface Key {
  readonly field: number;
  readonly word: Word;
}

/** Keys with the quote that ends them, by what their first four bytes come to. */
const KEYS: (Key | undefined)[] = new Array(16).fill(undefined);
for (const [name, field] of Object.entries(FIELDS)) {
  const word = wordOf(`${name}"`);
  KEYS[placeOf(word.first)] = { field, word };
}

/** Perfect for the keys there are: no two have the same. */
function placeOf(firstBytes: number): number {
  return ((firstBytes >>> 1) ^ (firstBytes >>> 14)) & 15;
}

const TYPES = EVENT_TYPES.map((type) => wordOf(`${type}"`));

const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE = 0x7b;
const END_BRACE = 0x7d;

export class JsonEvent {
  readonly #json = new JsonBytes();
  readonly #textStart: number[] = MAX_TEXT_BYTES.map(() => 0);
  readonly #textEnd: number[] = MAX_TEXT_BYTES.map(() => 0);
  #present = 0;
  #eventType = 0;
  #confidence = 0;
  #ttlSeconds = 0;
  #timestampMs = 0;

  /** The JSON that events are to be read from. */
  load(json: Buffer): void {
    this.#json.load(json);
  }

  afterSpace(at: number): number {
    return this.#json.afterSpace(at);
  }

  /** Reads the object that begins at `start`; answers where it ends, or DECLINED. */
  read(start: number): number {
    const json = this.#json;
    const { view } = json;
    json.seenBits = 0;
    this.#present = 0;
    let seen = 0;
    let at = json.afterSpace(start);
    if (view.getUint8(at) !== BRACE) return DECLINED;
    for (;;) {
      at += 1;
      // First without white space, as it nearly always stands: every look at a byte has checks of its own.
      if (view.getUint8(at) !== QUOTE) {
        at = json.afterSpace(at);
        if (view.getUint8(at) !== QUOTE) return DECLINED;
      }
      const key = KEYS[placeOf(view.getInt32(at + 1, true))];
      if (key === undefined || !isWordAt(view, at + 1, key.word)) return DECLINED;
      const { field, word } = key;
      if ((seen & (1 << field)) !== 0) return DECLINED;
      seen |= 1 << field;
      at += 1 + word.lengthBytes;
      if (view.getUint8(at) !== COLON) {
        at = json.afterSpace(at);
        if (view.getUint8(at) !== COLON) return DECLINED;
      }
      at = this.#value(field, json.afterSpace(at + 1));
      if (at === DECLINED) return DECLINED;
      if (view.getUint8(at) === COMMA) continue;
      at = json.afterSpace(at);
      if (view.getUint8(at) !== COMMA) break;
    }
    if (view.getUint8(at) !== END_BRACE || (this.#present & REQUIRED) !== REQUIRED) return DECLINED;
    if (json.seenBits !== 0 && !isUtf8(json.bytes.subarray(start, at))) return DECLINED;
    return at + 1;
  }

  /** Writes what was read as the log has it; answers where that ends. Up to seven bytes behind it are written over. */
  write(to: DataView, at: number): number {
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

  #value(field: number, at: number): number {
    const json = this.#json;
    // Most are; to ask for the others first was four comparisons each.
    if (field <= FIELDS.raw_line) return this.#text(field, at);
    let end: number;
    switch (field) {
      case FIELDS.event_type:
        end = this.#typeAt(at);
        break;
      case FIELDS.confidence:
        end = json.takeFraction(at);
        this.#confidence = json.value;
        if (!(this.#confidence > 0 && this.#confidence <= 1)) return DECLINED;
        break;
      case FIELDS.ttl_seconds:
        end = json.takeNatural(at);
        this.#ttlSeconds = json.value;
        if (this.#ttlSeconds > LIMITS.ttlSeconds) return DECLINED;
        break;
      case FIELDS.timestamp:
        if (json.view.getUint8(at) !== QUOTE) return json.takeNull(at);
        end = json.takeUtcTime(at);
        this.#timestampMs = json.value;
        break;
      default:
        return DECLINED;
    }
    this.#present |= 1 << field;
    return end;
  }

  #typeAt(quoteAt: number): number {
    const { view } = this.#json;
    if (view.getUint8(quoteAt) !== QUOTE) return DECLINED;
    for (let type = 0; type < TYPES.length; type += 1) {
      const word = TYPES[type];
      if (word === undefined || !isWordAt(view, quoteAt + 1, word)) continue;
      this.#eventType = type;
      return quoteAt + 1 + word.lengthBytes;
    }
    return DECLINED;
  }

  #text(field: number, at: number): number {
    const json = this.#json;
    const bits = 1 << field;
    const end = json.takeText(at);
    // A name that is null is one that is missing.
    if (end === DECLINED) return json.takeNull(at);
    const length = json.textEnd - json.textStart;
    if (length > (MAX_TEXT_BYTES[field] ?? 0) || (length === 0 && (bits & NAMES) !== 0)) return DECLINED;
    this.#textStart[field] = json.textStart;
    this.#textEnd[field] = json.textEnd;
    this.#present |= bits;
    return end;
  }

  #writeText(to: DataView, at: number, field: number): number {
    if ((this.#present & (1 << field)) === 0) return writeNull(to, at);
    return copyText(to, at, this.#json.view, this.#textStart[field] ?? 0, this.#textEnd[field] ?? 0);
  }
}

/** Writes bytes that are UTF-8 as a msgpack string of fewer than 65 536; answers where it ends. */
function copyText(to: DataView, at: number, from: DataView, start: number, end: number): number {
  const length = end - start;
  let out = at;
  if (length < 32) to.setUint8(out++, 0xa0 | length);
  else if (length < 256) {
    to.setUint8(out++, 0xd9);
    to.setUint8(out++, length);
  } else {
    to.setUint8(out++, 0xda);
    to.setUint16(out, length);
    out += 2;
  }
  // Eight at a time, some of them behind the end: as a double, for that is moved as it is, a NaN too, and no BigInt is.
  for (let done = 0; done < length; done += 8)
    to.setFloat64(out + done, from.getFloat64(start + done, true), true);
  return out + length;
}
