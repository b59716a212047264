/**
 * The files of the dashboard, as a browser takes them: its own and those of the client, which it knows the server by. The
 * page is TypeScript without a build: modules are served as they are written, without their types, which are taken out
 * once, when the page is first asked for. They stand to each other as they do in the source.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';

export interface DashboardFile {
  readonly path: string;
  readonly contentType: string;
  /** Good for ever: the path changes with what is in it. */
  readonly isImmutable: boolean;
  /** Resolves with what is in it. */
  readonly read: () => Promise<string>;
}

/** A package holds this file as JavaScript, and the page as it was written. */
const IS_PACKAGED = import.meta.filename.endsWith('.js');
const SOURCES = resolve(import.meta.dirname, IS_PACKAGED ? '../../../src' : '..');
/** Of the client, what is more than types. */
const IS_CLIENT_MODULE = /^(?!index|wire)[\w-]+\.ts$/;
const WORKER = resolve(
  import.meta.dirname,
  IS_PACKAGED ? '../dashboard-worker.js' : '../dashboard-worker.ts',
);

interface Package {
  /** What modules call it. */
  readonly name: string;
  /** What is served instead; the first of its files is what modules import. */
  readonly entry: string;
  readonly files: readonly [string, ...string[]];
}

const PACKAGES: readonly Package[] = [
  { name: 'tinybase/store', entry: 'tinybase/min/store', files: ['index.js'] },
  { name: 'tinybase/indexes', entry: 'tinybase/min/indexes', files: ['index.js'] },
  {
    name: 'eventsource-parser',
    entry: 'eventsource-parser',
    files: ['index.js', 'parse.js', 'errors.js'],
  },
];

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ts: 'text/javascript; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function dashboardFiles(): readonly DashboardFile[] {
  const sources = new Map<string, string>([
    ...filesIn('dashboard', /\.(?:ts|css|svg)$/),
    ...filesIn('client', IS_CLIENT_MODULE),
    ...PACKAGES.flatMap(packageFiles),
  ]);
  const page = readFileSync(join(SOURCES, 'dashboard', 'index.html'), 'utf8');
  const digest = createHash('sha256').update(JSON.stringify([...sources]));
  const assets = `/assets/${digest.digest('hex').slice(0, 16)}`;
  const modules = [...sources.keys()].filter((name) => name.endsWith('.ts'));
  const preloads = modules.map((name) => `<link rel="modulepreload" href="${assets}/${name}">\n`).join('');
  const html = page.replaceAll('{assets}', assets).replace('</head>', `${preloads}</head>`);

  let stripped: Promise<ReadonlyMap<string, string>> | undefined;
  const strip = () => {
    stripped ??= stripAll(modules.map((name) => [name, sources.get(name) ?? ''])).catch((error: unknown) => {
      // The next request tries again.
      stripped = undefined;
      throw error;
    });
    return stripped;
  };
  return [
    { path: '/', contentType: 'text/html; charset=utf-8', isImmutable: false, read: async () => html },
    ...[...sources].map(
      ([name, source]): DashboardFile => ({
        path: `${assets}/${name}`,
        contentType: CONTENT_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain',
        isImmutable: true,
        read: async () => (name.endsWith('.ts') ? ((await strip()).get(name) ?? '') : source),
      }),
    ),
  ];
}

function filesIn(folder: string, pattern: RegExp): readonly (readonly [path: string, source: string])[] {
  const directory = join(SOURCES, folder);
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => [`${folder}/${name}`, readFileSync(join(directory, name), 'utf8')]);
}

function packageFiles({ name, entry, files }: Package): readonly (readonly [path: string, source: string])[] {
  const directory = dirname(createRequire(import.meta.url).resolve(entry));
  return files.map((file) => [`packages/${name}/${file}`, readFileSync(join(directory, file), 'utf8')]);
}

/** A browser looks for no packages: modules are told where they are, relative to where they are themselves. */
function withPackages(path: string, source: string): string {
  const up = '../'.repeat(path.split('/').length - 1);
  return PACKAGES.reduce(
    (text, { name, files: [main] }) => text.replaceAll(`'${name}'`, `'${up}packages/${name}/${main}'`),
    source,
  );
}

/** In a worker: it takes a tenth of a second, in which nobody should have to wait for an answer. */
function stripAll(modules: readonly (readonly [string, string])[]): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const workerData = modules.map(([path, source]) => withPackages(path, source));
    const worker = new Worker(WORKER, { workerData, stderr: true });
    worker.once('error', reject);
    worker.once('message', (texts: readonly string[]) => {
      resolve(new Map(modules.map(([name], index) => [name, texts[index] ?? ''])));
    });
  });
}
