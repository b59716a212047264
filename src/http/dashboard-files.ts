/**
 * The files of the dashboard, as a browser takes them. The page is TypeScript without a build: its modules are served as
 * they are written, without their types, which are taken out once, when the page is first asked for.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
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
const DIRECTORY = resolve(import.meta.dirname, IS_PACKAGED ? '../../../src/dashboard' : '../dashboard');
const WORKER = resolve(
  import.meta.dirname,
  IS_PACKAGED ? '../dashboard-worker.js' : '../dashboard-worker.ts',
);
const STORE = 'tinybase/min/store';
/** What modules call it, and what it is called here. */
const STORE_IMPORT = /'tinybase\/store'/g;
const STORE_FILE = 'tinybase.js';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ts: 'text/javascript; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

export function dashboardFiles(): readonly DashboardFile[] {
  const sources = new Map<string, string>();
  for (const name of readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' }).sort()) {
    if (/\.(?:ts|css|svg)$/.test(name)) sources.set(name, readFileSync(join(DIRECTORY, name), 'utf8'));
  }
  sources.set(STORE_FILE, readFileSync(createRequire(import.meta.url).resolve(STORE), 'utf8'));
  const page = readFileSync(join(DIRECTORY, 'index.html'), 'utf8');
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

/** In a worker: it takes a tenth of a second, in which nobody should have to wait for an answer. */
function stripAll(modules: readonly (readonly [string, string])[]): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const workerData = modules.map(([name, source]) => {
      const up = name.includes('/') ? '../' : './';
      return source.replace(STORE_IMPORT, `'${up}${STORE_FILE}'`);
    });
    const worker = new Worker(WORKER, { workerData, stderr: true });
    worker.once('error', reject);
    worker.once('message', (texts: readonly string[]) => {
      resolve(new Map(modules.map(([name], index) => [name, texts[index] ?? ''])));
    });
  });
}
