/**
 * The files of the dashboard, as a browser takes them: a page, a style, a picture, and one script. A package holds the
 * script; from the source it is put together once, when the page is first asked for (`dashboard-bundle.ts`).
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

export interface DashboardFile {
  readonly path: string;
  readonly contentType: string;
  /** Good for ever: the path changes with what is in it. */
  readonly isImmutable: boolean;
  /** Resolves with what is in it. */
  readonly read: () => Promise<Content>;
}

export interface Content {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Names what is in it. */
  readonly tag: string;
}

const IS_PACKAGED = import.meta.filename.endsWith('.js');
const SOURCES = resolve(import.meta.dirname, '..');
/** Of a package, next to its program. */
const FOLDER = IS_PACKAGED ? resolve(SOURCES, '../dashboard') : join(SOURCES, 'dashboard');
const WORKER = join(SOURCES, 'dashboard-worker.ts');

export function dashboardFiles(): readonly DashboardFile[] {
  const digest = createHash('sha256');
  // What the script is made of, where it is not made yet.
  for (const folder of IS_PACKAGED ? [FOLDER] : [FOLDER, join(SOURCES, 'client')]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (/\.\w+$/.test(name)) digest.update(readFileSync(join(folder, name)));
    }
  }
  // And what it imports.
  if (!IS_PACKAGED) digest.update(readFileSync(resolve(SOURCES, '../package-lock.json')));
  const assets = `/assets/${digest.digest('hex').slice(0, 16)}`;
  const fileAt = (name: string) => once(async () => readFileSync(join(FOLDER, name)));
  const page = readFileSync(join(FOLDER, 'index.html'), 'utf8').replaceAll('{assets}', assets);
  return [
    {
      path: '/',
      contentType: 'text/html; charset=utf-8',
      isImmutable: false,
      read: once(async () => Buffer.from(page)),
    },
    {
      path: `${assets}/main.js`,
      contentType: 'text/javascript; charset=utf-8',
      isImmutable: true,
      read: IS_PACKAGED ? fileAt('main.js') : once(bundle),
    },
    {
      path: `${assets}/style.css`,
      contentType: 'text/css; charset=utf-8',
      isImmutable: true,
      read: fileAt('style.css'),
    },
    { path: `${assets}/icon.svg`, contentType: 'image/svg+xml', isImmutable: true, read: fileAt('icon.svg') },
  ];
}

/** Makes it when it is first asked for; where that fails, the next who asks has it tried again. */
function once(make: () => Promise<Buffer>): () => Promise<Content> {
  let made: Promise<Content> | undefined;
  return () => {
    made ??= make()
      .then((plain) => ({ plain, gzipped: gzipSync(plain, { level: 9 }), tag: tagOf(plain) }))
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      });
    return made;
  };
}

function tagOf(plain: Buffer): string {
  return createHash('sha256').update(plain).digest('hex').slice(0, 32);
}

/** In a worker: it takes a fifth of a second, in which nobody should have to wait for an answer. */
function bundle(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the page was not put together')));
    worker.once('message', (script: string) => resolve(Buffer.from(script)));
  });
}
