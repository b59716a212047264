import { describe, expect, it } from 'vitest';
import { barChart } from '../../bench/report/bar-chart.ts';
import { lineChart } from '../../bench/report/line-chart.ts';
import { disturbed, judge, type Row } from '../../bench/report/row.ts';
import { table } from '../../bench/report/table.ts';

const limits = { least: 0.5, aim: 0.8 };
const speed = (unit: 'requests/s' | 'µs CPU', ours: number, peer: number): Row => ({
  type: 'speed',
  what: 'ingest',
  unit,
  ours,
  peer: { name: 'bare', figure: peer },
  ...limits,
});

describe('a row', () => {
  it('says how many times as fast ours is, of a rate and of a time alike', () => {
    expect(judge(speed('requests/s', 60, 100)).ratio).toBeCloseTo(0.6);
    expect(judge(speed('µs CPU', 10, 6)).ratio).toBeCloseTo(0.6);
  });

  it.each([
    { ours: 49, verdict: 'missed' },
    { ours: 50, verdict: 'least' },
    { ours: 79, verdict: 'least' },
    { ours: 80, verdict: 'aim' },
  ])('of speed is held to floors: $ours of 100 is "$verdict"', ({ ours, verdict }) => {
    expect(judge(speed('requests/s', ours, 100)).verdict).toBe(verdict);
  });

  it.each([
    { ours: 151, verdict: 'missed' },
    { ours: 150, verdict: 'least' },
    { ours: 110, verdict: 'aim' },
    { ours: 50, verdict: 'aim' },
  ])('of growth is held to ceilings: $ours to 100 is "$verdict"', ({ ours, verdict }) => {
    const row: Row = {
      type: 'growth',
      what: 'p99',
      unit: 'ms',
      ours,
      peer: { name: 'empty', figure: 100 },
      least: 1.5,
      aim: 1.1,
    };
    expect(judge(row).verdict).toBe(verdict);
  });

  it('that is a figure is held to it in its own direction, whatever stands beside it', () => {
    const stall: Row = {
      type: 'figure',
      better: 'lower',
      what: 'stall',
      unit: 'ms',
      ours: 6,
      least: 20,
      aim: 5,
    };
    const rate: Row = { ...stall, better: 'higher', unit: 'events/s', least: 7, aim: 9 };
    expect(judge(stall).verdict).toBe('least');
    expect(judge({ ...stall, peer: { name: 'idle', figure: 1 } }).verdict).toBe('least');
    expect(judge(rate).verdict).toBe('missed');
  });

  it('by the wall clock is called disturbed where others took the machine; a cost is not', () => {
    const last = (row: Row) => table([row]).split('| ').at(-1);
    expect(last(disturbed(speed('requests/s', 60, 100), 0.5))).toBe('least, disturbed |');
    expect(last(disturbed(speed('requests/s', 60, 100), 0.1))).toBe('least |');
    expect(last(disturbed(speed('µs CPU', 10, 6), 0.5))).toBe('least |');
  });

  it('is printed with the direction of its limits', () => {
    expect(
      table([speed('µs CPU', 10, 6)])
        .split('\n')
        .at(-1),
    ).toBe('| ingest | 10 µs CPU | 6 (bare) | 0.60× | ≥ 0.5× | ≥ 0.8× | least |');
  });
});

describe('a plot', () => {
  it('of lines puts every further nine the same way along, and is well-formed whatever its names', () => {
    const drawn = lineChart({
      type: 'lines',
      file: 'x.svg',
      title: 'a < b & "c"',
      x: { label: 'percentile', scale: 'percentile' },
      y: { label: 'ms', scale: 'log' },
      lines: [
        {
          name: 'one',
          points: [
            [90, 1],
            [99, 10],
            [99.9, 100],
          ],
        },
      ],
    });
    const points =
      /points="([^"]+)"/
        .exec(drawn)?.[1]
        ?.split(' ')
        .map((pair) => pair.split(',').map(Number)) ?? [];
    const [first, second, third] = points.map(([x = 0]) => x);
    expect((second ?? 0) - (first ?? 0)).toBeCloseTo((third ?? 0) - (second ?? 0), 0);
    expect(drawn).toContain('a &lt; b &amp; &quot;c&quot;');
    expect(drawn).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('of bars draws all to one scale', () => {
    const bars = [
      { name: 'ours', value: 50, isOurs: true },
      { name: 'theirs', value: 100, isOurs: false },
    ];
    const drawn = barChart({
      type: 'bars',
      file: 'x.svg',
      title: 't',
      unit: '/s',
      groups: [{ name: 'g', bars }],
    });
    const widths = [...drawn.matchAll(/<rect x="16"[^>]*width="([\d.]+)"/g)].map((match) => Number(match[1]));
    expect(widths[0]).toBeCloseTo((widths[1] ?? 0) / 2);
  });
});
