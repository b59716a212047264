#!/usr/bin/env node
// The command of an installed package. The system's Node starts it, and may be an older one; the program runs on the
// Node that is pinned as a dependency. Plain JavaScript, for the same reason.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const main = join(dirname(fileURLToPath(import.meta.url)), '../dist/src/main.js');
const pinned = require('node/package.json').version;

if (process.versions.node.split('.')[0] === pinned.split('.')[0]) await import(main);
else {
  const node = join(dirname(require.resolve('node/package.json')), 'bin/node');
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`foreshock: the pinned Node cannot be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 1;
    if (signal !== null) process.kill(process.pid, signal);
  });
}
