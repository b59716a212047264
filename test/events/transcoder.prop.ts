/** The short way from JSON to the log takes only what the long way takes, and makes the same bytes of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EncodedEvents } from '../../src/domain/encoded-events.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { agentId, tenantId } from '../../src/domain/ids.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { EventCursor } from '../../src/events/cursor.ts';
import { encodeAround, idBytes } from '../../src/events/encoding.ts';
import { EventTranscoder } from '../../src/events/transcoder.ts';
import { readEvent } from '../../src/http/schemas.ts';
import { IdIndex } from '../../src/lib/id-index.ts';
import { readStrictJson } from '../../src/lib/json.ts';

const EXAMPLE = {
  service_name: 'checkout-api',
  vendor: 'argocd',
  entity: 'checkout-api',
  event_type: 'deploy',
  old_value: 'v41',
  new_value: 'v42',
  actor: 'pipeline',
  sha: '8a1cb4a0',
  confidence: 0.95,
  ttl_seconds: 3600,
  timestamp: '2026-08-22T10:10:02.125Z',
  raw_line: 'level=info msg=Sync operation to 8a1cb4a0 succeeded user=ci',
};

/** One for all: what it read before must not show in what it reads now. */
const shared = new EventTranscoder();

/** The event that the short way reads, or undefined where it declines or something follows. */
function short(json: Buffer): unknown {
  shared.clear();
  if (!shared.takeWhole(json)) {
    expect(shared.encoded.count).toBe(0);
    return undefined;
  }
  const { encoded } = shared;
  expect(encoded.count).toBe(1);
  expect(encoded.end - encoded.start).toBeLessThanOrEqual(json.length);
  return eventIn(encoded);
}

/** The same event behind something else, in front of something else. */
function amidst(json: Buffer, before: string, after: string | Buffer): unknown {
  shared.clear();
  shared.load(Buffer.concat([Buffer.from(before), json, Buffer.from(after)]));
  if (shared.takeNext(Buffer.byteLength(before)) === -1) return undefined;
  return eventIn(shared.encoded);
}

function eventIn(encoded: EncodedEvents): unknown {
  const cursor = cursorOver(encoded);
  expect(cursor.next()).toBe(true);
  return cursor.event();
}

function cursorOver(encoded: EncodedEvents): EventCursor {
  const ids = new IdIndex();
  const row = ids.add(idBytes(tenantId('t'), agentId('a')), 1);
  const { bytes, start } = encodeAround(encoded, ids, row, undefined);
  return new EventCursor(bytes, start);
}

function long(json: Buffer): unknown {
  const reading = readStrictJson(json, LIMITS.jsonDepth);
  return reading.type === 'refused' ? reading : readEvent(reading.value);
}

/** Where the short way takes something, the long way makes the same of it. */
function agrees(json: Buffer): boolean {
  const taken = short(json);
  if (taken === undefined) return false;
  expect(taken).toEqual(long(json));
  return true;
}

const anything = fc.constantFrom(
  ...[
    '',
    'null',
    '0',
    '-0',
    '-1',
    '1',
    '1.5',
    '1e308',
    '1e-400',
    '01',
    '1.',
    '.5',
    '0.',
    '+1',
    '9007199254740993',
  ],
  ...['true', '[]', '{}', '"', '""', '"x"', '"\\u0041"', '"\\ud800"', '"\\x"', '"\\"', '"\n"', 'nul', 'NaN'],
);
const text = (limit: number) =>
  fc.oneof(
    { weight: 30, arbitrary: fc.string({ maxLength: 20 }).map((value) => JSON.stringify(value)) },
    {
      weight: 2,
      arbitrary: fc.string({ unit: 'binary', maxLength: 9 }).map((value) => JSON.stringify(value)),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom('x', 'x'.repeat(limit), 'é'.repeat(limit / 2), '😀'.repeat(limit), '\b\f/\\"', '\0')
        .map((value) => JSON.stringify(value)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(JSON.stringify('x'.repeat(limit + 1)), '"\\/\\"\\\\"', '"\u007f\u2028"'),
    },
  );
const mostly = (usual: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 60, arbitrary: usual }, { weight: 1, arbitrary: anything });

const time = fc.oneof(
  fc
    .date({ min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999), noInvalidDate: true })
    .map((date) => JSON.stringify(date.toISOString().replace('.000', ''))),
  fc
    .constantFrom(
      ...['2026-02-28T23:59:59Z', '2026-02-29T00:00:00Z', '2026-02-30T00:00:00Z', '2024-02-29T00:00:00Z'],
      ...['2026-04-31T00:00:00Z', '2026-12-31T23:59:59.999Z', '2026-06-30T23:59:60Z', '2026-01-01T24:00:00Z'],
      ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z', '2026-01-01T00:00:00.Z'],
      ...[
        '2026-01-01T00:00:00.12Z',
        '2026-01-01T00:00Z',
        '2026-01-01t00:00:00z',
        '2026-01-01T00:00:00+02:00',
      ],
      ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0099-01-01T00:00:00Z', '2026-01-01T00:00:00.12xZ'],
      ...[' 026-01-01T00:00:00Z', '2026-01-01T00:00:00,123Z', '2026-01-01T00:60:00Z', '٢٠٢٦-01-01T00:00:00Z'],
    )
    .map((value) => `"${value}"`),
);
const confidence = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 100 }).map((percent) => String(percent / 100)) },
  fc.double({ min: 0, max: 1, noNaN: true }).map(String),
  fc
    .tuple(fc.nat(10), fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 17 }))
    .map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom(
    '1',
    '1.0',
    '1.00000000000001',
    '0.1',
    '0.3',
    '0',
    '0.0',
    '1.1',
    '00.5',
    '0.5e0',
    '0.5E-3',
    '-0.5',
  ),
);
const ttl = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 100_000 }).map(String) },
  fc.integer({ min: -1, max: LIMITS.ttlSeconds + 1 }).map(String),
  fc.constantFrom(
    '0',
    '1',
    '01',
    '1.0',
    '1e3',
    String(LIMITS.ttlSeconds),
    String(LIMITS.ttlSeconds + 1),
    '9999999999',
  ),
);
const { nameLength, shaLength, valueLength, rawLineLength } = LIMITS;
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  service_name: text(nameLength),
  vendor: text(nameLength),
  entity: text(nameLength),
  event_type: fc.constantFrom(...EVENT_TYPES, 'deploys', 'Deploy', '').map((type) => JSON.stringify(type)),
  confidence,
  ttl_seconds: ttl,
  old_value: text(valueLength),
  new_value: text(valueLength),
  actor: text(nameLength),
  sha: text(shaLength),
  timestamp: time,
  raw_line: text(rawLineLength),
};
const space = fc.oneof(
  { weight: 200, arbitrary: fc.constantFrom('', ' ', '\n', '\r\n\t') },
  { weight: 1, arbitrary: fc.constantFrom('\u00a0', '/**/', '\f') },
);
const member = (key: string) =>
  fc
    .tuple(
      space,
      fc.oneof(
        { weight: 30, arbitrary: fc.constant(key) },
        { weight: 1, arbitrary: fc.constantFrom('other', `${key}x`, key.slice(1), `\\u0073${key}`) },
      ),
      space,
      mostly(VALUES[key] ?? anything),
      space,
    )
    .map(([before, name, between, value, after]) => `${before}"${name}"${between}:${value}${after}`);
const required = ['service_name', 'vendor', 'entity', 'event_type', 'confidence', 'ttl_seconds'];
const optional = Object.keys(VALUES).filter((key) => !required.includes(key));

const object = fc
  .tuple(
    fc.tuple(
      ...required.map((key) =>
        fc.oneof({ weight: 40, arbitrary: member(key) }, { weight: 1, arbitrary: fc.constant('') }),
      ),
    ),
    fc.subarray(optional, { minLength: 0 }).chain((keys) => fc.tuple(...keys.map(member))),
    fc.oneof(
      { weight: 15, arbitrary: fc.constant<string[]>([]) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...required, ...optional).chain((key) => fc.tuple(member(key))),
      },
    ),
    fc.nat(),
    fc.constantFrom('}', '}', '}', '}', '} ', '}\n', '},', '', '}}', ',}'),
  )
  .map(([needed, more, again, salt, end]) => {
    const members = [...needed, ...more, ...again].filter((each) => each !== '');
    const turn = salt % Math.max(1, members.length);
    return `{${[...members.slice(turn), ...members.slice(0, turn)].join(',')}${end}`;
  });

describe('the short way from JSON to the log', () => {
  it('reads one of several as it reads one alone', () => {
    let taken = 0;
    fc.assert(
      fc.property(
        object,
        fc.constantFrom('', '[', '[ ', '[{},'),
        fc.constantFrom('', ']', ',{}]'),
        (...given) => {
          const [text, before, after] = given;
          const json = Buffer.from(text);
          const alone = short(json);
          if (alone === undefined) return;
          taken += 1;
          expect(amidst(json, before, after)).toEqual(alone);
        },
      ),
      { numRuns: 5000 },
    );
    expect(taken).toBeGreaterThan(250);
  });

  it('takes only what the long way takes, and reads it alike', () => {
    let taken = 0;
    fc.assert(
      fc.property(object, (json) => {
        if (agrees(Buffer.from(json))) taken += 1;
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(1000);
  });

  it.each([
    ['', EXAMPLE],
    [', without milliseconds', { ...EXAMPLE, timestamp: '2026-02-28T23:59:59Z' }],
    [', escapes and all', { ...EXAMPLE, raw_line: 'a "b"\tc', actor: '"é' }],
  ])('reads an event with one byte changed as the long way does, or declines%s', (_, event) => {
    const json = Buffer.from(JSON.stringify(event));
    for (let at = 0; at < json.length; at += 1) {
      for (let byte = 0; byte < 256; byte += 1) {
        const changed = Buffer.from(json);
        changed[at] = byte;
        agrees(changed);
      }
    }
  });

  it('declines every event that is cut short', () => {
    const json = Buffer.from(JSON.stringify(EXAMPLE));
    for (let length = 0; length < json.length; length += 1)
      expect(short(json.subarray(0, length))).toBeUndefined();
  });

  it('does not read on into what it was given before', () => {
    for (const cut of [
      '{"service_name":"a',
      '{"service_name":"a\\',
      '{"',
      '{"timestamp":"2026-01-01T00:00:00',
    ]) {
      short(Buffer.alloc(64 * 1024, 'x'));
      expect(short(Buffer.from(cut))).toBeUndefined();
    }
  });

  it('takes an event as agents write them, escapes and all', () => {
    expect(agrees(Buffer.from(JSON.stringify(EXAMPLE)))).toBe(true);
    expect(agrees(Buffer.from(JSON.stringify(EXAMPLE, null, 2)))).toBe(true);
    expect(
      agrees(Buffer.from(JSON.stringify({ ...EXAMPLE, entity: 'Zahlungen-für-😀', timestamp: null }))),
    ).toBe(true);
    expect(agrees(Buffer.from(JSON.stringify({ ...EXAMPLE, raw_line: 'msg="é"\tuser="ü' })))).toBe(true);
  });

  it('declines texts that are no UTF-8', () => {
    for (let before = 0; before < 8; before += 1) {
      const rawLine = `${'x'.repeat(before)}\u007f${'x'.repeat(8)}`;
      const json = Buffer.from(JSON.stringify({ ...EXAMPLE, raw_line: rawLine }));
      const at = json.indexOf(0x7f);
      for (let byte = 0x80; byte <= 0xff; byte += 1) {
        json[at] = byte;
        expect(short(json)).toBeUndefined();
      }
    }
  });

  it('copies a text as it is, whatever follows the event', () => {
    // Texts are copied as doubles, and these behind one make some of its bytes those of a NaN.
    for (const exponent of [0x7f, 0xff]) {
      for (let length = 1; length <= 24; length += 1) {
        const event = { ...EXAMPLE, raw_line: 'x'.repeat(length) };
        const after = Buffer.alloc(8, Buffer.from([0xf1, exponent]));
        const json = Buffer.from(JSON.stringify(event));
        expect(amidst(json, '', after)).toEqual(long(json));
        expect(amidst(json, '', Buffer.concat([Buffer.from('\n'), after]))).toEqual(long(json));
      }
    }
  });

  it('takes many, one after the other, whichever way each has gone', () => {
    const transcoder = new EventTranscoder();
    const expected: unknown[] = [];
    for (let n = 0; n < 500; n += 1) {
      const json = Buffer.from(
        JSON.stringify({ ...EXAMPLE, entity: `pod-${n}`, raw_line: 'x"\n'.repeat(n) }),
      );
      const event = long(json);
      expected.push(event);
      if (n % 3 > 0) expect(transcoder.takeWhole(json)).toBe(true);
      else if (typeof event === 'object' && event !== null && 'serviceName' in event)
        transcoder.take(event as never);
    }
    const cursor = cursorOver(transcoder.encoded);
    const read: unknown[] = [];
    while (cursor.next()) read.push(cursor.event());
    expect(read).toEqual(expected);
  });
});
