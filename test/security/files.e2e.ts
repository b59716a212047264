/** The files of a data directory are its owner's alone: they hold raw lines, webhook tokens and the secrets of tools. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { run } from '../support/machine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, Site } from '../support/site.ts';

/** An operator whose umask takes nothing away. */
const ANYTHING_GOES = ['sh', '-c', 'umask 0; exec "$0" "$@"'];

const made = new StopStack();
let parent: string;
let site: Site;

beforeAll(async () => {
  parent = temporaryDirectory();
  made.push(() => removeDirectory(parent));
  // Segments and checkpoints of a few kilobytes, so that there are some of each kind.
  site = new Site(made, join(parent, 'new', 'data'), '--segment-bytes', '4096', '--checkpoint-segments', '1');
  await site.start({ under: ANYTHING_GOES });
  for (let n = 0; n < 60; n += 1) await site.send('writer', { raw_line: 'x'.repeat(200) });
  const checkpoints = join(site.dataDirectory, 'checkpoints');
  await eventually('a checkpoint is made', 20_000, () => {
    return existsSync(checkpoints) && readdirSync(checkpoints).some((name) => name.endsWith('.ckpt'));
  });
});
afterAll(() => made.run());

function modesIn(directory: string): Record<string, string> {
  const names = ['.', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })];
  return Object.fromEntries(
    names.map((name) => {
      const status = lstatSync(join(directory, name));
      const kind = status.isDirectory() ? 'directory' : status.isSocket() ? 'socket' : 'file';
      return [name, `${kind} ${(status.mode & 0o777).toString(8)}`];
    }),
  );
}

const ALONE = new Set(['directory 700', 'file 600', 'socket 600']);
const foreign = (modes: Record<string, string>) =>
  Object.entries(modes).filter(([, mode]) => !ALONE.has(mode));

it('a server makes nothing that others may read, whatever the umask is', async () => {
  const modes = modesIn(join(parent, 'new'));
  expect(foreign(modes)).toEqual([]);
  const names = Object.keys(modes);
  for (const kind of ['admin.sock', 'segment-', 'checkpoint-']) {
    expect(names.some((name) => name.includes(kind))).toBe(true);
  }
  await site.server.signal('SIGTERM');
  expect(foreign(modesIn(join(parent, 'new')))).toEqual([]);
});

it('nor does a backup, or what is restored of one', () => {
  const backup = join(parent, 'backup');
  const restored = join(parent, 'restored');
  const main = join(import.meta.dirname, '../../src/main.ts');
  const foreshock = (...args: readonly string[]) =>
    run('sh', '-c', 'umask 0; exec "$0" "$@"', process.execPath, main, ...args);
  foreshock('backup', backup, '--data-dir', site.dataDirectory);
  foreshock('restore', backup, '--data-dir', restored);
  expect(foreign(modesIn(backup))).toEqual([]);
  expect(foreign(modesIn(restored))).toEqual([]);
});
