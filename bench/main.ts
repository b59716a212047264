/**
 * `npm run bench` measures everything and writes bench/results; `npm run bench -- ingest redis` measures these
 * two and prints them; `--list` names what there is. What the figures say and do not say is in bench/README.md.
 *
 * Exit code 1 where something is worse than its least, 2 where it was called wrongly.
 */
import { parseArgs } from 'node:util';
import { watchOthers } from './measure/others.ts';
import { machine } from './report/machine.ts';
import { writeResults } from './report/results.ts';
import { disturbed, judge } from './report/row.ts';
import { table } from './report/table.ts';
import { throughputPlot } from './report/throughput-plot.ts';
import { type Findings, Scope } from './subject.ts';
import { SUBJECTS } from './subjects/all.ts';
import { inTurns, type Rest } from './turns.ts';

interface Outcome {
  readonly name: string;
  findings: Findings;
  /** That other work took while it was measured: the most of its turns. */
  processors: number;
  failure?: string;
}

const wanted = wantedSubjects();
const environment = machine();
const startedAt = performance.now();

const outcomes = wanted.map((name): Outcome => ({ name, findings: { rows: [] }, processors: 0 }));
await inTurns(outcomes.map((outcome) => (rest) => measure(outcome, rest)));

const rows = outcomes.flatMap(({ findings, processors }) =>
  findings.rows.map((row) => disturbed(row, processors)),
);
const plots = outcomes.flatMap(({ findings }) => findings.plots ?? []);
const skipped = outcomes.flatMap(({ name, findings, failure }) =>
  [...(findings.skipped ?? []), ...(failure === undefined ? [] : [`FAILED: ${failure}`])].map(
    (reason) => `${name}: ${reason}`,
  ),
);
const failed = outcomes.some(({ failure }) => failure !== undefined);
const others = outcomes.map(({ name, processors }) => `${name} ${processors.toFixed(1)}`);

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

async function measure(outcome: Outcome, restOfRun: Rest): Promise<void> {
  const { name } = outcome;
  let othersTook = () => 0;
  const begin = () => {
    process.stderr.write(`measuring ${name} …\n`);
    othersTook = watchOthers();
  };
  const pause = () => {
    outcome.processors = Math.max(outcome.processors, othersTook());
  };
  const scope = new Scope(async () => {
    pause();
    await restOfRun();
    begin();
  });
  begin();
  try {
    outcome.findings = (await SUBJECTS.get(name)?.run(scope)) ?? outcome.findings;
  } catch (error) {
    outcome.failure = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : outcome.failure}\n`);
  } finally {
    await scope.close();
    pause();
  }
}

function wantedSubjects(): readonly string[] {
  const { values, positionals } = parsedArgs();
  if (values.list) {
    for (const [name, { about }] of SUBJECTS) process.stdout.write(`${name.padEnd(14)}${about}\n`);
    process.exit(0);
  }
  const unknown = positionals.filter((name) => !SUBJECTS.has(name));
  if (unknown.length > 0) {
    wronglyCalled(`unknown: ${unknown.join(', ')}; there are: ${[...SUBJECTS.keys()].join(', ')}`);
  }
  return positionals.length === 0 ? [...SUBJECTS.keys()] : [...new Set(positionals)];
}

function parsedArgs() {
  try {
    const options = { list: { type: 'boolean', default: false } } as const;
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return wronglyCalled(error instanceof Error ? error.message : String(error));
  }
}

function wronglyCalled(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}
