// uWebSockets.js comes as one optional package a Node version, and npm picks the one for the Node that
// runs npm, not for the pinned Node 22 that runs Foreshock. Where the two differ, a second install run by
// the pinned Node fetches the binary that fits. Plain JavaScript: it must run before anything else works.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

function binaryLoads() {
  try {
    require('uWebSockets.js');
    return true;
  } catch {
    return false;
  }
}

if (!binaryLoads()) {
  const npm = process.env['npm_execpath'];
  if (npm === undefined) {
    console.error('foreshock: run this through npm (npm install), so that it can fetch the server binary');
    process.exit(1);
  }
  const args = [npm, 'install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  // An installed package has no use for what it was made with, which a checkout has.
  if (!existsSync(join(import.meta.dirname ?? '.', 'main.ts'))) args.push('--omit=dev');
  // Within a global install, npm hands down that it is one: this one is of the package's own folder.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_config_(?:global|location|prefix|local_prefix)$/i.test(name),
  );
  const options = { stdio: 'inherit', env: Object.fromEntries(inherited) };
  const { status } = spawnSync(process.execPath, args, options);
  if (status !== 0) process.exit(status ?? 1);
}
