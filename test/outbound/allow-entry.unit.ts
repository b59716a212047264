import { describe, expect, it } from 'vitest';
import { allowEntryText, parseAllowEntry } from '../../src/outbound/allow-entry.ts';

const writtenAgain = (text: string) => {
  const reading = parseAllowEntry(text);
  return reading.type === 'refused' ? reading.detail : allowEntryText(reading.entry);
};

const read = (text: string) => {
  const reading = parseAllowEntry(text);
  if (reading.type === 'refused') throw new Error(reading.detail);
  const { entry } = reading;
  if (entry.type !== 'network') return entry;
  return { ...entry, address: entry.address.toString() };
};

describe('an entry of --outbound-allow', () => {
  it.each([
    ['alerts.internal', { type: 'host', name: 'alerts.internal', port: null }],
    ['  Alerts.INTERNAL.  ', { type: 'host', name: 'alerts.internal', port: null }],
    ['alerts.internal:9093', { type: 'host', name: 'alerts.internal', port: 9093 }],
    ['localhost', { type: 'host', name: 'localhost', port: null }],
    ['bücher.example', { type: 'host', name: 'xn--bcher-kva.example', port: null }],
    ['*.internal', { type: 'below', suffix: '.internal', port: null }],
    ['*.a.internal:443', { type: 'below', suffix: '.a.internal', port: 443 }],
    ['10.1.2.3', { type: 'network', address: '10.1.2.3', prefixLength: 32, port: null }],
    ['10.1.2.3:9093', { type: 'network', address: '10.1.2.3', prefixLength: 32, port: 9093 }],
    ['10.0.0.0/8', { type: 'network', address: '10.0.0.0', prefixLength: 8, port: null }],
    ['10.0.0.0/8:9093', { type: 'network', address: '10.0.0.0', prefixLength: 8, port: 9093 }],
    ['0.0.0.0/0', { type: 'network', address: '0.0.0.0', prefixLength: 0, port: null }],
    ['::1', { type: 'network', address: '::1', prefixLength: 128, port: null }],
    ['[::1]', { type: 'network', address: '::1', prefixLength: 128, port: null }],
    ['[::1]:80', { type: 'network', address: '::1', prefixLength: 128, port: 80 }],
    ['fd00::/8', { type: 'network', address: 'fd00::', prefixLength: 8, port: null }],
    ['[fd00::/8]:9093', { type: 'network', address: 'fd00::', prefixLength: 8, port: 9093 }],
    ['::/0', { type: 'network', address: '::', prefixLength: 0, port: null }],
  ])('%s is read', (text, entry) => {
    expect(read(text)).toEqual(entry);
    expect(read(writtenAgain(text))).toEqual(entry);
  });

  it.each([
    ['', 'a host name, an IP address or a network in CIDR notation is needed'],
    [':80', 'a host name, an IP address or a network in CIDR notation is needed'],
    ['host:', ' is no port: 1 to 65535 is'],
    ['host:0', '0 is no port: 1 to 65535 is'],
    ['host:65536', '65536 is no port: 1 to 65535 is'],
    ['host:http', 'http is no port: 1 to 65535 is'],
    ['*', '* alone is refused; 0.0.0.0/0 and ::/0 open every address'],
    ['*.', '*. is no suffix of host names; *.example.com is one'],
    ['*.1', '*.1 is no suffix of host names; *.example.com is one'],
    ['*.0x1', '*.0x1 is no suffix of host names; *.example.com is one'],
    ['*.10.0.0.1', '*.10.0.0.1 is no suffix of host names; *.example.com is one'],
    ['a.*.internal', 'a.*.internal: * stands for whole labels at the start only, as *.example.com'],
    ['*internal', '*internal: * stands for whole labels at the start only, as *.example.com'],
    ['10.1.2.3/8', '10.1.2.3/8 is no network: it begins at 10.0.0.0/8'],
    ['fd00::1/8', 'fd00::1/8 is no network: it begins at fd00::/8'],
    ['10.0.0.0/33', '10.0.0.0/33 is no network in CIDR notation; 10.0.0.0/8 is one'],
    ['10.0.0.0/', '10.0.0.0/ is no network in CIDR notation; 10.0.0.0/8 is one'],
    ['10.0.0.0/8/8', '10.0.0.0/8/8 is no network in CIDR notation; 10.0.0.0/8 is one'],
    ['10.0/8', '10.0/8 is no network in CIDR notation; 10.0.0.0/8 is one'],
    ['012.0.0.0/8', '012.0.0.0/8 is no network in CIDR notation; 10.0.0.0/8 is one'],
    ['::ffff:10.0.0.0/104', '::ffff:10.0.0.0/104: write the network as IPv4, which is what is connected to'],
    ['fe80::1%eth0', 'fe80::1%eth0: an address of one interface cannot be opened'],
    ['2130706433', '2130706433 is no host name, no IP address and no network; leave out scheme and path'],
    ['127.1', '127.1 is no host name, no IP address and no network; leave out scheme and path'],
    ['http://host', 'http://host is no host name, no IP address and no network; leave out scheme and path'],
    ['user@host', 'user@host is no host name, no IP address and no network; leave out scheme and path'],
    ['a..b', 'a..b is no host name, no IP address and no network; leave out scheme and path'],
    ['a b', 'a b is no host name, no IP address and no network; leave out scheme and path'],
  ])('"%s" is refused with a reason', (text, detail) => {
    expect(parseAllowEntry(text)).toEqual({ type: 'refused', detail });
  });
});
