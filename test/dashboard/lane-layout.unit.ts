import { describe, expect, it } from 'vitest';
import type { EventType, ServiceEvent } from '../../src/dashboard/model.ts';
import { layOut } from '../../src/dashboard/views/lane-layout.ts';

/** A pixel is a millisecond. */
const SPAN = { fromMs: 1000, toMs: 2000, width: 1000 };

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

  it('crowd in the last row where there are too many, and a lane grows no further', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => event(`e-${index}`, 1100 + index, 1900));
    const { bars, height } = layOut(many(50), SPAN);
    expect(bars.filter(({ isFree }) => isFree)).toHaveLength(4);
    expect(new Set(bars.map(({ y }) => y)).size).toBe(4);
    expect(height).toBe(layOut(many(4), SPAN).height);
    expect(height).toBeGreaterThan(layOut([], SPAN).height);
  });

  it('have a lane for each type, also where nothing is in it', () => {
    const { lanes } = layOut([event('a', 1100, 1300, 'saturation')], SPAN);
    expect(lanes.map(({ type }) => type)).toEqual([
      ...['deploy', 'flag_change', 'restart', 'saturation', 'circuit_open', 'dependency_failure'],
    ]);
  });
});
