import { expect, it } from 'vitest';
import { isLoopback } from '../../src/lib/address.ts';
import { Histogram } from '../../src/lib/histogram.ts';
import { expositionOf } from '../../src/metrics/exposition.ts';

it('escapes what would end a label or a line', () => {
  const samples = [{ labels: { reason: 'a "b"\\c\nd' }, value: 1 }];
  expect(expositionOf([{ type: 'counter', name: 'x_total', help: 'one\\two\nthree', samples }])).toBe(
    '# HELP x_total one\\\\two\\nthree\n# TYPE x_total counter\nx_total{reason="a \\"b\\"\\\\c\\nd"} 1\n',
  );
});

it('counts a duration in the bucket of its bound, and in all above', () => {
  const histogram = new Histogram();
  for (const milliseconds of [0, 0.1, 0.11, 10_000, 10_001]) histogram.observe(milliseconds);
  const counts = new Map(histogram.buckets.map(({ upToSeconds, count }) => [upToSeconds, count]));
  expect([0.0001, 0.00025, 5, 10, Number.POSITIVE_INFINITY].map((bound) => counts.get(bound))).toEqual([
    2, 3, 3, 4, 5,
  ]);
  expect(histogram.sumSeconds).toBeCloseTo(20.00121);
});

it.each([
  [[127, 0, 0, 1], true],
  [[127, 255, 0, 9], true],
  [[10, 0, 0, 1], false],
  [[128, 0, 0, 1], false],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], false],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], true],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1], false],
  [[], false],
])('knows %j for a program of this machine: %s', (bytes, expected) => {
  expect(isLoopback(new Uint8Array(bytes))).toBe(expected);
});
