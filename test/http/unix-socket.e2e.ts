/** A unix socket instead of the port, or beside it. */
import { execSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate } from '../support/certificates.ts';
import {
  foreshock,
  removeDirectory,
  type ServerProcess,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';

const directory = temporaryDirectory();
afterAll(() => removeDirectory(directory));

const servers: ServerProcess[] = [];
let made = 0;
let path = '';
beforeEach(() => {
  made += 1;
  path = join(directory, `${made}.sock`);
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

const fresh = (name = 'data') => join(directory, `${name}-${made}`);

/** Without a port, but for what `flags` open. */
async function start(...flags: readonly string[]): Promise<ServerProcess> {
  const server = await startServer(fresh(), ['--port', 'none', '--socket', path, ...flags]);
  servers.push(server);
  return server;
}

/** The status of a request over the socket; 0 where nobody takes it. */
function statusOf(at: string, headers: OutgoingHttpHeaders = {}): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({ socketPath: path, path: at, headers, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0));
    sent.end();
  });
}

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

describe('a server on a unix socket', () => {
  it('answers there, says so, and prints curl lines that work as they are', async () => {
    const server = await start();
    expect(server.url).toBe(`unix:${path}`);
    expect(await statusOf('/healthz')).toBe(200);
    const curls = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('  curl '));
    const [registered, , context] = curls.map((line) => execSync(line, { encoding: 'utf8' }));
    expect(JSON.parse(registered ?? '')).toMatchObject({ hostname: 'my-host' });
    expect(JSON.parse(context ?? '').deploy_events).toHaveLength(1);
  });

  it('opens no port where none is asked for, and one beside the socket where it is', async () => {
    const alone = await foreshock('config', 'check', '--json', '--socket', path);
    expect(alone.stdout).toContain('{"setting":"port","value":"none","origin":"default"}');
    const beside = await start('--port', '0');
    expect((await fetch(`${beside.url}/healthz`)).status).toBe(200);
    expect(await statusOf('/healthz')).toBe(200);
    expect(beside.output()).toContain(` and unix:${path}\n`);
  });

  it.skipIf(!hasOpenssl)('speaks plain HTTP there, though the port has a certificate', async () => {
    const { cert, key } = makeCertificate(directory, 'beside');
    await start('--port', '0', '--tls-cert', cert, '--tls-key', key);
    expect(await statusOf('/healthz')).toBe(200);
  });

  it('lets its group connect, or whom --socket-mode says', async () => {
    await start();
    expect(modeOf(path)).toBe('660');
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    await start('--socket-mode', '0600');
    expect(modeOf(path)).toBe('600');
  });

  it('takes it away when it stops, but not what another has put there', async () => {
    await start();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    expect(existsSync(path)).toBe(false);

    await start();
    unlinkSync(path);
    writeFileSync(path, 'of another');
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    expect(readFileSync(path, 'utf8')).toBe('of another');
  });

  it('takes the place of one that was killed', async () => {
    const killed = await startServer(fresh(), ['--port', 'none', '--socket', path]);
    await killed.kill();
    expect([existsSync(path), await statusOf('/healthz')]).toEqual([true, 0]);
    await start();
    expect(await statusOf('/healthz')).toBe(200);
  });

  it('shows its metrics to those who may connect, and to nobody behind a proxy', async () => {
    await start();
    expect(await statusOf('/metrics')).toBe(200);
    expect(await statusOf('/metrics', { 'X-Forwarded-For': '127.0.0.1' })).toBe(404);
  });

  it('believes the proxy that connects to it where it is told to', async () => {
    await start('--trust-proxy', 'unix', '--rate-limit-failed-auth', '1');
    const from = (address: string) => statusOf('/v1/services', { 'X-Forwarded-For': address });
    await expect.poll(() => from('192.0.2.1'), { timeout: 8000, interval: 1 }).toBe(429);
    expect(await from('192.0.2.2')).toBe(401);
    expect(await statusOf('/metrics')).toBe(404);
  });
});

describe('a socket is refused', () => {
  const refusal = async (...flags: readonly string[]) => {
    const { code, stderr } = await foreshock('serve', '--data-dir', fresh('refused'), ...flags);
    return `${code} ${stderr}`;
  };

  it('that another server has, which goes on', async () => {
    await start();
    expect(await refusal('--socket', path)).toBe(
      `1 foreshock: cannot listen on ${path}: another process does\n`,
    );
    expect(await statusOf('/healthz')).toBe(200);
  });

  it('where there is a file, which stays', async () => {
    writeFileSync(path, 'precious');
    expect(await refusal('--socket', path)).toBe(
      `1 foreshock: cannot listen on ${path}: it is there and no socket\n`,
    );
    expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it('in a directory that is not there', async () => {
    const nowhere = join(directory, 'none', 'a.sock');
    expect(await refusal('--socket', nowhere)).toMatch(
      /^1 foreshock: cannot listen on \S+: is its directory there/,
    );
    const { code, stderr } = await foreshock('config', 'check', '--socket', nowhere);
    expect([code, stderr]).toEqual([1, expect.stringContaining('its directory is not there')]);
  });

  it('together with the port, where that cannot be had: nothing is left', async () => {
    const taken = await startServer(fresh(), []);
    servers.push(taken);
    const said = await refusal('--socket', path, '--port', String(taken.port));
    expect(said).toMatch(/^1 foreshock: cannot listen on 127\.0\.0\.1/);
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    [
      ['--socket', `/tmp/${'s'.repeat(120)}`],
      'is too long for a socket: 125 bytes, of which 103 are possible',
    ],
    [['--socket', 'x.sock', '--socket-mode', '0999'], 'it must be the mode of a file, such as 0660'],
    [['--port', 'none'], 'without a port a socket is needed'],
    [
      ['--socket', 'x.sock', '--tls-cert', 'a', '--tls-key', 'b'],
      'tls-cert is for the port, and none is open',
    ],
  ])('with %j', async (flags, sentence) => {
    const said = await refusal(...flags);
    expect(said).toMatch(/^2 error: /);
    expect(said).toContain(sentence);
  });

  it('as a path, where there is a directory', async () => {
    mkdirSync(path);
    expect(await refusal('--socket', path)).toContain('it is there and no socket');
  });
});
