import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { readPlainEvent } from '../../src/http/plain-event.ts';
import { readEventBySchema } from '../../src/http/schemas.ts';

const anything = fc.oneof(
  fc.constantFrom(undefined, null, '', 0, -0, -1, 1, 1.5, 1e308, 2 ** 53, true, [], {}),
  fc.string({ maxLength: 5 }),
);
const lengths = (limit: number) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('x', '\0', '😀', 'x'.repeat(limit)) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(limit + 1), '😀'.repeat(limit / 2 + 1)) },
  );
const mostly = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: anything });

const time = fc.oneof(
  fc
    .date({ min: new Date(-62_135_596_800_000), max: new Date(253_402_300_799_999), noInvalidDate: true })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-02-28T23:59:59Z',
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2024-02-29T00:00:00.123456789Z',
    '2026-06-30T23:59:60Z',
    '2026-01-01T24:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01T00:00:00+02:00',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    ' 2026-01-01T00:00:00Z',
    '2026-01-01',
  ),
);

const body = fc.record(
  {
    service_name: mostly(lengths(LIMITS.nameLength)),
    vendor: mostly(lengths(LIMITS.nameLength)),
    entity: mostly(lengths(LIMITS.nameLength)),
    event_type: mostly(fc.constantFrom<string>(...EVENT_TYPES, 'toString')),
    confidence: mostly(fc.constantFrom(1, 0.5, 5e-324, 1.0000000000000002)),
    ttl_seconds: mostly(fc.constantFrom(1, LIMITS.ttlSeconds, LIMITS.ttlSeconds + 1)),
    old_value: mostly(lengths(LIMITS.valueLength)),
    new_value: mostly(lengths(LIMITS.valueLength)),
    actor: mostly(lengths(LIMITS.nameLength)),
    sha: mostly(lengths(LIMITS.shaLength)),
    timestamp: mostly(time),
    raw_line: mostly(lengths(LIMITS.rawLineLength)),
    unknown: anything,
  },
  { requiredKeys: ['service_name', 'vendor', 'entity', 'event_type', 'confidence', 'ttl_seconds'] },
);

describe('the short way to read an event', () => {
  it('takes only what the schema takes, and reads it alike', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: body }, { weight: 1, arbitrary: anything }), (value) => {
        const plain = readPlainEvent(value);
        if (plain === undefined) return;
        taken += 1;
        expect(plain).toEqual(readEventBySchema(value));
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(1000);
  });

  it('takes an event with every field as agents write them', () => {
    const event = {
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
      raw_line: 'Sync operation to 8a1cb4a0 succeeded',
    };
    expect(readPlainEvent(event)).toEqual(readEventBySchema(event));
    expect(readPlainEvent(event)).toMatchObject({ timestampMs: Date.parse('2026-08-22T10:10:02.125Z') });
  });
});
