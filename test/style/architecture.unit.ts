/** The rules of src/README.md that a machine can hold the code to. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const SRC = join(ROOT, 'src');

/** Which folders of src a folder may import from. Files at the top of src (engine, server, main …) may import all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  lib: [],
  events: ['domain', 'lib'],
  log: ['events', 'domain', 'lib'],
  actors: ['domain', 'lib'],
  windows: ['domain', 'lib'],
  timers: ['domain', 'lib'],
  snapshots: ['domain', 'lib'],
  alerting: ['domain', 'lib'],
  outbound: ['domain', 'lib'],
  commands: ['log', 'events', 'actors', 'windows', 'timers', 'snapshots', 'domain', 'lib'],
  queries: ['commands', 'log', 'events', 'actors', 'windows', 'snapshots', 'domain', 'lib'],
  // It runs in a browser, and knows the server by its client alone.
  dashboard: ['client'],
  // It tells of records as they are applied, or read back, in the words of the queries.
  stream: ['commands', 'queries', 'log', 'events', 'domain', 'lib'],
  http: ['commands', 'queries', 'stream', 'alerting', 'events', 'domain', 'lib'],
  reactors: ['commands', 'actors', 'alerting', 'outbound', 'windows', 'timers', 'domain', 'lib'],
  // Reads the counters of everybody, and nobody knows of it but the server.
  metrics: ['http', 'commands', 'reactors', 'stream', 'log', 'domain', 'lib'],
  admin: ['commands', 'domain', 'lib'],
  client: [],
  agent: ['client', 'domain', 'lib'],
  cli: ['agent', 'client', 'admin', 'commands', 'log', 'outbound', 'domain', 'lib', '(top)'],
};

/** Which folders it may know the types of, beside those: what it is made of when it runs is not theirs. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  // It runs in browsers too, and says what the server's schemas say.
  client: ['http', 'domain'],
};

/** Packages that one folder alone knows. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['http'],
  tinybase: ['snapshots'],
  'tinybase/store': ['dashboard'],
  xstate: ['actors'],
  msgpackr: ['log'],
  commander: ['cli', '(top)'],
  'cli-progress': ['cli'],
  pino: ['lib'],
  'ipaddr.js': ['outbound', 'lib'],
  'eventsource-parser': ['client'],
  yaml: ['cli'],
  leven: ['cli'],
  // Whatever else called out would do so past the address policy.
  'node:http': ['outbound'],
  'node:https': [],
  'node:tls': ['outbound'],
  'node:dns/promises': ['outbound'],
};

/** Calls that hide time, chance or output, and the files that own them. */
const BANNED: readonly { readonly call: RegExp; readonly owners: readonly string[] }[] = [
  { call: /\bDate\.now\(/, owners: ['lib/clock.ts', 'dashboard/clock.ts'] },
  { call: /\bnew Date\(\)/, owners: [] },
  { call: /\bperformance\.now\(/, owners: ['lib/clock.ts', 'client/retry.ts'] },
  { call: /\bMath\.random\b/, owners: ['client/retry.ts'] },
  { call: /\brandom(?:Bytes|UUID)\(/, owners: ['lib/entropy.ts'] },
  { call: /\bconsole\./, owners: ['postinstall.mjs', 'launcher.mjs'] },
  { call: /\bprocess\.std(?:out|err)\b/, owners: ['cli/output.ts'] },
  { call: /\bprocess\.exit\(/, owners: ['cli/serve.ts', 'cli/admin.ts', 'cli/output.ts', 'postinstall.mjs'] },
  { call: /\bas unknown as\b/, owners: [] },
  { call: /\bas any\b/, owners: [] },
  { call: /@ts-(?:ignore|expect-error|nocheck)/, owners: [] },
  { call: /biome-ignore/, owners: [] },
];

const MAX_FILE_LINES = 300;

interface SourceFile {
  /** Relative to src, with slashes. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
  readonly imports: readonly string[];
  /** Those that are still there when the types are gone. */
  readonly runtimeImports: readonly string[];
}

const TYPE_IMPORT = /\b(?:import|export) type (?:\{[^}]*\}|\* as \w+|\*) from '[^']+';/g;

function sourceFiles(directory: string): SourceFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .map((name) => {
      const text = readFileSync(join(directory, name), 'utf8');
      const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
      const imports = importsIn(code);
      const runtimeImports = importsIn(code.replace(TYPE_IMPORT, ''));
      return { path: name, folder: folderOf(name), text, code, imports, runtimeImports };
    });
}

function mayKnow(folder: string): readonly string[] {
  return [...(MAY_IMPORT[folder] ?? []), ...(MAY_IMPORT_TYPES[folder] ?? [])];
}

function importsIn(code: string): string[] {
  const found = code.matchAll(/\bfrom '([^']+)'|\bimport '([^']+)'|\bimport\('([^']+)'\)/g);
  return [...found].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '(top)';
}

const files = sourceFiles(SRC);

describe('the architecture', () => {
  it('gives every folder of src a place in the table of imports', () => {
    const folders = new Set(files.map((file) => file.folder).filter((folder) => folder !== '(top)'));
    expect([...folders].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('lets imports point one way', () => {
    const wrong = files
      .filter((file) => file.folder !== '(top)')
      .flatMap((file) =>
        file.imports
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => folderOf(relative(SRC, resolve(SRC, file.path, '..', specifier))))
          .filter((folder) => folder !== file.folder && !mayKnow(file.folder).includes(folder))
          .map((folder) => `${file.path} imports ${folder}/`),
      );
    expect(wrong).toEqual([]);
  });

  it('has a client that is made of itself, and of nothing that only a server has', () => {
    const wrong = files
      .filter(({ folder }) => folder === 'client')
      .flatMap((file) =>
        file.runtimeImports
          .filter((specifier) => !specifier.startsWith('./') && specifier !== 'eventsource-parser')
          .map((specifier) => `${file.path} imports ${specifier}`),
      );
    expect(wrong).toEqual([]);
  });

  it('keeps each library behind the folder that owns it', () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((specifier) => OWNERS[specifier]?.includes(file.folder) === false)
        .map((specifier) => `${file.path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no cycles between files', () => {
    const edges = new Map(
      files.map((file) => [
        file.path,
        file.imports
          .filter((specifier) => specifier.startsWith('.'))
          .map((specifier) => relative(SRC, resolve(SRC, file.path, '..', specifier)))
          .filter((path) => !path.startsWith('..')),
      ]),
    );
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path))
        throw new Error(`a cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`);
      if (done.has(path)) return;
      for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of edges.keys()) visit(path, []);
    expect(done.size).toBe(files.length);
  });
});

describe('the source', () => {
  it.each(BANNED)('uses $call only where it is owned', ({ call, owners }) => {
    const wrong = files
      .filter((file) => call.test(file.code) && !owners.includes(file.path))
      .map((file) => file.path);
    expect(wrong).toEqual([]);
  });

  it(`has no file of more than ${MAX_FILE_LINES} lines`, () => {
    const long = files
      .map((file) => ({ path: file.path, lines: file.text.split('\n').length }))
      .filter((file) => file.lines > MAX_FILE_LINES);
    expect(long).toEqual([]);
  });

  it('exports nothing that nothing uses', () => {
    const everything = [...files, ...sourceFiles(join(ROOT, 'test')), ...sourceFiles(join(ROOT, 'bench'))];
    const unused = files.flatMap((file) =>
      [...file.code.matchAll(/^export (?:async )?(?:const|function|class|type|interface) (\w+)/gm)]
        .map((match) => match[1] ?? '')
        .filter((name) => {
          const word = new RegExp(`\\b${name}\\b`, 'g');
          const inFile = file.code.match(word)?.length ?? 0;
          return inFile < 2 && !everything.some((other) => other.path !== file.path && word.test(other.code));
        })
        .map((name) => `${file.path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });
});
