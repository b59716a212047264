/** HTTPS: what is served, what is refused, and another certificate while callers come and go. */
import { execSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  type CertificatePair,
  encryptedKey,
  hasOpenssl,
  joinFiles,
  makeCertificate,
  replacePair,
} from '../support/certificates.ts';
import {
  foreshock,
  removeDirectory,
  type ServerProcess,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';

const directory = temporaryDirectory();
const servers: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => removeDirectory(directory));

let made = 0;
function fresh(): string {
  made += 1;
  return join(directory, `data-${made}`);
}

async function start(pair: CertificatePair, ...flags: readonly string[]): Promise<ServerProcess> {
  const server = await startServer(fresh(), ['--tls-cert', pair.cert, '--tls-key', pair.key, ...flags]);
  servers.push(server);
  return server;
}

/** What a request was answered, and the name in the certificate it was answered with. */
function ask(
  server: ServerProcess,
  agent?: Agent,
  path = '/healthz',
): Promise<{ status: number; name: string; text: string }> {
  const options = {
    host: '127.0.0.1',
    port: server.port,
    path,
    rejectUnauthorized: false,
    agent: agent ?? false,
  };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const name = String((response.socket as TLSSocket).getPeerCertificate().subject?.CN);
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, name, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

function protocolWith(server: ServerProcess, version: SecureVersion): Promise<string> {
  const limits = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...limits });
    socket.on('secureConnect', () => {
      resolve(socket.getProtocol() ?? '');
      socket.destroy();
    });
    socket.on('error', () => resolve('refused'));
  });
}

/** The lines that its log has more of after SIGHUP. */
async function reload(server: ServerProcess): Promise<string> {
  const before = server.output().length;
  process.kill(server.pid, 'SIGHUP');
  await expect.poll(() => server.output().slice(before), { timeout: 10_000 }).toMatch(/reload/);
  return server.output().slice(before);
}

describe.skipIf(!hasOpenssl)('a server with a certificate', () => {
  const first = hasOpenssl ? makeCertificate(directory, 'first') : { cert: '', key: '' };
  const second = hasOpenssl ? makeCertificate(directory, 'second') : { cert: '', key: '' };

  it('speaks HTTPS, says so, and prints curl lines that work as they are', async () => {
    const server = await start(first);
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    const curls = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('  curl '));
    const [registered, , context] = curls.map((line) => execSync(line, { encoding: 'utf8' }));
    expect(JSON.parse(registered ?? '')).toMatchObject({ hostname: 'my-host' });
    expect(JSON.parse(context ?? '').deploy_events).toHaveLength(1);
  });

  it('speaks TLS 1.2 and 1.3, and nothing older', async () => {
    const server = await start(first);
    const versions: readonly SecureVersion[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
    const spoken = await Promise.all(versions.map((version) => protocolWith(server, version)));
    expect(spoken).toEqual(['refused', 'refused', 'TLSv1.2', 'TLSv1.3']);
  });

  it('closes a connection that speaks something else, and serves the others', async () => {
    const server = await start(first);
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      '\x16\x03\x01\xff\xff\x01',
      '\0'.repeat(70_000),
    ]) {
      const socket = connectPlain(server.port, '127.0.0.1').on('error', () => {});
      const answered: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => answered.push(chunk));
      socket.end(bytes, 'latin1');
      await new Promise((done) => socket.once('close', done));
      expect(Buffer.concat(answered).toString('latin1')).not.toContain('HTTP/1.1');
    }
    expect((await ask(server)).status).toBe(200);
  });

  it('counts its connections, and answers those that are too many', async () => {
    const server = await start(first, '--max-connections', '1');
    const held = new Agent({ keepAlive: true });
    expect((await ask(server, held)).status).toBe(200);
    expect((await ask(server)).status).toBe(503);
    held.destroy();
    await expect.poll(() => ask(server).then(({ status }) => status)).toBe(200);
  });

  it('gives up on a connection that says nothing, as without TLS', async () => {
    const server = await start(first);
    const silent = connectPlain(server.port, '127.0.0.1').on('error', () => {});
    await new Promise((done) => silent.once('close', done));
    expect((await ask(server)).status).toBe(200);
  }, 25_000);

  it('stops in order, callers of an earlier certificate and all', async () => {
    const pair = makeCertificate(directory, 'stopping');
    const server = await start(pair);
    const held = new Agent({ keepAlive: true });
    expect((await ask(server, held)).name).toBe('stopping');
    replacePair(pair, second);
    await reload(server);
    expect(await server.stop()).toBe(0);
    await expect(ask(server)).rejects.toThrow('ECONNREFUSED');
    held.destroy();
  });

  it('says when its certificate expires, which of a chain is when the first does', async () => {
    const sooner = makeCertificate(directory, 'sooner', { begin: '20200101', end: '20480101' });
    const chain = joinFiles(join(directory, 'chain.pem'), first.cert, sooner.cert);
    const server = await start({ cert: chain, key: first.key });
    const { text } = await ask(server, undefined, '/metrics');
    const line = `foreshock_tls_certificate_expiry_timestamp_seconds ${Date.UTC(2048, 0, 1) / 1000}\n`;
    expect(text).toContain(line);
  });

  describe('on SIGHUP', () => {
    it('serves new connections with the new certificate, fails no request, and drops no connection', async () => {
      const pair = makeCertificate(directory, 'renewed');
      replacePair(pair, first);
      const server = await start(pair);
      const held = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await ask(server, held)).name).toBe('first');

      const names: string[] = [];
      let asking = true;
      const callers = Array.from({ length: 4 }, async () => {
        while (asking) names.push((await ask(server)).name);
      });
      for (const by of [second, first, second, first, second]) {
        replacePair(pair, by);
        expect(await reload(server)).toContain('new connections are served with the certificate');
      }
      const reloadedAt = names.length;
      await expect.poll(() => names.length).toBeGreaterThan(reloadedAt + 20);
      asking = false;
      await Promise.all(callers);

      expect(new Set(names)).toEqual(new Set(['first', 'second']));
      expect(new Set(names.slice(-10))).toEqual(new Set(['second']));
      expect((await ask(server, held)).name).toBe('first');
      expect((await ask(server)).name).toBe('second');
      held.destroy();
    });

    it.each([
      [
        'a key of another certificate',
        (pair: CertificatePair) => replacePair(pair, { cert: first.cert, key: second.key }),
        'is not the key',
      ],
      ['no PEM', (pair: CertificatePair) => writeFileSync(pair.cert, 'hello'), 'holds no certificate'],
      [
        'half a certificate',
        (pair: CertificatePair) =>
          writeFileSync(pair.cert, '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'),
        'cannot be read',
      ],
      ['no key', (pair: CertificatePair) => writeFileSync(pair.key, ''), 'holds no private key'],
      [
        'an expired certificate',
        (pair: CertificatePair) =>
          replacePair(pair, makeCertificate(directory, 'old', { begin: '20200101', end: '20200201' })),
        'has expired',
      ],
    ])('keeps what it has where it finds %s', async (_, spoil, reason) => {
      const pair = makeCertificate(directory, 'kept');
      const server = await start(pair);
      spoil(pair);
      const log = await reload(server);
      expect(log).toMatch(/"level":50.*the certificate was not reloaded/);
      expect(log).toContain(reason);
      expect((await ask(server)).name).toBe('kept');
      replacePair(pair, second);
      await reload(server);
      expect((await ask(server)).name).toBe('second');
    });

    it('does nothing where there is no TLS', async () => {
      const server = await startServer(fresh());
      servers.push(server);
      expect(await reload(server)).toContain('there is no certificate to reload');
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    });
  });

  describe('is refused', () => {
    const refusal = async (...flags: readonly string[]) => {
      const { code, stderr } = await foreshock('serve', '--port', '0', '--data-dir', fresh(), ...flags);
      return `${code} ${stderr}`;
    };

    it('without its key, or the key alone', async () => {
      expect(await refusal('--tls-cert', first.cert)).toMatch(
        /^2 error: tls-cert and tls-key are given together/,
      );
      expect(await refusal('--tls-key', first.key)).toMatch(
        /^2 error: tls-cert and tls-key are given together/,
      );
    });

    it('with a key that is not its own, has a passphrase, or is not there', async () => {
      const files = [
        second.key,
        encryptedKey(first, join(directory, 'encrypted.pem')),
        join(directory, 'none'),
      ];
      const said = await Promise.all(files.map((key) => refusal('--tls-cert', first.cert, '--tls-key', key)));
      expect(said[0]).toMatch(/^1 foreshock: tls-key \S+ is not the key of the certificate in/);
      expect(said[1]).toMatch(/^1 foreshock: tls-key \S+ has a passphrase/);
      expect(said[2]).toMatch(/^1 foreshock: tls-key \S+ cannot be read: ENOENT/);
    });

    it('by config check as by serve', async () => {
      const { code, stderr } = await foreshock(
        'config',
        'check',
        '--tls-cert',
        first.cert,
        '--tls-key',
        second.key,
      );
      expect(code).toBe(1);
      expect(stderr).toMatch(/^foreshock: tls-key \S+ is not the key of the certificate in/);
    });
  });

  it('warns of what it serves nevertheless: an expired certificate, a key that all can read', async () => {
    const expired = makeCertificate(directory, 'expired', { begin: '20200101', end: '20200201' });
    chmodSync(expired.key, 0o644);
    const server = await start(expired);
    expect((await ask(server)).name).toBe('expired');
    expect(server.output()).toMatch(/"level":40.*has expired, 2020-02-01/);
    expect(server.output()).toMatch(/"level":40.*is open to every user/);
  });
});
