/** Proxies whose word on where a request came from is taken. */
import type { IpAddress } from './ip-address.ts';

export type TrustedProxy =
  /** Whoever may connect to the unix socket. */
  | { readonly type: 'unix' }
  | { readonly type: 'network'; readonly address: IpAddress; readonly prefixLength: number };

/** @param peer undefined for one on a unix socket, which has no address */
export function isTrusted(proxies: readonly TrustedProxy[], peer: IpAddress | undefined): boolean {
  return proxies.some((proxy) => {
    if (proxy.type === 'unix') return peer === undefined;
    return peer?.kind() === proxy.address.kind() && peer.match(proxy.address, proxy.prefixLength);
  });
}
