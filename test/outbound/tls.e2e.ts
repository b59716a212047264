import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, call } from '../../src/outbound/http-call.ts';
import { entries } from './entries.ts';
import { aRequest } from './raw-peer.ts';

const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures', name), 'utf8');
/** For pagerduty.example and 127.0.0.1, signed by itself. */
const CERTIFICATE = fixture('tls-certificate.pem');

let server: Server;
let port = 0;
/** What came in after the handshakes. */
let received = '';
/** Names that clients indicated. */
let names: (string | false | null)[] = [];

beforeAll(async () => {
  server = createServer({ key: fixture('tls-key.pem'), cert: CERTIFICATE }, (socket) => {
    names.push(socket.servername);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi');
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
beforeEach(() => {
  received = '';
  names = [];
});
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

const callAt = (host: string, options: CallOptions = {}, addresses = ['127.0.0.1']) =>
  call(aRequest(`https://${host}:${port}/path`), entries('127.0.0.0/8'), {
    resolve: async () => addresses,
    ...options,
  });

describe('a call by https', () => {
  it('reaches who has the certificate of the name', async () => {
    const result = await callAt('pagerduty.example', { ca: CERTIFICATE });
    expect(result).toMatchObject({ type: 'answered', status: 200, body: 'hi' });
    expect(received).toContain('POST /path HTTP/1.1\r\n');
    expect(names).toEqual(['pagerduty.example']);
  });

  it('reaches who has the certificate of the address', async () => {
    expect(await callAt('127.0.0.1', { ca: CERTIFICATE })).toMatchObject({ type: 'answered', status: 200 });
    expect(names).toEqual([false]);
  });

  it.each([
    ['a certificate that nobody vouches for', 'pagerduty.example', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['a certificate of another name', 'other.example', { ca: CERTIFICATE }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('tells nothing to who has %s', async (_, host, options, code) => {
    expect(await callAt(host, options)).toEqual({
      type: 'failed',
      reason: `no connection: ${code}`,
      sent: false,
    });
    expect(received).toBe('');
  });

  it('is not talked out of verification by the environment', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await callAt('pagerduty.example')).toMatchObject({ type: 'failed', sent: false });
      expect(received).toBe('');
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it('gives an address where no handshake happens its share of the time, then tries the next', async () => {
    const silent: Socket[] = [];
    const dead = createTcpServer((socket) => {
      silent.push(socket);
      socket.resume();
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => dead.listen(port, '127.0.0.2', resolve));
    try {
      const limits = { deadlineMs: 5000, connectMs: 600, maxAnswerBytes: 100 };
      const options = { ca: CERTIFICATE, limits };
      const result = await callAt('pagerduty.example', options, ['127.0.0.2', '127.0.0.1']);
      expect(result).toMatchObject({ type: 'answered', status: 200 });
      expect(silent).toHaveLength(1);
      // The other side learns that it was given up.
      await expect.poll(() => silent[0]?.destroyed).toBe(true);
      expect(await callAt('pagerduty.example', options, ['127.0.0.2'])).toEqual({
        type: 'failed',
        reason: 'no connection in time',
        sent: false,
      });
    } finally {
      for (const socket of silent) socket.destroy();
      await new Promise<void>((resolve) => dead.close(() => resolve()));
    }
  });
});
