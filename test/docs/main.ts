/** `npm run docs`: writes src/docs/reference.md, and the figures in the README. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { referenceOf } from './reference.ts';
import { withSpeed } from './speed.ts';

const directory = temporaryDirectory();
const server = await startServer(directory);
const metrics = await (await fetch(`${server.url}/metrics`)).text();
const file = (path: string) => resolve(import.meta.dirname, '../..', path);
writeFileSync(
  file('src/docs/reference.md'),
  referenceOf(metrics, readFileSync(file('src/operations/alerts.yaml'), 'utf8')),
);
const results = readFileSync(file('bench/results/latest.md'), 'utf8');
writeFileSync(file('README.md'), withSpeed(readFileSync(file('README.md'), 'utf8'), results));
await server.stop();
removeDirectory(directory);
