/** Headers of proxies, over real sockets: believed of those that are trusted, and of nobody else. */
import { afterEach, describe, expect, it } from 'vitest';
import { TestServer } from '../support/http.ts';
import { RawConnection } from '../support/raw-socket.ts';

let server: TestServer;
afterEach(() => server.stop());

/** The status of a request with these header lines. */
async function statusOf(path: string, ...headers: readonly string[]): Promise<number> {
  const connection = await RawConnection.open(server.process.port);
  await connection.send(
    [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n'),
  );
  const { status } = await connection.answer();
  connection.destroy();
  return status;
}

/** Asks without a key until it is refused for that: what a burst comes to. */
async function exhaust(...headers: readonly string[]): Promise<void> {
  await expect.poll(() => statusOf('/v1/services', ...headers), { timeout: 8000, interval: 1 }).toBe(429);
}

/** Whether the caller of these headers has used up its tries: some seconds' worth may have come back by now. */
async function isUsedUp(...headers: readonly string[]): Promise<boolean> {
  const statuses = await Promise.all([1, 2, 3, 4].map(() => statusOf('/v1/services', ...headers)));
  return statuses.includes(429);
}

describe('behind a trusted proxy', () => {
  it('one caller without a key uses up its own tries, and not those of others', async () => {
    server = await TestServer.start('--trust-proxy', '127.0.0.1', '--rate-limit-failed-auth', '1');
    await exhaust('X-Forwarded-For: 192.0.2.1');
    expect(await isUsedUp('X-Forwarded-For: 192.0.2.2')).toBe(false);
    // Made up by the caller, before what the proxy adds: in the same header, and in one of its own.
    expect(await isUsedUp('X-Forwarded-For: 192.0.2.3, 192.0.2.1')).toBe(true);
    expect(await isUsedUp('X-Forwarded-For: 192.0.2.3', 'X-Forwarded-For: 192.0.2.1')).toBe(true);
    expect(await isUsedUp('X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 192.0.2.4')).toBe(false);
    expect(await isUsedUp('Forwarded: for=192.0.2.5', 'X-Forwarded-For: 192.0.2.1')).toBe(true);
  });

  it('nobody is a program of this machine: the metrics are shown to none of them', async () => {
    server = await TestServer.start('--trust-proxy', '127.0.0.1');
    const claims = [
      [],
      ['X-Forwarded-For: 127.0.0.1'],
      ['X-Forwarded-For: ::1', 'X-Forwarded-For: 127.0.0.1'],
    ];
    for (const headers of claims) expect(await statusOf('/metrics', ...headers)).toBe(404);
  });
});

describe('without a trusted proxy', () => {
  it('callers share the tries of their address, whatever they say', async () => {
    server = await TestServer.start('--trust-proxy', '10.0.0.7', '--rate-limit-failed-auth', '1');
    await exhaust('X-Forwarded-For: 192.0.2.1');
    expect(await isUsedUp('X-Forwarded-For: 192.0.2.2')).toBe(true);
    expect(await isUsedUp()).toBe(true);
  });

  it('a proxy of this machine that says what it is lets nobody read the metrics', async () => {
    server = await TestServer.start();
    expect(await statusOf('/metrics')).toBe(200);
    const said = [
      'X-Forwarded-For: 192.0.2.1',
      'x-forwarded-for: 127.0.0.1',
      'Forwarded: for=192.0.2.1',
      'Via: 1.1 x',
      'X-Real-IP: 192.0.2.1',
      'X-Forwarded-Proto: https',
    ];
    for (const header of said) expect([header, await statusOf('/metrics', header)]).toEqual([header, 404]);
  });
});
