import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  foreshock,
  removeDirectory,
  type ServerProcess,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';

const directories: string[] = [];
const servers: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => directories.forEach(removeDirectory));

function freshDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory;
}

async function start(directory: string, ...flags: string[]): Promise<ServerProcess> {
  const server = await startServer(directory, flags);
  servers.push(server);
  return server;
}

const lines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

function statusOf(server: ServerProcess, key: string, path = '/v1/services'): Promise<number> {
  return fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } }).then(
    ({ status }) => status,
  );
}

describe('the first start', () => {
  it('prints curl lines that work as they are, and keeps the keys to itself afterwards', async () => {
    const directory = freshDirectory();
    const server = await start(directory);
    const curls = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('  curl '));
    expect(curls).toHaveLength(3);
    const { execSync } = await import('node:child_process');
    const [registered, event, context] = curls.map((line) => execSync(line, { encoding: 'utf8' }));
    expect(JSON.parse(registered ?? '')).toMatchObject({ hostname: 'my-host', status: 'live' });
    expect(event).toBe('');
    expect(JSON.parse(context ?? '').deploy_events).toHaveLength(1);

    expect(await server.stop()).toBe(0);
    const again = await start(directory);
    expect(again.output()).not.toContain('fsk_');
    expect(await statusOf(again, server.readOnlyKey)).toBe(200);
  });

  it('makes everything it keeps its owner’s alone', async () => {
    const directory = join(freshDirectory(), 'data');
    await start(directory);
    const mode = (path: string) => (statSync(join(directory, path)).mode & 0o777).toString(8);
    expect([mode('.'), mode('log'), mode('log/segment-00000001.log'), mode('admin.sock')]).toEqual([
      '700',
      '700',
      '600',
      '600',
    ]);
  });
});

describe('one data directory', () => {
  it.each([
    ['where nobody can make one', '/proc/foreshock/data', /foreshock cannot be made/],
    ['below a file', '/etc/passwd/data', /\/etc\/passwd: it is a file/],
    ['that is a file', '/etc/passwd', /\/etc\/passwd: it is a file/],
  ])('a data directory %s is refused at once', async (_, directory, reason) => {
    const { code, stderr } = await foreshock('serve', '--port', '0', '--data-dir', directory);
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
  });

  it('is refused to a second server, naming the first', async () => {
    const directory = freshDirectory();
    const server = await start(directory);
    const { code, stderr } = await foreshock('serve', '--port', '0', '--data-dir', directory);
    expect(code).toBe(1);
    expect(stderr).toContain(`is in use by process ${server.pid}`);
  });

  it('is taken over from a server that was killed', async () => {
    const directory = freshDirectory();
    const server = await startServer(directory);
    await server.kill();
    expect(existsSync(join(directory, 'admin.sock'))).toBe(true);
    const next = await start(directory);
    expect(await statusOf(next, server.readOnlyKey)).toBe(200);
  });

  it('may have a path longer than a socket address', async () => {
    const directory = join(freshDirectory(), 'd'.repeat(120));
    mkdirSync(directory);
    await start(directory);
    const { code, stdout } = await foreshock('tenants', 'list', '--data-dir', directory, '--json');
    expect(code).toBe(0);
    expect(lines(stdout)).toEqual([expect.objectContaining({ name: 'default' })]);
  });
});

describe('a port in use', () => {
  it('is refused, not shared', async () => {
    const server = await start(freshDirectory());
    const { code, stderr } = await foreshock(
      'serve',
      '--port',
      String(server.port),
      '--data-dir',
      freshDirectory(),
    );
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot listen on 127.0.0.1:${server.port}`);
  });
});

describe.each(['a running server', 'no server'])('keys and tenants, with %s', (setting) => {
  const prepare = async () => {
    const directory = freshDirectory();
    const server = await startServer(directory);
    if (setting === 'no server') await server.stop();
    else servers.push(server);
    return { directory, common: ['--data-dir', directory, '--json'] };
  };

  it('are made, listed and revoked', async () => {
    const { directory, common } = await prepare();
    expect((await foreshock('tenants', 'create', 'payments', ...common)).code).toBe(0);
    const made = await foreshock(
      'keys',
      'create',
      '--tenant',
      'payments',
      '--kind',
      'ingest',
      '--count',
      '2',
      ...common,
    );
    const keys = lines(made.stdout) as { id: string; tenant_id: string; kind: string; key: string }[];
    expect(keys.map((key) => Object.keys(key))).toEqual(Array(2).fill(['id', 'tenant_id', 'kind', 'key']));
    expect(keys[0]?.key).toMatch(/^fsk_ing_[0-9A-Za-z]{49}$/);

    expect((await foreshock('keys', 'revoke', keys[1]?.id ?? '', ...common)).code).toBe(0);
    const listed = lines((await foreshock('keys', 'list', '--tenant', 'payments', ...common)).stdout);
    expect(listed).toEqual([
      expect.objectContaining({ id: keys[0]?.id, revoked_at: null }),
      expect.objectContaining({ id: keys[1]?.id, revoked_at: expect.any(String) }),
    ]);
    expect(JSON.stringify(listed)).not.toContain('fsk_');

    const server = servers.at(-1) ?? (await start(directory));
    expect(await statusOf(server, keys[0]?.key ?? '')).toBe(200);
    expect(await statusOf(server, keys[1]?.key ?? '')).toBe(401);
  });

  it('say what is wrong, with exit code 1', async () => {
    const { common } = await prepare();
    const twice = await foreshock('tenants', 'create', 'default', ...common);
    expect(twice).toMatchObject({ code: 1, stdout: '' });
    expect(twice.stderr).toBe('foreshock: a tenant named "default" exists already\n');
    const unknown = await foreshock('keys', 'create', '--tenant', 'nobody', '--kind', 'ingest', ...common);
    expect(unknown).toMatchObject({ code: 1, stderr: 'foreshock: there is no tenant named "nobody"\n' });
    const revoked = await foreshock('keys', 'revoke', '00000000-0000-4000-8000-000000000000', ...common);
    expect(revoked.code).toBe(1);
  });
});

describe('wrong usage', () => {
  it.each([
    [['serve', '--prot', '1'], 'Did you mean --port?'],
    [['srve'], 'Did you mean serve?'],
    [['serve', '--port', '99999'], 'must be an integer from 0 to 65535'],
    [['serve', '--durability', 'maybe'], 'Allowed choices are write, fsync'],
    [['serve', '--retention', '1y'], 'must be a duration'],
    [['keys', 'create', '--kind', 'ingest'], '--tenant'],
    [['serve', '--host', ''], 'must not be empty'],
    [['serve', '--base-url', 'https://user:pw@host'], 'without user'],
    [['agent', '--plugin', 'mysql', '--file', 'x', '--key', 'y'], 'Allowed choices are postgresql'],
  ])('%j ends with 2 and says what would be right', async (args, sentence) => {
    const { code, stderr } = await foreshock(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });

  it('is not asking for help', async () => {
    const { code, stdout } = await foreshock('serve', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('FORESHOCK_PORT');
  });

  it('includes settings that cannot work together', async () => {
    const { code, stderr } = await foreshock('serve', '--data-dir', freshDirectory(), '--retention', '30m');
    expect(code).toBe(2);
    expect(stderr).toContain('retention must be at least 1h');
  });
});

describe('SIGTERM', () => {
  it('ends the server with 0 and leaves nothing but data', async () => {
    const directory = freshDirectory();
    const server = await startServer(directory);
    expect(await server.stop()).toBe(0);
    expect(existsSync(join(directory, 'admin.sock'))).toBe(false);
  });
});
