import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventType, ServiceEvent } from '../../src/dashboard/model.ts';
import { layOut } from '../../src/dashboard/views/lane-layout.ts';

/** A pixel is a millisecond. */
const NONE = new Set<never>();
const SPAN = { fromMs: 1000, toMs: 2000, width: 1000, foremost: NONE, wide: NONE };

function event(key: string, fromMs: number, untilMs: number, event_type: EventType = 'deploy'): ServiceEvent {
  const nothing = { old_value: null, new_value: null, actor: null, sha: null };
  const times = { timestamp: '', expires_at: '', fromMs, untilMs };
  return { key, service_id: '', event_type, vendor: '', entity: '', confidence: 1, ...nothing, ...times };
}

const barsOf = (...events: readonly ServiceEvent[]) =>
  new Map(layOut(events, SPAN).bars.map((bar) => [bar.event.key, bar]));

describe('the bars of a timeline', () => {
  it('reach from receipt to expiry, and beyond the edges where the event does', () => {
    const bars = barsOf(event('within', 1100, 1300), event('beyond', 0, 5000, 'restart'));
    expect(bars.get('within')).toMatchObject({ x: 100, width: 200 });
    expect(bars.get('beyond')?.x).toBeLessThan(0);
    expect((bars.get('beyond')?.x ?? 0) + (bars.get('beyond')?.width ?? 0)).toBeGreaterThan(1000);
  });

  it('are seen, however short the life of the event', () => {
    expect(barsOf(event('short', 1100, 1100)).get('short')?.width).toBeGreaterThanOrEqual(3);
  });

  it('lie below one another where they overlap, and in one row where they do not', () => {
    const bars = barsOf(event('a', 1100, 1300), event('b', 1200, 1400), event('c', 1300, 1500));
    expect(bars.get('b')?.y).toBeGreaterThan(bars.get('a')?.y ?? 0);
    expect(bars.get('c')?.y).toBe(bars.get('a')?.y);
  });

  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => event(`e-${index}`, 1100 + index, 1900));

  it('are counted in a row of their own where there are too many, and a lane grows no further', () => {
    const { bars, crowds, height, lanes } = layOut(many(50), SPAN);
    expect(bars.map(({ event: { key } }) => key)).toEqual(['e-0', 'e-1', 'e-2', 'e-3']);
    expect(crowds).toEqual([
      { type: 'deploy', first: 'e-4', count: 46, x: 104, y: expect.any(Number), width: 796 },
    ]);
    expect(Math.max(...bars.map(({ y }) => y))).toBeLessThan(crowds[0]?.y ?? 0);
    expect(lanes[0]).toMatchObject({ type: 'deploy', isCrowded: true });
    expect(height).toBe(layOut(many(500), SPAN).height);
    expect(height).toBeGreaterThan(layOut(many(4), SPAN).height);
  });

  it('of crowds that lie apart are counted apart', () => {
    const later = many(9).map((each) => event(`later ${each.key}`, each.fromMs + 850, each.untilMs + 80));
    const { crowds } = layOut([...many(9), ...later], SPAN);
    expect(crowds.map(({ count }) => count)).toEqual([5, 5]);
  });

  it('all have a row in a lane that is to show them all', () => {
    const { bars, crowds } = layOut(many(50), { ...SPAN, wide: new Set(['deploy'] as const) });
    expect({ bars: bars.length, crowds }).toEqual({ bars: 50, crowds: [] });
    expect(new Set(bars.map(({ y }) => y)).size).toBe(50);
  });

  it('of what an alert may be due to are never among those that are only counted', () => {
    const { bars } = layOut(many(50), { ...SPAN, foremost: new Set(['e-40', 'e-44']) });
    expect(bars.map(({ event: { key } }) => key)).toEqual(['e-0', 'e-1', 'e-40', 'e-44']);
  });

  it('of several that there is no room for leave it to the likeliest', () => {
    const { bars } = layOut(many(50), { ...SPAN, foremost: new Set(['e-44', 'e-40', 'e-9', 'e-8', 'e-1']) });
    expect(bars.map(({ event: { key } }) => key)).toEqual(['e-8', 'e-9', 'e-40', 'e-44']);
  });

  it('never lie over one another', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1200), fc.nat(400), fc.boolean()), { maxLength: 60 }), (drawn) => {
        const events = drawn.map(([from, length], n) => event(`e-${n}`, 900 + from, 900 + from + length));
        const foremost = new Set(
          events.filter((_, n) => drawn[n]?.[2] === true && n % 9 === 0).map(({ key }) => key),
        );
        const { bars, crowds } = layOut(events, { ...SPAN, foremost });
        for (const [n, bar] of bars.entries()) {
          for (const other of bars.slice(n + 1)) {
            const isApart = bar.x + bar.width <= other.x || other.x + other.width <= bar.x;
            // Rounded to whole pixels, and no narrower than can be seen.
            if (bar.y === other.y && !isApart) {
              const overlap = Math.min(bar.x + bar.width, other.x + other.width) - Math.max(bar.x, other.x);
              expect(overlap).toBeLessThanOrEqual(4);
            }
          }
        }
        const counted = crowds.reduce((sum, { count }) => sum + count, 0);
        expect(bars.length + counted).toBe(events.length);
      }),
    );
  });

  it('have a lane for each type, also where nothing is in it', () => {
    const { lanes } = layOut([event('a', 1100, 1300, 'saturation')], SPAN);
    expect(lanes.map(({ type }) => type)).toEqual([
      ...['deploy', 'flag_change', 'restart', 'saturation', 'circuit_open', 'dependency_failure'],
    ]);
  });
});
