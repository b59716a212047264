/** `node test/mutation/main.ts [folder …]`: Stryker over folders of src, each with the tests that answer for it. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';

interface Folder {
  /** Patterns from `test`; of these, what is fast and in one process. */
  readonly tests: readonly string[];
  /** For each property: as many cases as go in this time. Some want all that they ask for. */
  readonly propertyMs: number;
  /** Percent of the mutants: fewer killed is a failure. */
  readonly atLeast: number;
}

const FOLDERS: Readonly<Record<string, Folder>> = {
  timers: { tests: ['timers/*'], propertyMs: 1000, atLeast: 94 },
  domain: { tests: ['domain/*'], propertyMs: 1000, atLeast: 99 },
  windows: { tests: ['windows/*', 'model/{history,live-events}*'], propertyMs: 1500, atLeast: 92 },
  alerting: { tests: ['alerting/*'], propertyMs: 10_000, atLeast: 93 },
  log: { tests: ['log/*', 'checkpoint/{checkpoint,old-data}*'], propertyMs: 2500, atLeast: 88 },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    concurrency: { type: 'string', default: '2' },
    /** Files of the folder, for a closer look: a pattern from the root. */
    mutate: { type: 'string', short: 'm' },
    /** What was found before is found anew: else, only what other tests or another source could change. */
    anew: { type: 'boolean', default: false },
  },
});

for (const name of positionals.length > 0 ? positionals : Object.keys(FOLDERS)) await mutate(name);

async function mutate(name: string): Promise<void> {
  const folder = FOLDERS[name];
  if (folder === undefined)
    throw new Error(`no such folder: ${name}; there are ${Object.keys(FOLDERS).join(', ')}`);
  // Read by vitest.config.ts, in a process of its own.
  process.env['FORESHOCK_MUTATION_TESTS'] = folder.tests.join(' ');
  process.env['FORESHOCK_MUTATION_PROPERTY_MS'] = String(folder.propertyMs);
  const stryker = new Stryker({
    mutate: values.mutate?.split(',') ?? [`src/${name}/**/*.ts`],
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    plugins: ['@stryker-mutator/vitest-runner'],
    coverageAnalysis: 'perTest',
    incremental: true,
    force: values.anew,
    incrementalFile: `coverage/mutation/${name}.json`,
    reporters: ['html', 'progress-append-only'],
    htmlReporter: { fileName: `coverage/mutation/${name}.html` },
    tempDirName: `coverage/mutation/sandbox-${name}`,
    ignorePatterns: ['/coverage', '/data', '/bench', '/dist', '/src/dashboard'],
    disableTypeChecks: false,
    // It would be rewritten by a library that TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    concurrency: Number(values.concurrency),
    timeoutMS: 3000,
    timeoutFactor: 1.5,
  });
  report(name, folder, await stryker.runMutationTest());
}

function report(name: string, folder: Folder, results: readonly MutantResult[]): void {
  const alive = results.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const dead = results.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  for (const mutant of alive) console.log(describe(mutant));
  const score = (100 * dead.length) / (dead.length + alive.length);
  console.log(
    `${name}: ${dead.length} of ${dead.length + alive.length} mutants killed, ${score.toFixed(1)} %`,
  );
  if (values.mutate !== undefined || score >= folder.atLeast) return;
  console.log(`${name}: less than the ${folder.atLeast} % that it is held to`);
  process.exitCode = 1;
}

function describe({ fileName, location, mutatorName, replacement, status }: MutantResult): string {
  const { start, end } = location;
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  const original =
    lines.length === 1
      ? (lines[0] ?? '').slice(start.column - 1, end.column - 1)
      : (lines[0] ?? '').slice(start.column - 1);
  const place = `${relative(process.cwd(), fileName)}:${start.line}:${start.column}`;
  return `${status} ${place} ${mutatorName}: ${original.trim()} → ${(replacement ?? '').split('\n').join(' ')}`;
}
