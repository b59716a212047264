import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../src/outbound/address-policy.ts';
import { parseAllowEntry } from '../../src/outbound/allow-entry.ts';
import { entries } from './entries.ts';

/** IANA's special-purpose registry, written down once more and held by another implementation. */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
] as const;

const special = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) special.addSubnet(network, bits);

const dotted = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
const numberOf = (address: string) => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

/** Anywhere, and on both sides of every border. */
const ipv4 = fc
  .oneof(
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc
      .tuple(fc.constantFrom(...SPECIAL_IPV4), fc.constantFrom(-1, 0, 1), fc.boolean())
      .map(([[network, bits], step, end]) => {
        const border = numberOf(network) + (end ? 2 ** (32 - bits) : 0) + step;
        return Math.min(2 ** 32 - 1, Math.max(0, border));
      }),
  )
  .map(dotted);

const mayCall = (address: string) =>
  refusalOf({ host: 'host.example', port: 443, addresses: [address] }, []) === null;

describe('the address policy', () => {
  it('opens the IPv4 addresses that no registry calls special, and no other', () => {
    fc.assert(
      fc.property(ipv4, (address) => mayCall(address) === !special.check(address)),
      { numRuns: 2000 },
    );
  });

  it('judges IPv4 in an IPv6 wrapping as it judges IPv4, or refuses it', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        expect(mayCall(`::ffff:${address}`)).toBe(mayCall(address));
        expect(mayCall(`64:ff9b::${address}`)).toBe(mayCall(address));
        for (const wrapping of ['::', '::ffff:0:', '64:ff9b:1::', '2001:0:', '2002:']) {
          const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
          const groups = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
          const text = wrapping.startsWith('200') ? `${wrapping}${groups}::1` : `${wrapping}${address}`;
          expect(mayCall(text)).toBe(false);
        }
      }),
    );
  });

  it('opens IPv6 addresses in 2000::/3 alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), (first) => {
        fc.pre(first !== 0x64);
        if (first >>> 13 !== 1) expect(mayCall(`${first.toString(16)}:1234:5678::1`)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('is opened by an entry for a network for its addresses and for no other', () => {
    fc.assert(
      fc.property(ipv4, ipv4, fc.integer({ min: 0, max: 32 }), (base, address, bits) => {
        const network = dotted((numberOf(base) - (numberOf(base) % 2 ** (32 - bits))) >>> 0);
        const list = new BlockList();
        list.addSubnet(network, bits);
        const opened =
          refusalOf({ host: 'h', port: 443, addresses: [address] }, entries(`${network}/${bits}`)) === null;
        expect(opened).toBe(list.check(address) || !special.check(address));
      }),
    );
  });
});

describe('an entry of --outbound-allow', () => {
  it('of any text is read or refused with a sentence, never thrown', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789abcdefx.:/[]*%@-') })),
        (text) => {
          const reading = parseAllowEntry(text);
          if (reading.type === 'refused') expect(reading.detail).not.toBe('');
        },
      ),
      { numRuns: 2000 },
    );
  });
});
