/**
 * The Prometheus text format, version 0.0.4. Written by hand: a library would want to keep the numbers, and ours are
 * kept where they come up, as plain fields that are read when somebody asks.
 */
import type { Histogram } from '../lib/histogram.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export type Family =
  | {
      readonly type: 'counter' | 'gauge';
      readonly name: string;
      /** A sentence; what is counted, since when, of what. */
      readonly help: string;
      readonly samples: readonly Sample[];
    }
  | {
      readonly type: 'histogram';
      readonly name: string;
      readonly help: string;
      readonly histograms: readonly { readonly labels?: Labels; readonly histogram: Histogram }[];
    };

export function expositionOf(families: readonly Family[]): string {
  return families.map(familyText).join('');
}

function familyText(family: Family): string {
  const { name, help, type } = family;
  const head = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
  if (family.type !== 'histogram') {
    return head + family.samples.map(({ labels, value }) => line(name, labels, value)).join('');
  }
  return (
    head + family.histograms.map(({ labels, histogram }) => bucketLines(name, labels, histogram)).join('')
  );
}

function bucketLines(name: string, labels: Labels | undefined, { buckets, sumSeconds }: Histogram): string {
  const lines = buckets.map(({ upToSeconds, count }) =>
    line(`${name}_bucket`, { ...labels, le: numberText(upToSeconds) }, count),
  );
  const total = buckets.at(-1)?.count ?? 0;
  return `${lines.join('')}${line(`${name}_sum`, labels, sumSeconds)}${line(`${name}_count`, labels, total)}`;
}

function line(name: string, labels: Labels = {}, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
