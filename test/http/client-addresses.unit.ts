/** Whose request it is, by what the socket and the proxies say. */
import { describe, expect, it } from 'vitest';
import { trustedProxies } from '../../src/cli/options.ts';
import { ClientAddresses } from '../../src/http/client-addresses.ts';
import { addressOf, addressOfBytes } from '../../src/lib/ip-address.ts';

const bytesOf = (text: string) => Uint8Array.from(addressOf(text)?.toByteArray() ?? []);
const textOf = (bytes: Uint8Array) => addressOfBytes(bytes)?.toString() ?? 'no address';

function callerOf(trusted: string, peer: string, forwardedFor: string): string {
  const clients = new ClientAddresses(trusted === '' ? [] : trustedProxies(trusted));
  return textOf(clients.callerOf(bytesOf(peer), { forwardedFor, isForwarded: forwardedFor !== '' }));
}

describe('the caller', () => {
  it.each([
    ['is the peer', '', '203.0.113.9', '', '203.0.113.9'],
    ['is the peer, whatever it says, where nobody is trusted', '', '203.0.113.9', '192.0.2.1', '203.0.113.9'],
    [
      'is the peer, whatever it says, where others are trusted',
      '10.0.0.7',
      '10.0.0.8',
      '192.0.2.1',
      '10.0.0.8',
    ],
    ['is what a trusted proxy says', '10.0.0.7', '10.0.0.7', '192.0.2.1', '192.0.2.1'],
    ['is what a proxy of a trusted network says', '10.0.0.0/8', '10.9.9.9', '192.0.2.1', '192.0.2.1'],
    [
      'is what the proxy added, not what its caller made up',
      '10.0.0.7',
      '10.0.0.7',
      '127.0.0.1, 192.0.2.1',
      '192.0.2.1',
    ],
    [
      'is found behind all trusted proxies',
      '10.0.0.0/8',
      '10.0.0.7',
      '8.8.8.8, 192.0.2.1, 10.0.0.8, 10.0.0.9',
      '192.0.2.1',
    ],
    [
      'is the first of them where there are only such',
      '10.0.0.0/8',
      '10.0.0.7',
      '10.0.0.8, 10.0.0.9',
      '10.0.0.8',
    ],
    ['is the proxy where it says nothing', '10.0.0.7', '10.0.0.7', '', '10.0.0.7'],
    [
      'is the proxy where it says nothing that can be read',
      '10.0.0.7',
      '10.0.0.7',
      '192.0.2.1, unknown',
      '10.0.0.7',
    ],
    ['is no number that some would read as an address', '10.0.0.7', '10.0.0.7', '3221225985', '10.0.0.7'],
    [
      'is the last trusted one that says something readable',
      '10.0.0.0/8',
      '10.0.0.7',
      'x, 10.0.0.8',
      '10.0.0.8',
    ],
    ['is read with a port', '10.0.0.7', '10.0.0.7', '192.0.2.1:4711', '192.0.2.1'],
    ['is read through empty entries', '10.0.0.7', '10.0.0.7', ' , 192.0.2.1 ,, ', '192.0.2.1'],
    ['may have an IPv6 address', '10.0.0.7', '10.0.0.7', '2001:db8::1', '2001:db8::1'],
    ['may have an IPv6 address with a port', 'fd00::/8', 'fd00::7', '[2001:db8::1]:4711', '2001:db8::1'],
    ['is not read with a zone', '10.0.0.7', '10.0.0.7', 'fe80::1%eth0', '10.0.0.7'],
    [
      'is IPv4 where a socket for both wraps it',
      '10.0.0.0/8',
      '::ffff:10.0.0.7',
      '::ffff:192.0.2.1',
      '192.0.2.1',
    ],
    ['has no address on a unix socket', '10.0.0.7', '', '192.0.2.1', 'no address'],
    [
      'is what those say who may open the socket, where they are trusted',
      'unix',
      '',
      '192.0.2.1',
      '192.0.2.1',
    ],
    ['is no unix peer because it has an address', 'unix', '10.0.0.7', '192.0.2.1', '10.0.0.7'],
  ])('%s', (_, trusted, peer, forwardedFor, caller) => {
    expect(callerOf(trusted, peer, forwardedFor)).toBe(caller);
  });

  it('of IPv4 is four bytes, however the socket has them', () => {
    const wrapped = Uint8Array.from([...Array(10).fill(0), 0xff, 0xff, 192, 0, 2, 1]);
    const caller = new ClientAddresses([]).callerOf(wrapped, { forwardedFor: '', isForwarded: false });
    expect([...caller]).toEqual([192, 0, 2, 1]);
  });
});

describe('a program of this machine', () => {
  const isLocal = (trusted: string, peer: string, forwardedFor = '') =>
    new ClientAddresses(trusted === '' ? [] : trustedProxies(trusted)).isLocal(bytesOf(peer), {
      forwardedFor,
      isForwarded: forwardedFor !== '',
    });

  it.each([
    ['calls from a loopback address', '', '127.0.0.1', '', true],
    ['calls from a loopback address, IPv6', '', '::1', '', true],
    ['calls over the unix socket', '', '', '', true],
    ['is not what calls from elsewhere', '', '192.0.2.1', '', false],
    ['is not who a proxy calls for', '', '127.0.0.1', '192.0.2.1', false],
    ['is not who a proxy calls for that says so itself', '', '127.0.0.1', '127.0.0.1', false],
    ['is no trusted proxy, though it says nothing', '127.0.0.1', '127.0.0.1', '', false],
    ['is no trusted proxy, though it says so', '127.0.0.1', '127.0.0.1', '127.0.0.1', false],
    ['is not who says so from elsewhere', '', '192.0.2.1', '127.0.0.1', false],
    ['is no trusted proxy on the unix socket', 'unix', '', '127.0.0.1', false],
    ['may call beside a proxy on the unix socket', 'unix', '127.0.0.1', '', true],
  ])('%s', (_, trusted, peer, forwardedFor, expected) => {
    expect(isLocal(trusted, peer, forwardedFor)).toBe(expected);
  });
});

describe('a list of proxies', () => {
  it.each(['nginx.internal', '10.0.0.7:80', '10.0.0.1/8', '0.0.0.0/0', '::/0', '', 'unix:/x', '10.0.0.0/33'])(
    '%j is refused',
    (text) => {
      expect(() => trustedProxies(text)).toThrow(/must be an address|is no network|could name any/);
    },
  );
});
