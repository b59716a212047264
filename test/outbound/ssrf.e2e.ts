/** What a tenant's URL cannot reach. Each test has a listener at the forbidden place: it must never hear anything. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, call } from '../../src/outbound/http-call.ts';
import { entries } from './entries.ts';
import { aRequest, type RawPeer, startRawPeer } from './raw-peer.ts';

let peer: RawPeer;
let heardBefore = 0;

beforeAll(async () => {
  peer = await startRawPeer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
});
beforeEach(() => {
  heardBefore = peer.received.length;
});
afterAll(() => peer.stop());

const neverAsked = () => Promise.reject(new Error('the resolver was asked'));
const resolvingTo =
  (...addresses: readonly string[]) =>
  async () =>
    addresses;

const toPeer = (host: string, allow: readonly string[] = [], options: CallOptions = {}) =>
  call(aRequest(`http://${host}:${peer.port}/`), entries(...allow), { resolve: neverAsked, ...options });

const heard = () => peer.received.length - heardBefore;

describe('a URL with an address in it', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '0177.0.0.1',
    '0177.0.0.01',
    '0x7f.0.0.1',
    '0x7f.1',
    '0X7F000001',
    '0x7f000001.',
    '2130706433',
    '017700000001',
    '127.0.0.0x1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127．0．0．1',
    '%31%32%37.0.0.1',
    '127.0.0.1%2e',
    '12\t7.0.0.1',
    '0',
    '0.0.0.0',
    '0x0',
    '127.255.255.254',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::FFFF:7F00:1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
  ])('that is loopback in the spelling %s is refused', async (host) => {
    const result = await toPeer(host);
    expect(result).toEqual({ type: 'refused', reason: expect.stringMatching(/ is not public \(/) });
    expect(heard()).toBe(0);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://[fd00:ec2::254]/',
    'http://2852039166/',
  ])('that is the metadata of a cloud (%s) is refused', async (url) => {
    expect(await call(aRequest(url), [], { resolve: neverAsked })).toMatchObject({ type: 'refused' });
  });

  it('that the operator opened is called, in every spelling', async () => {
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]']) {
      expect(await toPeer(host, ['127.0.0.1'])).toMatchObject({ type: 'answered', status: 200, body: 'hi' });
    }
    expect(heard()).toBe(3);
  });

  it('that the operator opened on another port is refused', async () => {
    expect(await toPeer('127.0.0.1', [`127.0.0.1:${peer.port + 1}`])).toMatchObject({ type: 'refused' });
    expect(await toPeer('127.0.0.1', [`127.0.0.1:${peer.port}`])).toMatchObject({ type: 'answered' });
    expect(heard()).toBe(1);
  });
});

describe('a URL with a name in it', () => {
  it.each([
    ['a private address', ['127.0.0.1']],
    ['a public and a private one', ['93.184.216.34', '127.0.0.1']],
    ['a private and a public one', ['127.0.0.1', '93.184.216.34']],
    ['a mapped private one', ['::ffff:127.0.0.1']],
    ['no address at all, but a name', ['localhost']],
  ])('that resolves to %s is refused', async (_, addresses) => {
    const result = await toPeer('rebound.example', [], { resolve: resolvingTo(...addresses) });
    expect(result).toEqual({
      type: 'refused',
      reason: expect.stringMatching(/rebound\.example is not public/),
    });
    expect(heard()).toBe(0);
  });

  it('that means this machine to the real resolver is refused', async () => {
    expect(await call(aRequest(`http://localhost:${peer.port}/`), [])).toMatchObject({ type: 'refused' });
    expect(await call(aRequest(`http://LOCALHOST.:${peer.port}/`), [])).toMatchObject({ type: 'refused' });
    expect(heard()).toBe(0);
  });

  it('is resolved once: an answer that changes afterwards changes nothing', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return asked === 1 ? ['127.0.0.2'] : ['127.0.0.1'];
    };
    // 127.0.0.2 is opened, so that the first answer passes; nothing is there, and 127.0.0.1 would answer.
    const result = await toPeer('rebound.example', ['127.0.0.2'], { resolve });
    expect(result).toMatchObject({ type: 'failed', sent: false });
    expect({ asked, heard: heard() }).toEqual({ asked: 1, heard: 0 });
  });

  it('is called at the address that was checked, under its own name', async () => {
    const result = await toPeer('alerts.internal', ['127.0.0.0/8'], { resolve: resolvingTo('127.0.0.1') });
    expect(result).toMatchObject({ type: 'answered', status: 200 });
    expect(peer.received.at(-1)).toContain(`host: alerts.internal:${peer.port}\r\n`);
  });

  it('that the operator opened by name is called wherever it leads, and its neighbour is not', async () => {
    const resolve = resolvingTo('127.0.0.1');
    expect(await toPeer('alerts.internal', ['alerts.internal'], { resolve })).toMatchObject({
      type: 'answered',
    });
    expect(await toPeer('ALERTS.internal.', ['alerts.internal'], { resolve })).toMatchObject({
      type: 'answered',
    });
    expect(await toPeer('a.b.internal', ['*.internal'], { resolve })).toMatchObject({ type: 'answered' });
    expect(await toPeer('other.internal', ['alerts.internal'], { resolve })).toMatchObject({
      type: 'refused',
    });
    expect(await toPeer('internal', ['*.internal'], { resolve })).toMatchObject({ type: 'refused' });
    expect(heard()).toBe(3);
  });

  it('goes on to its next address where one does not take connections', async () => {
    const resolve = resolvingTo('127.0.0.2', '127.0.0.1');
    // The peer listens at 127.0.0.1 alone.
    expect(await toPeer('two.example', ['127.0.0.0/8'], { resolve })).toMatchObject({ type: 'answered' });
  });

  it('that cannot be resolved fails, and nothing was sent', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('query failed'), { code: 'ENOTFOUND' }));
    expect(await toPeer('nowhere.example', [], { resolve })).toEqual({
      type: 'failed',
      reason: 'the host name cannot be resolved (ENOTFOUND)',
      sent: false,
    });
    expect(await toPeer('nowhere.example', [], { resolve: resolvingTo() })).toMatchObject({ type: 'failed' });
  });

  it('whose resolution hangs fails at the deadline', async () => {
    const limits = { deadlineMs: 50, connectMs: 50, maxAnswerBytes: 100 };
    const resolve = () => new Promise<never>(() => {});
    expect(await toPeer('slow.example', [], { resolve, limits })).toEqual({
      type: 'failed',
      reason: 'no answer within 50 ms',
      sent: false,
    });
  });
});

describe('a redirect', () => {
  it('is an answer, and nobody goes where it points', async () => {
    const secret = await startRawPeer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nsecret'));
    const lure = await startRawPeer((socket) =>
      socket.end(`HTTP/1.1 307 Go on\r\nlocation: ${secret.url}/\r\ncontent-length: 0\r\n\r\n`),
    );
    try {
      const result = await call(aRequest(lure.url), entries('127.0.0.1'));
      expect(result).toMatchObject({ type: 'answered', status: 307, body: '' });
      expect(secret.received).toEqual([]);
    } finally {
      await Promise.all([secret.stop(), lure.stop()]);
    }
  });
});

describe('a URL of another kind', () => {
  it.each([
    ['', 'the URL cannot be read'],
    ['nonsense', 'the URL cannot be read'],
    ['http://', 'the URL cannot be read'],
    ['http://256.256.256.256/', 'the URL cannot be read'],
    ['http://[fe80::1%25eth0]/', 'the URL cannot be read'],
    ['file:///etc/passwd', 'only http and https are called'],
    ['ftp://example.com/', 'only http and https are called'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'only http and https are called'],
    ['unix:/var/run/docker.sock', 'only http and https are called'],
    ['data:text/plain,hi', 'only http and https are called'],
    ['javascript:alert(1)', 'only http and https are called'],
    ['http://user@example.com/', 'the URL holds a user name or a password'],
    ['http://:password@example.com/', 'the URL holds a user name or a password'],
    ['http://example.com@127.0.0.1/', 'the URL holds a user name or a password'],
    ['http://./', 'the URL names no host'],
  ])('%s is refused', async (url, reason) => {
    expect(await call(aRequest(url), entries('0.0.0.0/0', '::/0'), { resolve: neverAsked })).toEqual({
      type: 'refused',
      reason,
    });
  });
});

describe('a header', () => {
  it.each([
    ['a line end', 'x\r\nX-Injected: 1'],
    ['half a line end', 'x\nX-Injected: 1'],
    ['a NUL', 'x\0'],
    ['a character outside Latin-1', 'toke“n'],
  ])('with %s in it is refused by name, and its value not shown', async (_, value) => {
    const request = aRequest(peer.url, { headers: { authorization: value } });
    expect(await call(request, entries('127.0.0.1'))).toEqual({
      type: 'refused',
      reason: 'the authorization header cannot hold what it is given',
    });
    expect(heard()).toBe(0);
  });
});
