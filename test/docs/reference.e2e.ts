import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { referenceOf } from './reference.ts';

it('the reference is what the code says: `npm run docs` writes it', async () => {
  const directory = temporaryDirectory();
  const server = await startServer(directory);
  try {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const written = readFileSync(resolve(import.meta.dirname, '../../src/docs/reference.md'), 'utf8');
    expect(written).toBe(referenceOf(metrics));
  } finally {
    await server.stop();
    removeDirectory(directory);
  }
});
