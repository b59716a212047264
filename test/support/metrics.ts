/** Metrics as a scrape reads them. */
import { expect } from 'vitest';
import type { HttpClient } from './http.ts';

export class Scrape {
  readonly text: string;
  /** By name and labels, as they are written: `name{label="value"}`. */
  readonly #values = new Map<string, number>();
  readonly names = new Set<string>();

  constructor(text: string) {
    this.text = text;
    for (const line of text.split('\n')) {
      const [, series = '', value = ''] = /^([a-z][^ ]*(?:\{.*\})?) ([^ ]+)$/.exec(line) ?? [];
      if (series === '') continue;
      expect(this.#values.has(series)).toBe(false);
      this.#values.set(series, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
      this.names.add(series.replace(/\{.*/, ''));
    }
  }

  /** Fails where there is no such series. */
  value(series: string): number {
    const value = this.#values.get(series);
    expect([series, value]).toEqual([series, expect.any(Number)]);
    return value ?? Number.NaN;
  }
}

export async function scrape(http: HttpClient): Promise<Scrape> {
  const { status, text } = await http.get('/metrics');
  expect(status).toBe(200);
  return new Scrape(text);
}
