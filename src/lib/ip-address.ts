/** IP addresses, in the form in which they are compared. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * An address as the system connects to it: IPv4 in an IPv6 wrapping (::ffff:a.b.c.d) is IPv4. Undefined where the
 * text is no address in the usual notation (URL parsing has turned octal, hexadecimal and single numbers into it),
 * and for addresses with a zone (fe80::1%eth0), which name an interface of this machine.
 */
export function addressOf(text: string): IpAddress | undefined {
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6: {
      // In hexadecimal groups, since ipaddr.js would take ::8.8.8.8 for ::ffff:8.8.8.8. URLs hold no zones.
      const groups = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
      return groups === undefined ? undefined : ipaddr.process(groups);
    }
    default:
      return undefined;
  }
}

/** The same of the bytes that a socket knows: 4 of IPv4, 16 of IPv6. Undefined of none, as a unix socket has. */
export function addressOfBytes(bytes: Uint8Array): IpAddress | undefined {
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  const address = ipaddr.fromByteArray([...bytes]);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** A network in CIDR notation; one address as itself. */
export function networkText(address: IpAddress, prefixLength: number): string {
  const whole = address.kind() === 'ipv4' ? 32 : 128;
  return prefixLength === whole ? address.toString() : `${address}/${prefixLength}`;
}
