import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { referenceOf } from './reference.ts';
import { withSpeed } from './speed.ts';

const file = (path: string) => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');

it('the figures of the README are those of the last benchmark: `npm run docs` writes them', () => {
  expect(file('README.md')).toBe(withSpeed(file('README.md'), file('bench/results/latest.md')));
});

it('the reference is what the code says: `npm run docs` writes it', async () => {
  const directory = temporaryDirectory();
  const server = await startServer(directory);
  try {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(file('src/docs/reference.md')).toBe(referenceOf(metrics, file('src/operations/alerts.yaml')));
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
});
