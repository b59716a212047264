import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noteText } from '../../src/alerting/note-text.ts';
import type { Candidate } from '../../src/domain/alert.ts';
import { anyText } from '../model/hostile-text.ts';
import { causesOf, happened, type Told } from './past.ts';

const ALERT_URL = 'https://foreshock.example/v1/alerts/6f0a3c1e-0000-4000-8000-000000000001';

function note(
  story: readonly Told[],
  change: Partial<Parameters<typeof noteText>[0]> = {},
): readonly string[] {
  return noteText({
    title: 'checkout-api: 5xx ratio above 5%',
    serviceName: 'checkout-api',
    candidates: causesOf(story.map(happened)),
    alertUrl: ALERT_URL,
    ...change,
  }).split('\n');
}
/** The line of the only candidate. */
const line = (told: Told, change: Partial<Candidate> = {}) => {
  const event = happened(told);
  const candidate = { event, minutesBefore: told.minutesBefore, score: 1, reasons: [], occurrences: 1 };
  return note([], { candidates: [{ ...candidate, ...change }] })[1];
};

describe('a note', () => {
  it('tells the three likeliest causes, a line each, and where the rest is', () => {
    const deploy = {
      eventType: 'deploy',
      entity: 'payments-api',
      oldValue: '1f2e9a40c0ffee00c0ffee00c0ffee00c0ffee00',
      newValue: '9a8b77c1c0ffee00c0ffee00c0ffee00c0ffee00',
      actor: 'ci',
      minutesBefore: 3,
    } as const;
    const circuit = { eventType: 'circuit_open', entity: 'orders-db', minutesBefore: 1 } as const;
    const saturation = {
      serviceName: 'orders-db',
      eventType: 'saturation',
      entity: 'connections',
      newValue: '100 of 100',
      liveMinutes: 120,
    } as const;
    const story = [
      deploy,
      circuit,
      ...[13, 12, 11, 10].map((minutesBefore) => ({ ...saturation, minutesBefore })),
      { eventType: 'restart', entity: 'pod-a', minutesBefore: 50 },
      { eventType: 'flag_change', entity: 'new-checkout', oldValue: 'on', newValue: 'off', minutesBefore: 4 },
    ] satisfies readonly Told[];
    expect(note(story)).toEqual([
      'Foreshock: before "checkout-api: 5xx ratio above 5%" (checkout-api, times in UTC)',
      '1. 10:12 (3 min before) deploy payments-api 1f2e9a40 → 9a8b77c1 by ci',
      '2. 10:11 (4 min before) flag change new-checkout on → off',
      '3. 10:14 (1 min before) circuit open orders-db',
      `And 2 more: ${ALERT_URL}`,
    ]);
    expect(note(story.slice(1, 6)).slice(1, 3)).toEqual([
      '1. 10:14 (1 min before) circuit open orders-db',
      '2. 10:02 (13 min before) dependency orders-db: saturation connections → 100 of 100 ×4',
    ]);
  });

  it('links to all there is where three lines tell it', () => {
    const story = [{ eventType: 'deploy', minutesBefore: 3 }] as const;
    expect(note(story).at(-1)).toBe(`Details: ${ALERT_URL}`);
    expect(note(story, { alertUrl: null })).toHaveLength(2);
  });

  it('counts what it leaves out, also without a link, and with one too long to be whole', () => {
    const story = ['a', 'b', 'c', 'd'].map(
      (entity) => ({ eventType: 'restart', entity, minutesBefore: 1 }) as const,
    );
    expect(note(story, { alertUrl: null }).at(-1)).toBe('And 1 more.');
    expect(note(story, { alertUrl: `https://${'x'.repeat(200)}.example` }).at(-1)).toBe('And 1 more.');
  });

  it('says so when nothing is known, and that this proves nothing', () => {
    expect(note([])).toEqual([
      'Foreshock: nothing was reported for checkout-api or its dependencies before "checkout-api: 5xx ratio above 5%".',
      'No agent saw a change; one may have happened all the same.',
      `Details: ${ALERT_URL}`,
    ]);
  });

  it('says so when no service was matched, and what to do about it', () => {
    expect(note([], { serviceName: null })).toEqual([
      'Foreshock: "checkout-api: 5xx ratio above 5%" matched no service, so no cause was looked for.',
      'Map its name in config.service_map.',
      `Details: ${ALERT_URL}`,
    ]);
  });
});

describe('a line of a note', () => {
  const deploy = { eventType: 'deploy', entity: 'app', minutesBefore: 3 } as const;

  it.each([
    [{}, 'deploy app'],
    [{ newValue: 'v42' }, 'deploy app → v42'],
    [{ oldValue: 'v41' }, 'deploy app (was v41)'],
    // Digits of a revision in a longer text are left as they are.
    [{ newValue: 'v-8a1cb4a02d35' }, 'deploy app → v-8a1cb4a02d35'],
    [{ newValue: '8a1cb4a02d35-rc' }, 'deploy app → 8a1cb4a02d35-rc'],
    [{ sha: '8a1cb4a02d3538e54907c827352f66f20c3d7b0d' }, 'deploy app → 8a1cb4a0'],
    [{ oldValue: 'v41', sha: '8a1cb4a' }, 'deploy app v41 → 8a1cb4a'],
    [{ newValue: 'v42', sha: '8a1cb4a', actor: 'anna' }, 'deploy app → v42 by anna'],
  ])('says what is known of %j', (known, expected) => {
    expect(line({ ...deploy, ...known })).toBe(`1. 10:12 (3 min before) ${expected}`);
  });

  it.each([
    [0, '10:15 (<1 min before)'],
    [0.9, '10:14 (<1 min before)'],
    [-0.5, '10:15 (<1 min after)'],
    [-1, '10:16 (1 min after)'],
    [119, '08:16 (119 min before)'],
    [120, '08:15 (2 h before)'],
    [180, '07:15 (3 h before)'],
    [2880, '10:15 (2 days before)'],
    [4320, '10:15 (3 days before)'],
  ])('tells %d minutes as %s', (minutesBefore, expected) => {
    expect(line({ ...deploy, minutesBefore })).toBe(`1. ${expected} deploy app`);
  });

  it('cannot be broken, turned round or hidden in by what agents send', () => {
    const told = {
      ...deploy,
      entity: 'app\n2. 10:14 rollback\r\n\u2028 now',
      newValue: '\u202egpj.exe\u2066\u200b',
      actor: 'a\0b\x1b[31m\ud800',
    };
    expect(line(told)).toBe(
      '1. 10:12 (3 min before) deploy app 2. 10:14 rollback now → gpj.exe by a b [31m\ufffd',
    );
  });

  it('shortens what is long, and keeps what matters', () => {
    const long = { entity: 'e'.repeat(500), oldValue: 'o'.repeat(500), newValue: 'n'.repeat(500) };
    const told = { ...deploy, ...long, serviceName: 's'.repeat(500), actor: 'a'.repeat(500) };
    const text = line(told) ?? '';
    expect(text.length).toBeLessThanOrEqual(190);
    expect(text).toMatch(/^1\. 10:12 \(3 min before\) dependency s{39}…: deploy e{39}… o{23}… → n{23}…/);
  });
});

describe('a note of anything', () => {
  it('is at most 1000 characters on at most five lines, well-formed, with nothing unseen in it', () => {
    const text = fc.oneof(anyText, fc.constantFrom('\u202e\u2066', '\n\n', '\ud83d', '😀'.repeat(600)));
    const told = fc.record({
      eventType: fc.constantFrom('deploy', 'restart', 'dependency_failure'),
      serviceName: text,
      entity: text,
      oldValue: fc.option(text, { nil: null }),
      newValue: fc.option(text, { nil: null }),
      actor: fc.option(text, { nil: null }),
      sha: fc.option(text, { nil: null }),
      minutesBefore: fc.double({ min: -1, max: 50_000, noNaN: true }),
    }) satisfies fc.Arbitrary<Told>;
    const candidates = fc.array(
      told.map((event) => {
        const { minutesBefore } = event;
        return { event: happened(event), minutesBefore, score: 1, reasons: [], occurrences: 10_000 };
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(
        text,
        fc.option(text),
        candidates,
        fc.option(fc.webUrl()),
        (title, serviceName, found, alertUrl) => {
          const all = noteText({ title, serviceName, candidates: found, alertUrl });
          expect(all.length).toBeLessThanOrEqual(1000);
          expect(all.split('\n').length).toBeLessThanOrEqual(5);
          expect(all.isWellFormed()).toBe(true);
          expect(all.replaceAll('\n', '')).not.toMatch(
            /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C\uFEFF]/u,
          );
        },
      ),
      { numRuns: 1000 },
    );
  });
});
