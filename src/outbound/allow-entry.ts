/**
 * What `--outbound-allow` opens, and nothing beside it:
 *
 * | entry                             | opens                                                           |
 * | --------------------------------- | --------------------------------------------------------------- |
 * | `alerts.internal`                 | URLs of that very host, wherever its name leads                 |
 * | `*.internal`                      | URLs of every host below it, at any depth, but not of it itself |
 * | `10.1.2.3`, `fd00::1`             | that address, by whichever name or spelling                     |
 * | `10.0.0.0/8`, `fd00::/8`          | every address of the network                                    |
 * | `…:9093`, `[fd00::/8]:9093`       | the same, on that port alone; without one, on every port        |
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { addressOf, type IpAddress, networkText } from '../lib/ip-address.ts';

interface OnPort {
  /** Null is every port. */
  readonly port: number | null;
}

export type AllowEntry = OnPort &
  (
    | { readonly type: 'host'; readonly name: string }
    /** `.internal` for `*.internal`. */
    | { readonly type: 'below'; readonly suffix: string }
    | { readonly type: 'network'; readonly address: IpAddress; readonly prefixLength: number }
  );

export type AllowReading =
  | { readonly type: 'entry'; readonly entry: AllowEntry }
  | { readonly type: 'refused'; readonly detail: string };

/** Reads one entry; `detail` is a sentence for the operator. */
export function parseAllowEntry(text: string): AllowReading {
  const { name, portText } = splitPort(text.trim());
  const port = portText === null ? null : portOf(portText);
  if (port === undefined) return refused(`${portText} is no port: 1 to 65535 is`);
  if (name === '') return refused('a host name, an IP address or a network in CIDR notation is needed');
  if (name.includes('/') && !name.includes('://')) return readNetwork(name, port);
  if (isIP(name) !== 0) return readAddress(name, port);
  if (name.startsWith('*.')) {
    const below = hostName(name.slice(2));
    if (below === undefined) return refused(`${name} is no suffix of host names; *.example.com is one`);
    return { type: 'entry', entry: { type: 'below', suffix: `.${below}`, port } };
  }
  const host = hostName(name);
  if (host !== undefined) return { type: 'entry', entry: { type: 'host', name: host, port } };
  if (name === '*') return refused('* alone is refused; 0.0.0.0/0 and ::/0 open every address');
  if (name.includes('*'))
    return refused(`${name}: * stands for whole labels at the start only, as *.example.com`);
  return refused(`${name} is no host name, no IP address and no network; leave out scheme and path`);
}

/** What `parseAllowEntry` reads as the same entry. */
export function allowEntryText(entry: AllowEntry): string {
  const name = nameOf(entry);
  if (entry.port === null) return name;
  return `${name.includes(':') ? `[${name}]` : name}:${entry.port}`;
}

function nameOf(entry: AllowEntry): string {
  if (entry.type === 'host') return entry.name;
  if (entry.type === 'below') return `*${entry.suffix}`;
  return networkText(entry.address, entry.prefixLength);
}

/** Whether a URL of this host may be called without regard to where its name leads. */
export function opensHost(entry: AllowEntry, host: string, port: number): boolean {
  if (!onPort(entry, port)) return false;
  if (entry.type === 'host') return host === entry.name;
  // No suffix ends in digits alone, so none is that of an IPv4 address.
  return entry.type === 'below' && host.endsWith(entry.suffix);
}

export function opensAddress(entry: AllowEntry, address: IpAddress, port: number): boolean {
  if (entry.type !== 'network' || !onPort(entry, port)) return false;
  return address.kind() === entry.address.kind() && address.match(entry.address, entry.prefixLength);
}

function onPort(entry: AllowEntry, port: number): boolean {
  return entry.port === null || entry.port === port;
}

/** IPv6 needs brackets to have a port: otherwise its last group would be one. */
function splitPort(text: string): { readonly name: string; readonly portText: string | null } {
  const bracketed = /^\[([^[\]]*)\](?::(.*))?$/.exec(text);
  if (bracketed !== null) return { name: bracketed[1] ?? '', portText: bracketed[2] ?? null };
  const colon = text.indexOf(':');
  const alone = colon !== -1 && colon === text.lastIndexOf(':') && !text.includes('://');
  return alone
    ? { name: text.slice(0, colon), portText: text.slice(colon + 1) }
    : { name: text, portText: null };
}

function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function readAddress(name: string, port: number | null): AllowReading {
  const address = addressOf(name);
  if (address === undefined) {
    return refused(`${name}: an address of one interface cannot be opened`);
  }
  const prefixLength = address.kind() === 'ipv4' ? 32 : 128;
  return { type: 'entry', entry: { type: 'network', address, prefixLength, port } };
}

function readNetwork(name: string, port: number | null): AllowReading {
  const [base = '', bits = ''] = name.split('/', 2);
  // ipaddr.js reads 10.8/8 and 012.0.0.0/8 too, as something their writer may not have meant.
  if (isIP(base) === 0 || base.includes('%') || !ipaddr.isValidCIDR(name) || !/^\d{1,3}$/.test(bits)) {
    return refused(`${name} is no network in CIDR notation; 10.0.0.0/8 is one`);
  }
  const [address, prefixLength] = ipaddr.parseCIDR(name);
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(name).toString();
  if (network !== address.toString()) {
    return refused(`${name} is no network: it begins at ${network}/${prefixLength}`);
  }
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
    return refused(`${name}: write the network as IPv4, which is what is connected to`);
  }
  return { type: 'entry', entry: { type: 'network', address, prefixLength, port } };
}

/** A host name as URLs hold it (lower case, Punycode), without a dot at its end; undefined where it is none. */
function hostName(text: string): string | undefined {
  if (text === '' || /[\s/?#@\\:*%[\]]/.test(text)) return undefined;
  const hostname = URL.parse(`http://${text}`)?.hostname ?? '';
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  // A number in any spelling is an address to a URL. Whoever means one writes it out.
  if (isIP(name) !== 0) return undefined;
  return name !== '' && name.split('.').every((label) => label !== '') ? name : undefined;
}

function refused(detail: string): AllowReading {
  return { type: 'refused', detail };
}
