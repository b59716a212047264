/** Settings from flags, variables and a file: which wins, and how a mistake is told. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  foreshock,
  foreshockWith,
  removeDirectory,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';

const directory = temporaryDirectory();
afterAll(() => removeDirectory(directory));

function file(name: string, text: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

interface Checked {
  readonly code: number | null;
  readonly settings: Readonly<Record<string, { readonly value: string; readonly origin: string }>>;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

async function check(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Checked> {
  const { code, stdout } = await foreshockWith(
    { environment, directory },
    'config',
    'check',
    '--json',
    ...args,
  );
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const of = (name: string) => rows.filter((row) => name in row);
  const settings = of('setting').map(({ setting, value, origin }) => [setting, { value, origin }]);
  return {
    code,
    settings: Object.fromEntries(settings),
    problems: of('problem').map(({ problem }) => problem),
    warnings: of('warning').map(({ warning }) => warning),
  };
}

describe('a setting', () => {
  it('is taken from its flag, else its variable, else the file, else the default', async () => {
    const config = file('layers.yaml', 'port: 1\nretention: 2h\nmax-streams: 3\n');
    const environment = { FORESHOCK_PORT: '4', FORESHOCK_RETENTION: '5h', FORESHOCK_CONFIG: config };
    const { code, settings } = await check(['--port', '6'], environment);
    expect(code).toBe(0);
    expect(settings).toMatchObject({
      port: { value: '6', origin: 'flag' },
      retention: { value: '5h', origin: 'FORESHOCK_RETENTION' },
      'max-streams': { value: '3', origin: `${config}:3` },
      durability: { value: 'write', origin: 'default' },
    });
  });

  it('holds for the server that is started with it', async () => {
    const config = file('server.yaml', 'metrics: nobody\nport: 1\n');
    const server = await startServer(join(directory, 'data'), ['--config', config]);
    try {
      expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    } finally {
      await server.stop();
    }
  });
});

describe('the commands beside serve', () => {
  it('find the data directory in the file that the server was given', async () => {
    const dataDirectory = join(directory, 'named-in-file');
    const config = file('named.yaml', `data-dir: ${dataDirectory}\nretention: 2h\n`);
    const server = await startServer(dataDirectory);
    try {
      const listed = await foreshockWith({ directory }, 'tenants', 'list', '--json', '--config', config);
      expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('"name":"default"')]);
    } finally {
      await server.stop();
    }
    const environment = { FORESHOCK_CONFIG: config };
    const verified = await foreshockWith({ directory, environment }, 'log', 'verify');
    expect([verified.code, verified.stderr]).toEqual([0, '']);
    const elsewhere = await foreshockWith({ directory, environment }, 'log', 'verify', '--data-dir', 'none');
    expect(elsewhere.code).toBe(1);
  });

  it('refuse a file that the server would', async () => {
    const { code, stderr } = await foreshock('tenants', 'list', '--config', file('bad.yaml', 'prot: 1'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean port?')]);
  });
});

describe('a file', () => {
  it('that is wrong starts no server, though flags would have their way', async () => {
    const config = file('wrong.yaml', 'prot: 1\nport: x\n');
    const { code, stderr, stdout } = await foreshockWith(
      { directory },
      'serve',
      '--config',
      config,
      '--port',
      '0',
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`error: ${config}:1: there is no setting prot; did you mean port?\n`);
    expect(stderr).toContain(`error: ${config}:2: port is x: it must be an integer`);
  });

  it.each([
    ['that is not there', () => join(directory, 'none.yaml'), 'ENOENT'],
    ['that is a directory', () => directory, 'EISDIR'],
    [
      'that is too large',
      () => file('large.yaml', `#${'x'.repeat(1024 * 1024)}`),
      'larger than 1048576 bytes',
    ],
    ['that is not text', () => file('binary.yaml', Buffer.from([0xff, 0xfe, 0x00])), 'not UTF-8'],
    ['without an end', () => '/dev/zero', 'larger than'],
  ])('%s is said to be unreadable', async (_, path, reason) => {
    const { code, problems } = await check(['--config', path()]);
    expect(code).toBe(2);
    expect(problems).toEqual([expect.stringContaining(reason)]);
    expect(problems[0]).toContain(path());
  });
});

describe('config check', () => {
  it('tells of settings that cannot work together', async () => {
    const { code, problems } = await check(['--retention', '30m']);
    expect([code, problems]).toEqual([2, [expect.stringContaining('retention must be at least 1h')]]);
  });

  it('tells of what this machine lacks, and changes nothing', async () => {
    const inTheWay = file('in-the-way', '');
    const { code, problems } = await check(['--host', '192.0.2.1', '--data-dir', inTheWay]);
    expect(code).toBe(1);
    expect(problems).toEqual([
      expect.stringContaining('is no directory'),
      'host 192.0.2.1 is no address of this machine',
    ]);
    expect((await check(['--host', 'no host'])).problems).toEqual([
      expect.stringContaining('neither an address nor'),
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('tells of a directory that cannot be written', async () => {
    const readOnly = join(directory, 'read-only');
    mkdirSync(readOnly);
    chmodSync(readOnly, 0o500);
    const { code, problems } = await check(['--data-dir', join(readOnly, 'data')]);
    expect([code, problems]).toEqual([1, [expect.stringContaining('cannot be written')]]);
  });

  it('warns of a variable that nobody reads', async () => {
    const { code, warnings } = await check([], { FORESHOCK_PROT: '1', FORESHOCK_SOMETHING_OF_YOURS: '1' });
    expect([code, warnings]).toEqual([
      0,
      ['the variable FORESHOCK_PROT is not read; did you mean FORESHOCK_PORT?'],
    ]);
  });

  it('is a table for people, with what is wrong on standard error', async () => {
    const { code, stdout, stderr } = await foreshockWith(
      { directory },
      'config',
      'check',
      '--host',
      '192.0.2.1',
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^host +192\.0\.2\.1 +flag$/m);
    expect(stderr).toBe('foreshock: host 192.0.2.1 is no address of this machine\n');
  });
});

describe('config example', () => {
  it('is a file that can be checked', async () => {
    const { stdout } = await foreshock('config', 'example');
    const { code, settings } = await check(['--config', file('example.yaml', stdout)]);
    expect(code).toBe(0);
    expect(settings['port']).toEqual({ value: '8080', origin: 'default' });
  });
});
