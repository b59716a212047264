/** The hand-written codec of events: what it writes is what msgpackr reads, and what its cursor walks. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import type { Idempotency } from '../../src/domain/command.ts';
import { type ContextEvent, EVENT_TYPES } from '../../src/domain/event.ts';
import { agentId, tenantId, uuidBytes } from '../../src/domain/ids.ts';
import { EventCursor, idempotencyIn } from '../../src/events/cursor.ts';
import { readDetails } from '../../src/events/details.ts';
import {
  encodeAround,
  encodeEvents,
  idBytes,
  maxEncodedBytes,
  RECORD_EVENTS_CODE,
} from '../../src/events/encoding.ts';
import { EventTranscoder } from '../../src/events/transcoder.ts';
import { IdIndex } from '../../src/lib/id-index.ts';
import { anyEvent, idText } from '../log/commands.ts';

const packr = new Packr({ useRecords: false });
const START = 3;

/** Bytes of a command, with others before it. */
function encoded(
  tenant: string,
  agent: string,
  events: readonly ContextEvent[],
  idempotency?: Idempotency,
): Buffer {
  const ids = { tenantId: tenantId(tenant), agentId: agentId(agent) };
  const atMost = maxEncodedBytes(ids.tenantId, ids.agentId, events, idempotency);
  const bytes = Buffer.alloc(START + atMost, 0xff);
  const end = encodeEvents(bytes, START, ids.tenantId, ids.agentId, events, idempotency);
  expect(end - START).toBeLessThanOrEqual(atMost);
  return bytes.subarray(0, end);
}

function fieldsOf(event: ContextEvent): unknown[] {
  const { serviceName, eventType, confidence, ttlSeconds, timestampMs, rawLine } = event;
  const { vendor, entity, oldValue, newValue, actor, sha } = event;
  const type = EVENT_TYPES.indexOf(eventType);
  const details = [vendor, entity, oldValue, newValue, actor, sha];
  return [serviceName, type, confidence, ttlSeconds, timestampMs, rawLine, ...details];
}

/** An id as msgpackr reads it: a UUID is 16 bytes. */
function written(id: string): unknown {
  const uuid = uuidBytes(id);
  return uuid === undefined ? id : Buffer.from(uuid);
}

/** Around every length at which the form of a string, or the guess at it, changes. */
const edgeText = fc
  .tuple(
    fc.constantFrom('a', 'é', '€', '😀', '\uFEFF', '\0'),
    fc.constantFrom(0, 1, 10, 15, 28, 31, 42, 63, 64, 85, 127, 128, 255, 256, 21_845, 32_767, 65_535, 65_536),
    fc.integer({ min: -1, max: 1 }),
  )
  .map(([char, units, more]) => char.repeat(Math.max(0, Math.floor((units + more) / char.length))));

const edgeNumber = fc.oneof(
  fc.constantFrom(-0, 0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, -1, -32, -33, 0.5),
  fc.double({ noNaN: true }),
);

const edgeEvent: fc.Arbitrary<ContextEvent> = fc
  .tuple(anyEvent, edgeText, fc.option(edgeText), edgeNumber, fc.nat(3))
  .map(([event, text, textOrNull, number, which]) => {
    switch (which) {
      case 0:
        return { ...event, serviceName: text, rawLine: textOrNull, confidence: number };
      case 1:
        return { ...event, vendor: text, oldValue: textOrNull, ttlSeconds: number };
      case 2:
        return { ...event, entity: text, newValue: textOrNull, timestampMs: number };
      default:
        return { ...event, actor: text, sha: textOrNull };
    }
  });

/** Thousands of these stay far below the 2 GiB from which on Node writes no string to a buffer. */
function shortened(event: ContextEvent): ContextEvent {
  const none = { oldValue: null, newValue: null, actor: null, sha: null, rawLine: null };
  return {
    ...event,
    ...none,
    serviceName: event.serviceName.slice(0, 40).toWellFormed(),
    vendor: 'v',
    entity: 'e',
  };
}

/** As long as the HTTP API takes one. */
const keyed: fc.Arbitrary<Idempotency> = fc.record({
  key: fc.string({ minLength: 1, maxLength: 255 }),
  payloadHash: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
});

const batch = fc.oneof(
  { weight: 20, arbitrary: fc.array(edgeEvent, { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyEvent, fc.constantFrom(14, 15, 16, 17, 255, 256, 10_000))
      .map(([event, count]) => new Array<ContextEvent>(count).fill(shortened(event))),
  },
);

describe('the events of a record', () => {
  it('are to msgpackr what they were', () => {
    fc.assert(
      fc.property(idText, idText, batch, (tenant, agent, events) => {
        const bytes = encoded(tenant, agent, events);
        const read: unknown = packr.unpack(bytes, { start: START, end: bytes.length });
        const expected = [RECORD_EVENTS_CODE, written(tenant), written(agent), events.map(fieldsOf)];
        if (!isDeepStrictEqual(read, expected)) expect(read).toStrictEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  it('are the same with an Idempotency-Key, which stands behind them', () => {
    fc.assert(
      fc.property(idText, idText, batch, edgeText, edgeText, (tenant, agent, events, key, payloadHash) => {
        const bytes = encoded(tenant, agent, events, { key, payloadHash });
        const read: unknown = packr.unpack(bytes, { start: START, end: bytes.length });
        const ids = [written(tenant), written(agent)];
        const expected = [RECORD_EVENTS_CODE, ...ids, events.map(fieldsOf), key, payloadHash];
        if (!isDeepStrictEqual(read, expected)) expect(read).toStrictEqual(expected);
        expect(idempotencyIn(bytes, START)).toStrictEqual({ key, payloadHash });
        expect(idempotencyIn(encoded(tenant, agent, events), START)).toBe(undefined);
        const keyed = bytes.subarray(START + 1, encoded(tenant, agent, events).length);
        expect(keyed.equals(encoded(tenant, agent, events).subarray(START + 1))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('are the same made where the events stand, whoever else sent some in between', () => {
    const ids = new IdIndex();
    const transcoder = new EventTranscoder();
    fc.assert(
      fc.property(idText, idText, batch, fc.option(keyed, { nil: undefined }), (...given) => {
        const [tenant, agent, events, idempotency] = given;
        transcoder.clear();
        for (const event of events) transcoder.take(event);
        const row = ids.add(idBytes(tenantId(tenant), agentId(agent)), ids.size);
        ids.add(idBytes(tenantId(tenant), agentId(`${agent}-`)), ids.size);
        const command = encodeAround(transcoder.encoded, ids, row, idempotency);
        const made = command.bytes.subarray(command.start, command.end);
        expect(made.equals(encoded(tenant, agent, events, idempotency).subarray(START))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('are not made where there is no room for their ids, or for an Idempotency-Key', () => {
    const ids = new IdIndex();
    const long = ids.add(idBytes(tenantId('t'.repeat(400)), agentId('a'.repeat(400))), 1);
    const short = ids.add(idBytes(tenantId('t'), agentId('a')), 2);
    const { encoded: events } = new EventTranscoder();
    expect(() => encodeAround(events, ids, long, undefined)).toThrow(RangeError);
    const idempotency = { key: 'k'.repeat(20_000), payloadHash: '' };
    expect(() => encodeAround(events, ids, short, idempotency)).toThrow(RangeError);
  });

  it('are passed over without a trace on those that are read', () => {
    fc.assert(
      fc.property(batch, fc.array(fc.boolean(), { minLength: 1 }), (events, reads) => {
        const cursor = new EventCursor(encoded('t', 'a', events), START);
        for (const [index, event] of events.entries()) {
          if (!reads[index % reads.length]) cursor.skip();
          else {
            expect(cursor.next()).toBe(true);
            const read = cursor.event();
            if (!isDeepStrictEqual(read, event)) expect(read).toStrictEqual(event);
          }
        }
        expect(cursor.next()).toBe(false);
        expect(() => cursor.skip()).toThrow('no event');
      }),
      { numRuns: 150 },
    );
  });

  it('are walked as they were, and their details are read from where they stand', () => {
    fc.assert(
      fc.property(idText, idText, batch, (tenant, agent, events) => {
        const bytes = encoded(tenant, agent, events);
        const cursor = new EventCursor(bytes, START);
        expect([cursor.tenantId, cursor.agentId, cursor.count]).toEqual([tenant, agent, events.length]);
        let end = 0;
        for (const event of events) {
          expect(cursor.next()).toBe(true);
          const read = cursor.event();
          if (!isDeepStrictEqual(read, event)) expect(read).toStrictEqual(event);
          const { vendor, entity, oldValue, newValue, actor, sha } = event;
          const copy = Buffer.from(bytes.subarray(cursor.detailsStart, cursor.detailsEnd));
          expect(readDetails(copy, 0)).toStrictEqual({ vendor, entity, oldValue, newValue, actor, sha });
          end = cursor.detailsEnd;
        }
        expect(cursor.next()).toBe(false);
        if (events.length > 0) expect(end).toBe(bytes.length);
      }),
      { numRuns: 150 },
    );
  });
});
