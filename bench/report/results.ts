/** `bench/results`: the last whole run, as a page and its plots. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { barChart } from './bar-chart.ts';
import { lineChart } from './line-chart.ts';
import type { Plot } from './plot.ts';

const DIRECTORY = resolve(import.meta.dirname, '../results');

/** @returns where the page stands */
export function writeResults(report: readonly string[], plots: readonly Plot[]): string {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const plot of plots) {
    writeFileSync(join(DIRECTORY, plot.file), plot.type === 'bars' ? barChart(plot) : lineChart(plot));
  }
  const page = join(DIRECTORY, 'latest.md');
  const images = plots.flatMap(({ title, file }) => [`![${title}](${file})`, '']);
  const heading = [
    '# The last run of `npm run bench`',
    '',
    'What the figures say and do not say is in [the README](../README.md).',
    '',
  ];
  writeFileSync(page, [...heading, ...report, '', ...images].join('\n'));
  return page;
}
