/**
 * The HTTP library is native code from a third-party repack. Before it is loaded, its SHA-256 is compared
 * with the one that was reviewed and tested; another is refused. Platforms without an entry are not checked:
 * there the lock file's integrity hash is what vouches for the package.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const REVIEWED: ReadonlyMap<string, string> = new Map([
  ['@uwsjs/linux-x64-22', 'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c'],
]);

/** The library's own limit is 4 KiB, which a browser's cookies of other programs on a host come to. */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(16 * 1024);

const require = createRequire(import.meta.url);
const name = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
const reviewed = REVIEWED.get(name);

if (reviewed !== undefined) {
  // The platform packages are dependencies of the alias, so they are looked for from there.
  const from = createRequire(require.resolve('uWebSockets.js'));
  const binary = readFileSync(join(dirname(from.resolve(name)), 'uws.node'));
  const actual = createHash('sha256').update(binary).digest('hex');
  if (actual !== reviewed) {
    throw new Error(`${name} is not the reviewed binary: its SHA-256 is ${actual}, not ${reviewed}`);
  }
}
