/** The examples of src/client/README.md print what it says, one after the other on a new server. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDirectory, type ServerProcess, startServer, temporaryDirectory } from '../support/server.ts';
import { EXAMPLES, PROGRAM_COUNT } from './examples.ts';

const CLIENT = resolve(import.meta.dirname, '../../src/client/index.ts');

describe('the examples of the client', () => {
  const directory = temporaryDirectory();
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServer(join(directory, 'data'));
  });
  afterAll(async () => {
    await server.stop();
    removeDirectory(directory);
  });

  it('are all tried', () => {
    expect(PROGRAM_COUNT).toBeGreaterThan(4);
    expect(EXAMPLES).toHaveLength(PROGRAM_COUNT);
  });

  it.each(EXAMPLES)('at line $line', async ({ program, output }) => {
    const file = join(directory, 'example.ts');
    writeFileSync(file, program.replace("'foreshock/client'", `'${CLIENT}'`));
    const child = spawn(process.execPath, ['--no-warnings', file], {
      env: {
        FORESHOCK_SERVER: server.url,
        INGEST_API_KEY: server.ingestKey,
        READ_ONLY_API_KEY: server.readOnlyKey,
        NO_COLOR: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    }
    const code = await new Promise((done) => child.once('close', done));
    const pattern = output.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    expect(printed).toMatch(new RegExp(`^${pattern.join('.*')}$`));
    expect(code).toBe(0);
  });
});
