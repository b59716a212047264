import { describe, expect, it } from 'vitest';
import { identicalEvents } from '../../src/alerting/identical-events.ts';
import { happened, STARTED_AT_MS, type Told } from './past.ts';

/** When the one that stands for all of them came, in whatever order they are given. */
function standing(told: Omit<Told, 'minutesBefore'>, minutes: readonly number[]): number {
  const events = minutes.map((minutesBefore) =>
    happened({ ...told, eventType: told.eventType, minutesBefore }),
  );
  const [forward, ...more] = identicalEvents(events, STARTED_AT_MS);
  const [backward] = identicalEvents(events.toReversed(), STARTED_AT_MS);
  expect([more, forward?.occurrences]).toEqual([[], minutes.length]);
  expect(backward).toEqual(forward);
  return (STARTED_AT_MS - (forward?.event.timestampMs ?? 0)) / 60_000;
}

describe('events that are the same are told by', () => {
  it.each<[string, Omit<Told, 'minutesBefore'>]>([
    ['a fault', { eventType: 'restart' }],
    [
      'a fault that says what was before',
      { eventType: 'restart', oldValue: 'Running', newValue: 'OOMKilled' },
    ],
    ['a deploy that does not say what was before', { eventType: 'deploy', newValue: '9a8b77c1' }],
    ['a deploy that says only what was before', { eventType: 'deploy', oldValue: '1f2e9a40' }],
    ['a deploy of what was there', { eventType: 'deploy', oldValue: '9a8b77c1', newValue: '9a8b77c1' }],
  ])('the first of them: %s', (_, told) => {
    expect(standing(told, [5, 9, 2])).toBe(9);
    expect(standing(told, [-0.5, 2, 5])).toBe(5);
  });

  it.each<[string, Omit<Told, 'minutesBefore'>]>([
    ['a flag switched on again', { eventType: 'flag_change', oldValue: 'off', newValue: 'on' }],
    ['a deploy that was rolled back in between', { eventType: 'deploy', oldValue: 'v1', newValue: 'v2' }],
  ])('the latest of them before the start: %s', (_, told) => {
    expect(standing(told, [5, 9, 2])).toBe(2);
    expect(standing(told, [-0.5, 5, 9])).toBe(5);
    expect(standing(told, [-0.5, -0.2, -0.7])).toBe(-0.2);
  });

  it('the one of the lowest id, of those that came at once', () => {
    const [a, b] = ['a', 'b'].map((id) => happened({ id, eventType: 'restart', minutesBefore: 5 }));
    if (a === undefined || b === undefined) throw new Error('there are two');
    for (const events of [
      [a, b],
      [b, a],
    ])
      expect(identicalEvents(events, STARTED_AT_MS)[0]?.event.id).toBe('a');
  });
});

describe('events that are the same', () => {
  it('are as sure as the surest, and live as long as the longest', () => {
    const told = { eventType: 'restart', minutesBefore: 5 } as const;
    const events = [
      happened({ ...told, confidence: 0.9, liveMinutes: 5 }),
      happened({ ...told, confidence: 0.4, liveMinutes: 50 }),
    ];
    for (const order of [events, events.toReversed()]) {
      const [group] = identicalEvents(order, STARTED_AT_MS);
      expect(group).toMatchObject({ confidence: 0.9, expiresAtMs: STARTED_AT_MS + 45 * 60_000 });
    }
  });

  it('are not those that differ in anything but their times, their actor and how sure they are', () => {
    const event = happened({ eventType: 'deploy', minutesBefore: 5 });
    const others = [
      { serviceName: 'x' },
      { eventType: 'restart' },
      { vendor: 'x' },
      { entity: 'x' },
      { oldValue: '' },
      { newValue: '' },
      { sha: '' },
    ] as const;
    for (const other of others) expect(identicalEvents([event, { ...event, ...other }], 0)).toHaveLength(2);
    const same = { ...event, actor: 'anna', confidence: 0.1, timestampMs: 1 };
    expect(identicalEvents([event, same], 0)).toHaveLength(1);
  });
});
