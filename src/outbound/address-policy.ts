/**
 * Which addresses a tenant's URL may lead to: public unicast ones, and what the operator opened. Whatever else is
 * there belongs to the network the server stands in, which the tenant must not reach through it (SSRF; OWASP
 * API7:2023). Everything is refused that is not known to be public, so a range that is assigned tomorrow is refused
 * until the table below says otherwise.
 *
 * | address                            | judged                                                            |
 * | ---------------------------------- | ----------------------------------------------------------------- |
 * | IPv4                               | public where the IANA registry of special addresses is silent     |
 * | 168.63.129.16                      | refused: public by its number, but Azure's own platform behind it |
 * | ::ffff:a.b.c.d                     | as a.b.c.d, which is where the system connects to                 |
 * | 64:ff9b::a.b.c.d (NAT64)           | public where a.b.c.d is: what DNS64 makes of public names         |
 * | 2000::/3                           | public but for 6to4, Teredo, documentation and the like           |
 * | the rest of IPv6                   | refused: ::1, ::a.b.c.d, fc00::/7, fe80::/10, fec0::/10, ff00::/8 |
 * | with a zone (fe80::1%eth0)         | refused: it names an interface of this machine                    |
 */
import ipaddr from 'ipaddr.js';
import { addressOf, type IpAddress } from '../lib/ip-address.ts';
import { type AllowEntry, opensAddress, opensHost } from './allow-entry.ts';

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Wire server of every Azure machine: it hands out certificates and settings to whoever asks from the inside. */
const AZURE_PLATFORM = '168.63.129.16';

/** Ports under 1024 other than these are other protocols' (mail, SSH, DNS …), to be reached by nobody's URL. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const FIRST_UNPRIVILEGED_PORT = 1024;

/** Where a call is to go. */
export interface Destination {
  /** A name, or an address without brackets; lower case, without a dot at its end. */
  readonly host: string;
  readonly port: number;
  /** All that the host resolved to; the host itself where it is an address. */
  readonly addresses: readonly string[];
}

/**
 * Why a destination may not be called, or null where it may. One address that may not be called refuses all of
 * them: a name that leads both outside and inside is a mistake or an attack, and picking the public ones would hide
 * which, and work or not as the resolver happened to answer.
 *
 * The reason says of what kind the address is and not which: names of the operator's network stay its own.
 */
export function refusalOf(destination: Destination, allowed: readonly AllowEntry[]): string | null {
  const { host, port, addresses } = destination;
  if (allowed.some((entry) => opensHost(entry, host, port))) return null;
  for (const text of addresses) {
    const address = addressOf(text);
    if (address !== undefined && allowed.some((entry) => opensAddress(entry, address, port))) continue;
    const kind = address === undefined ? 'not an address' : kindOf(address);
    if (kind !== null) return `${host} is not public (${kind}) and --outbound-allow does not name it`;
    if (port < FIRST_UNPRIVILEGED_PORT && !WEB_PORTS.has(port)) {
      return `port ${port} is not a port of web servers and --outbound-allow does not name it`;
    }
  }
  return null;
}

/** What kind of non-public address it is; null where it is public. */
function kindOf(address: IpAddress): string | null {
  if (address instanceof ipaddr.IPv4) return kindOfIpv4(address);
  if (address.match(NAT64)) return kindOfIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  const range = address.range();
  if (range !== 'unicast') return range;
  return address.match(GLOBAL_UNICAST) ? null : 'reserved';
}

function kindOfIpv4(address: ipaddr.IPv4): string | null {
  if (address.toString() === AZURE_PLATFORM) return "the cloud's platform";
  const range = address.range();
  return range === 'unicast' ? null : range;
}
