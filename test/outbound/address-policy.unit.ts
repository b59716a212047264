/** The table at the top of src/outbound/address-policy.ts. */
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../src/outbound/address-policy.ts';
import { entries } from './entries.ts';

const judge = (
  addresses: readonly string[],
  allow: readonly string[] = [],
  host = 'host.example',
  port = 443,
) => refusalOf({ host, port, addresses }, entries(...allow));

describe('a public address', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('%s may be called', (address) => {
    expect(judge([address])).toBeNull();
  });
});

describe('an address that is not public', () => {
  it.each([
    ['this network', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared by a carrier', '100.64.0.1'],
    ["Alibaba's metadata", '100.100.100.200'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local', '169.254.0.1'],
    ['metadata of most clouds', '169.254.169.254'],
    ['credentials of containers', '169.254.170.2'],
    ["Azure's platform", '168.63.129.16'],
    ["Oracle's metadata", '192.0.0.192'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['6to4 relay', '192.88.99.1'],
    ['benchmarking', '198.18.0.1'],
    ['benchmarking', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped private', '::ffff:a00:1'],
    ['mapped Azure platform', '::ffff:168.63.129.16'],
    ['compatible loopback', '::127.0.0.1'],
    ['compatible public', '::8.8.8.8'],
    ['translated loopback', '::ffff:0:127.0.0.1'],
    ['NAT64 of private', '64:ff9b::10.0.0.1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['NAT64 of Azure platform', '64:ff9b::a83f:8110'],
    ['NAT64 of a site', '64:ff9b:1::8.8.8.8'],
    ['6to4 of private', '2002:a00:1::'],
    ['6to4 of public', '2002:808:808::1'],
    ['Teredo', '2001:0:53aa:64c:0:fbff:f5ff:fffe'],
    ['ORCHID', '2001:20::1'],
    ['benchmarking', '2001:2::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['discard', '100::1'],
    ['segment routing', '5f00::1'],
    ['unique local', 'fc00::1'],
    ["AWS's metadata", 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['of an interface', 'fe80::1%eth0'],
    ['public of an interface', '2606:4700:4700::1111%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['not assigned to anybody', '4000::1'],
  ])('(%s) %s is refused', (_, address) => {
    expect(judge([address])).toMatch(/is not public/);
  });

  it.each([
    '',
    'localhost',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '8.8.8.8/32',
    'fe80::1%e-0',
  ])('or not an address, such as "%s", is refused', (text) => {
    expect(judge([text])).toMatch(/is not public/);
  });

  it('refuses the host even beside public ones', () => {
    expect(judge(['8.8.8.8', '10.0.0.1'])).toMatch(/not public/);
    expect(judge(['10.0.0.1', '8.8.8.8'])).toMatch(/not public/);
    expect(judge(['2606:4700:4700::1111', '::1'])).toMatch(/not public/);
  });

  it('is not told to whoever configured the URL', () => {
    expect(judge(['10.20.30.40'])).toBe(
      'host.example is not public (private) and --outbound-allow does not name it',
    );
  });
});

describe('a port', () => {
  it.each([80, 443, 1024, 8080, 9093, 65_535])('%i may be called', (port) => {
    expect(judge(['8.8.8.8'], [], 'host.example', port)).toBeNull();
  });

  it.each([1, 22, 25, 53, 79, 81, 444, 465, 1023])("%i is another protocol's and refused", (port) => {
    expect(judge(['8.8.8.8'], [], 'host.example', port)).toBe(
      `port ${port} is not a port of web servers and --outbound-allow does not name it`,
    );
  });

  it('is opened together with the place', () => {
    expect(judge(['8.8.8.8'], ['8.8.8.8:25'], 'host.example', 25)).toBeNull();
    expect(judge(['8.8.8.8'], ['host.example'], 'host.example', 25)).toBeNull();
    expect(judge(['8.8.8.8'], ['8.8.8.8:26'], 'host.example', 25)).toMatch(/port 25/);
  });
});

describe('what the operator opened', () => {
  it.each([
    ['an address', '10.0.0.1', 'host.example', ['10.0.0.1'], ['10.0.0.2']],
    ['an address, mapped into IPv6', '10.0.0.1', 'host.example', ['::ffff:10.0.0.1'], ['::ffff:10.0.0.2']],
    ['an address given as mapped', '::ffff:10.0.0.1', 'host.example', ['10.0.0.1'], ['10.0.0.2']],
    ['an IPv4 address, not behind NAT64', '10.0.0.1', 'host.example', ['10.0.0.1'], ['64:ff9b::10.0.0.1']],
    ['a network', '10.1.0.0/16', 'host.example', ['10.1.255.255'], ['10.2.0.0']],
    ['an IPv6 network', 'fd00::/16', 'host.example', ['fd00:1::1'], ['fd01::1']],
    [
      'a network for every address of a name',
      '10.0.0.0/8',
      'host.example',
      ['10.0.0.1', '10.9.9.9'],
      ['10.0.0.1', '127.0.0.1'],
    ],
    [
      'a network beside public ones',
      '10.0.0.0/8',
      'host.example',
      ['10.0.0.1', '8.8.8.8'],
      ['192.168.0.1', '8.8.8.8'],
    ],
  ])('%s may be called, its neighbour not', (_, allow, host, open, closed) => {
    expect(judge(open, [allow], host)).toBeNull();
    expect(judge(closed, [allow], host)).toMatch(/not public/);
  });

  it.each([
    [
      'a host',
      'alerts.internal',
      'alerts.internal',
      ['x.alerts.internal', 'alerts.internal.example', 'internal'],
    ],
    ['hosts below', '*.internal', 'a.internal', ['internal', 'xinternal', 'a.internal.example']],
    ['hosts far below', '*.internal', 'a.b.c.internal', ['a.b.c.xinternal']],
    ['a host in another script', 'bücher.internal', 'xn--bcher-kva.internal', ['bcher.internal']],
  ])('%s may be called, similar names not', (_, allow, open, closed) => {
    expect(judge(['10.0.0.1'], [allow], open)).toBeNull();
    for (const host of closed) expect(judge(['10.0.0.1'], [allow], host)).toMatch(/not public/);
  });

  it.each(['alerts.internal:9093', '*.internal:9093', '10.0.0.1:9093', '10.0.0.0/8:9093', '[10.0.0.1]:9093'])(
    '%s is opened on that port alone',
    (allow) => {
      expect(judge(['10.0.0.1'], [allow], 'alerts.internal', 9093)).toBeNull();
      expect(judge(['10.0.0.1'], [allow], 'alerts.internal', 9094)).toMatch(/not public/);
      expect(judge(['10.0.0.1'], [allow], 'alerts.internal', 443)).toMatch(/not public/);
    },
  );

  it('does not open an address by a suffix that its digits end in', () => {
    expect(judge(['10.0.0.1'], ['*.internal'], '10.0.0.1')).toMatch(/not public/);
  });
});
