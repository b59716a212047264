/**
 * `npm run bench` measures everything and writes bench/results; `npm run bench -- ingest redis` measures these
 * two and prints them; `--list` names what there is. What the figures say and do not say is in bench/README.md.
 *
 * Exit code 1 where something is worse than its least, 2 where it was called wrongly.
 */
import { parseArgs } from 'node:util';
import { watchOthers } from './measure/others.ts';
import { machine } from './report/machine.ts';
import type { Plot } from './report/plot.ts';
import { writeResults } from './report/results.ts';
import { disturbed, judge, type Row } from './report/row.ts';
import { table } from './report/table.ts';
import { throughputPlot } from './report/throughput-plot.ts';
import { Scope } from './subject.ts';
import { SUBJECTS } from './subjects/all.ts';

const wanted = wantedSubjects();
const environment = machine();
const rows: Row[] = [];
const plots: Plot[] = [];
const skipped: string[] = [];
const others: string[] = [];
let failed = false;
const startedAt = performance.now();

for (const name of wanted) {
  process.stderr.write(`measuring ${name} …\n`);
  const scope = new Scope();
  const othersTook = watchOthers();
  const found: Row[] = [];
  try {
    const findings = await SUBJECTS.get(name)?.run(scope);
    found.push(...(findings?.rows ?? []));
    plots.push(...(findings?.plots ?? []));
    skipped.push(...(findings?.skipped ?? []).map((reason) => `${name}: ${reason}`));
  } catch (error) {
    failed = true;
    const reason = error instanceof Error ? error.message : String(error);
    skipped.push(`${name}: FAILED: ${reason}`);
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : reason}\n`);
  } finally {
    await scope.close();
    const processors = othersTook();
    others.push(`${name} ${processors.toFixed(1)}`);
    rows.push(...found.map((row) => disturbed(row, processors)));
  }
}

const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
const report = [
  ...environment.map((line) => `- ${line}`),
  `- ${minutes} minutes; processors that other work took meanwhile: ${others.join(', ')}`,
  '',
  table(rows),
  ...(skipped.length === 0 ? [] : ['', 'Skipped:', '', ...skipped.map((line) => `- ${line}`)]),
];
process.stdout.write(`${report.join('\n')}\n`);
if (wanted.length === SUBJECTS.size) {
  const throughput = throughputPlot(rows);
  const page = writeResults(report, throughput === undefined ? plots : [throughput, ...plots]);
  process.stderr.write(`written to ${page}\n`);
}
if (failed || rows.some((row) => judge(row).verdict === 'missed')) process.exitCode = 1;

function wantedSubjects(): readonly string[] {
  const { values, positionals } = parseArgs({
    options: { list: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.list) {
    for (const [name, { about }] of SUBJECTS) process.stdout.write(`${name.padEnd(14)}${about}\n`);
    process.exit(0);
  }
  const unknown = positionals.filter((name) => !SUBJECTS.has(name));
  if (unknown.length > 0) {
    process.stderr.write(`unknown: ${unknown.join(', ')}; there are: ${[...SUBJECTS.keys()].join(', ')}\n`);
    process.exit(2);
  }
  return positionals.length === 0 ? [...SUBJECTS.keys()] : [...new Set(positionals)];
}
