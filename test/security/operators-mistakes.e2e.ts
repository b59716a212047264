/** What happens on a box at three in the morning: logs on a full disk, and root who only wanted to look. */
import { spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, lstatSync, openSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { foreshock, removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { eventually } from '../support/site.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
/** Of nobody; it need not be in any list of users. */
const SERVICE = 65_534;

it.runIf(existsSync('/dev/full'))(
  'a server whose words nobody takes goes on serving',
  async () => {
    const directory = temporaryDirectory();
    const full = openSync('/dev/full', 'w');
    const args = [MAIN, 'serve', '--port', '0', '--data-dir', directory];
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', full] });
    let output = '';
    server.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
    });
    try {
      const port = () => /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      await eventually('it listens', 10_000, () => port() !== undefined);
      // It says that there is no certificate to be read anew.
      server.kill('SIGHUP');
      await new Promise((done) => setTimeout(done, 200));
      expect((await fetch(`http://127.0.0.1:${port()}/healthz`)).status).toBe(200);
    } finally {
      const ended = new Promise((done) => server.once('exit', done));
      server.kill('SIGTERM');
      await ended;
      closeSync(full);
      removeDirectory(directory);
    }
  },
  30_000,
);

it.runIf(process.getuid?.() === 0)(
  'root who looks at the data of a service leaves the service all of it',
  async () => {
    const directory = temporaryDirectory();
    try {
      chownSync(directory, SERVICE, SERVICE);
      await (await startServer(directory)).stop();
      expect((await foreshock('keys', 'list', '--data-dir', directory)).code).toBe(0);
      const left = readdirSync(directory, { recursive: true, encoding: 'utf8' });
      expect(left).toContain(join('log', 'clean-shutdown'));
      for (const name of left) expect([name, lstatSync(join(directory, name)).uid]).toEqual([name, SERVICE]);
    } finally {
      removeDirectory(directory);
    }
  },
  30_000,
);
