/**
 * `node test/coverage/main.ts [vitest's arguments]`: runs the tests and says how much of `src` they cover, in this
 * process and in every server, command and thread that they start; but for those that they kill, which cannot tell.
 * Types are stripped from the source, not compiled away, so that places in what runs are places in the source.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type CoverageFile, CoverageReport, type V8CoverageEntry } from 'monocart-coverage-reports';

/** Percent of the statements and of the branches; fewer in a whole run is a failure. */
const AT_LEAST = { statements: 96, branches: 88 };

const ROOT = resolve(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');
const RAW = join(ROOT, 'coverage/raw');

rmSync(RAW, { recursive: true, force: true });
const [node, vitest] = [process.execPath, join(ROOT, 'node_modules/vitest/vitest.mjs')];
const only = process.argv.slice(2);
const run = spawnSync(node, [vitest, 'run', '--config', 'test/coverage/vitest.config.ts', ...only], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, NODE_V8_COVERAGE: RAW },
});
process.exitCode = run.status ?? 1;

const report = new CoverageReport({
  name: 'Foreshock',
  outputDir: join(ROOT, 'coverage/report'),
  baseDir: ROOT,
  reports: ['v8'],
  logging: 'error',
  // Also what nothing has loaded.
  all: { dir: SRC, filter: isServerSide, transformer: async (entry: V8CoverageEntry) => strip(entry) },
});
for (const name of readdirSync(RAW)) {
  const { result } = JSON.parse(readFileSync(join(RAW, name), 'utf8')) as { result: V8CoverageEntry[] };
  const entries = result.filter(({ url }) => url.startsWith(`${pathToFileURL(SRC)}/`) && isServerSide(url));
  for (const entry of entries) strip(entry);
  if (entries.length > 0) await report.add(entries);
}
const results = await report.generate();
printTable(results?.files ?? []);

/** The page runs in a browser, and is tested there. */
function isServerSide(path: string): boolean {
  return path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.includes('/src/dashboard/');
}

function strip(entry: V8CoverageEntry): void {
  const path = entry.url.startsWith('file:') ? fileURLToPath(entry.url) : resolve(ROOT, entry.url);
  entry.source = stripTypeScriptTypes(readFileSync(path, 'utf8'));
}

function printTable(files: readonly CoverageFile[]): void {
  const folders = Map.groupBy(files, ({ sourcePath }) => folderOf(sourcePath));
  console.log(`\n${row('folder', 'files', 'statements', 'branches', 'functions')}`);
  for (const name of [...folders.keys()].sort()) printRow(name, folders.get(name) ?? []);
  const total = printRow('all', files);
  if (only.length > 0) return;
  for (const measure of ['statements', 'branches'] as const) {
    if (total[measure] >= AT_LEAST[measure]) continue;
    console.log(`less than ${AT_LEAST[measure]} % of the ${measure}`);
    process.exitCode = 1;
  }
}

function printRow(name: string, files: readonly CoverageFile[]): { statements: number; branches: number } {
  const statements = percent(files, 'statements');
  const branches = percent(files, 'branches');
  const cells = [statements, branches, percent(files, 'functions')].map((each) => `${each.toFixed(1)} %`);
  console.log(row(name, String(files.length), ...cells));
  return { statements, branches };
}

function percent(files: readonly CoverageFile[], measure: 'statements' | 'branches' | 'functions'): number {
  const sum = (part: 'covered' | 'total') =>
    files.reduce((total, { summary }) => total + (summary[measure]?.[part] ?? 0), 0);
  return sum('total') === 0 ? 100 : (100 * sum('covered')) / sum('total');
}

function row(name: string, ...cells: readonly string[]): string {
  return name.padEnd(16) + cells.map((cell) => cell.padStart(12)).join('');
}

function folderOf(path: string): string {
  const inSrc = relative(SRC, resolve(ROOT, path));
  return inSrc.includes('/') ? inSrc.slice(0, inSrc.indexOf('/')) : '(top)';
}
