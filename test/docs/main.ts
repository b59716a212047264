/** `npm run docs`: writes src/docs/reference.md. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { referenceOf } from './reference.ts';

const directory = temporaryDirectory();
const server = await startServer(directory);
const metrics = await (await fetch(`${server.url}/metrics`)).text();
writeFileSync(resolve(import.meta.dirname, '../../src/docs/reference.md'), referenceOf(metrics));
await server.stop();
removeDirectory(directory);
