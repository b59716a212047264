import { figure } from './figure.ts';
import type { BarPlot } from './plot.ts';
import { COLOURS, element, GREY, svg, text } from './svg.ts';

const WIDTH = 720;
const TOP = 44;
const BAR = 18;
const GAP = 4;
const HEADING = 20;
const LEFT = 16;
/** Room for what stands behind the longest bar. */
const RIGHT = 300;

export function barChart({ title, unit, groups }: BarPlot): string {
  const highest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const content: string[] = [];
  let y = TOP;
  for (const { name, bars } of groups) {
    content.push(text(LEFT, y + 14, name, { 'font-weight': 'bold' }));
    y += HEADING;
    for (const bar of bars) {
      const width = (bar.value / highest) * (WIDTH - LEFT - RIGHT);
      const fill = bar.isOurs ? COLOURS[0] : GREY;
      content.push(
        element('rect', { x: LEFT, y, width: width.toFixed(1), height: BAR, fill }),
        text(LEFT + width + 6, y + 13, `${figure(bar.value)} ${unit}, ${bar.name}`),
      );
      y += BAR + GAP;
    }
    y += 2 * GAP;
  }
  return svg(WIDTH, y + GAP, title, content);
}
