/** What is printed on a terminal, and what where there is none. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeDirectory, type ServerProcess, startServer, temporaryDirectory } from '../support/server.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
const ESCAPE = '\u001b[';
const hasTerminals = spawnSync('script', ['--version']).status === 0;

describe('a table', () => {
  const directory = temporaryDirectory();
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer(directory);
  });
  afterAll(async () => {
    await server.stop();
    removeDirectory(directory);
  });

  // Node asks these of the environment before it colours anything; `CI` alone turns colours off.
  const { FORCE_COLOR: _, NO_COLOR: __, NODE_DISABLE_COLORS: ___, CI: ____, ...plain } = process.env;
  const list = () => foreshock('keys', 'list');
  /** What a command prints; empty where it takes longer than anybody would wait. */
  const foreshock = (...command: readonly string[]) =>
    spawnSync(process.execPath, [MAIN, ...command, '--data-dir', directory], {
      encoding: 'utf8',
      env: plain,
      timeout: 8000,
      maxBuffer: 2 ** 25,
    }).stdout;
  /** As `list`, on a terminal made for it. */
  const listOnTerminal = (environment: Readonly<Record<string, string>> = {}) =>
    spawnSync(
      'script',
      ['-qec', `${process.execPath} ${MAIN} keys list --data-dir ${directory}`, '/dev/null'],
      {
        encoding: 'utf8',
        env: { ...plain, TERM: 'xterm', ...environment },
      },
    ).stdout;

  it('shows of a name nothing that a terminal would obey', () => {
    foreshock('tenants', 'create', `red ${ESCAPE}31m\u202Ereversed\nnext`);
    const listed = foreshock('tenants', 'list');
    expect(listed).not.toMatch(/[\u001b\u202e]/);
    expect(listed).toContain('red [31mreversed next');
  });

  it('has no colours in a pipe', () => {
    expect(list()).toMatch(/^id +tenant +tenant_id +kind +name/);
    expect(list()).not.toContain(ESCAPE);
  });

  it.skipIf(!hasTerminals)('has a bold head on a terminal, but not where NO_COLOR is set', () => {
    expect(listOnTerminal()).toContain(`${ESCAPE}1mid`);
    expect(listOnTerminal({ NO_COLOR: '1' })).not.toContain(ESCAPE);
  });

  it('has its columns one below the other', () => {
    const [head = '', ...rows] = list().trimEnd().split('\n');
    expect(rows).toHaveLength(2);
    for (const row of rows) expect(row.slice(head.indexOf('kind'))).toMatch(/^(?:ingest|read-only) /);
  });

  it('of ten thousand rows is there in a moment', () => {
    const made = foreshock('keys', 'create', '--tenant', 'default', '--kind', 'ingest', '--count', '10000');
    expect(made.trimEnd().split('\n')).toHaveLength(1 + 10_000);
    const [head = '', ...rows] = foreshock('keys', 'list').trimEnd().split('\n');
    expect(rows).toHaveLength(2 + 10_000);
    for (const row of rows) expect(row.slice(head.indexOf('kind'))).toMatch(/^(?:ingest|read-only) /);
  }, 20_000);
});
