import type { LinePlot } from './plot.ts';
import { scaleOf } from './scale.ts';
import { COLOURS, element, GREY, line, svg, text } from './svg.ts';

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 70;
const RIGHT = 40;
const TOP = 64;
const BOTTOM = 50;

export function lineChart({ title, x, y, lines }: LinePlot): string {
  const points = lines.flatMap((each) => each.points);
  const xScale = scaleOf(
    x,
    points.map(([value]) => value),
  );
  const yScale = scaleOf(
    y,
    points.map(([, value]) => value),
  );
  const xAt = (value: number) => LEFT + xScale.place(value) * (WIDTH - LEFT - RIGHT);
  const yAt = (value: number) => HEIGHT - BOTTOM - yScale.place(value) * (HEIGHT - TOP - BOTTOM);
  const label = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 6 });
  return svg(WIDTH, HEIGHT, title, [
    ...yScale.ticks.flatMap((tick) => [
      line(LEFT, yAt(tick), WIDTH - RIGHT, yAt(tick)),
      text(LEFT - 8, yAt(tick) + 4, label(tick), { 'text-anchor': 'end' }),
    ]),
    ...xScale.ticks.flatMap((tick) => [
      line(xAt(tick), HEIGHT - BOTTOM, xAt(tick), HEIGHT - BOTTOM + 5, { stroke: GREY }),
      text(xAt(tick), HEIGHT - BOTTOM + 20, label(tick), { 'text-anchor': 'middle' }),
    ]),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x.label, { 'text-anchor': 'middle' }),
    text(16, TOP - 14, y.label),
    ...lines.flatMap(({ name, points: along, dashed }, index) => {
      const stroke = dashed ? GREY : (COLOURS[index % COLOURS.length] ?? GREY);
      const path = along.map(([px, py]) => `${xAt(px).toFixed(1)},${yAt(py).toFixed(1)}`).join(' ');
      const legendAt = LEFT + 60 + index * 200;
      return [
        element('polyline', {
          points: path,
          fill: 'none',
          stroke,
          'stroke-width': 2,
          ...(dashed ? { 'stroke-dasharray': '6 4' } : {}),
        }),
        line(legendAt, TOP - 18, legendAt + 24, TOP - 18, { stroke, 'stroke-width': 3 }),
        text(legendAt + 30, TOP - 14, name),
      ];
    }),
  ]);
}
