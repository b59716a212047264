/** Whatever JSON comes in, parsers answer, within their limits. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deduplicationKeyOf, signalsIn } from '../../src/alerting/inbound.ts';
import type { AlertSignal } from '../../src/domain/alert.ts';
import { INTEGRATION_TYPES } from '../../src/domain/integration.ts';
import { annotation, grafanaGroup, group, incident } from './deliveries.ts';

const values = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    '',
    ' ',
    '\0',
    '\ud800',
    'x'.repeat(5000),
    '😀'.repeat(3000),
  ),
  fc.constantFrom<unknown>('firing', 'resolved', '0001-01-01T00:00:00Z', '2026-08-22T10:15:03Z', [], {}, [
    [],
  ]),
  fc.constantFrom<unknown>(JSON.parse('{"__proto__":{"id":"x"}}'), { length: 3 }, { toString: 1 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Each path through a value to something that can be put in another's place. */
function paths(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, inner]) => paths(inner).map((path) => [key, ...path]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  // What an earlier change put in the way of this one may not have the member.
  const inner: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : null;
  Object.assign(copy, { [key]: replaced(inner, rest, by) });
  return copy;
}

const originals = [incident(), annotation(), group(), grafanaGroup()].map((payload) => ({
  payload,
  paths: paths(payload),
}));
const mutated = fc
  .record({
    original: fc.constantFrom(...originals),
    changes: fc.array(fc.tuple(fc.nat(), values), { minLength: 1, maxLength: 6 }),
  })
  .map(({ original, changes }) =>
    changes.reduce<unknown>(
      (payload, [at, by]) => replaced(payload, original.paths[at % original.paths.length] ?? [], by),
      original.payload,
    ),
  );
const anyPayload = fc.oneof({ weight: 3, arbitrary: mutated }, { weight: 1, arbitrary: fc.jsonValue() });

const isText = (text: string, maxLength: number) =>
  text !== '' && text.length <= maxLength && text.isWellFormed();
const isTime = (time: number | null) =>
  time === null || (time >= Date.parse('2000-01-01T00:00Z') && time < Date.parse('2100-01-01T00:00Z'));

function isSound(signal: AlertSignal): boolean {
  return (
    isText(signal.key, 256) &&
    isText(signal.title, 600) &&
    (signal.severity === null || isText(signal.severity, 64)) &&
    (signal.url === null || /^https?:\/\//.test(signal.url)) &&
    isTime(signal.startedAtMs) &&
    isTime(signal.endedAtMs) &&
    (signal.status === 'resolved' || signal.endedAtMs === null) &&
    signal.serviceHints.length <= 8 &&
    signal.serviceHints.every(({ name }) => isText(name, 512)) &&
    signal.entities.length <= 32 &&
    new Set(signal.entities).size === signal.entities.length &&
    signal.entities.every((entity) => isText(entity, 512))
  );
}

describe('any JSON', () => {
  it.each(INTEGRATION_TYPES)(
    'is read by the parser of %s without an error, as sound alerts or none',
    (type) => {
      let alerts = 0;
      fc.assert(
        fc.property(anyPayload, (payload) => {
          const signals = signalsIn(type, payload);
          alerts += signals.length;
          expect(signals.filter((signal) => !isSound(signal))).toEqual([]);
          expect(signalsIn(type, structuredClone(payload))).toEqual(signals);
          const key = deduplicationKeyOf(type, { webhookId: '' }, payload);
          expect(key === null || isText(key, 256)).toBe(true);
        }),
        { numRuns: 3000 },
      );
      expect(alerts).toBeGreaterThan(300);
    },
  );
});
