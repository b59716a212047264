/**
 * Whose request it is, where proxies stand in between. What a header says of it counts only from those whom the
 * operator named (`--trust-proxy`), for anybody can write one.
 *
 * Every proxy appends the address that it was called from to X-Forwarded-For, or adds a header of its own behind those
 * that were there. So the list is read from its end: each address was written by the one behind it, and the first
 * that is no trusted proxy's is the caller. What stands before it is the caller's own say, and never looked at.
 * `Forwarded` (RFC 7239) is not read: a proxy that writes the one header hands the other on as its caller made it up.
 */

import { isLoopback } from '../lib/address.ts';
import { addressOf, addressOfBytes, type IpAddress } from '../lib/ip-address.ts';
import { isTrusted, type TrustedProxy } from '../lib/trusted-proxy.ts';
import type { RequestHead } from './request.ts';

type Forwarding = Pick<RequestHead, 'forwardedFor' | 'isForwarded'>;

export class ClientAddresses {
  readonly #trusted: readonly TrustedProxy[];

  constructor(trusted: readonly TrustedProxy[]) {
    this.#trusted = trusted;
  }

  /**
   * The caller's address: 4 or 16 bytes, none for a peer on the unix socket.
   * @param peer bytes as the socket knows them
   */
  callerOf(peer: Uint8Array, { forwardedFor }: Forwarding): Uint8Array {
    let caller = addressOfBytes(peer);
    if (forwardedFor !== '' && isTrusted(this.#trusted, caller)) {
      for (const hop of forwardedFor.split(',').reverse()) {
        if (hop.trim() === '') continue;
        const address = addressOfHop(hop.trim());
        // What cannot be read ends the list: the last one that can is as far as anybody vouches.
        if (address === undefined) break;
        caller = address;
        if (!isTrusted(this.#trusted, address)) break;
      }
    }
    return caller === undefined ? new Uint8Array() : Uint8Array.from(caller.toByteArray());
  }

  /**
   * Whether the caller is a program of this machine. What came through a proxy never is, whatever its headers say: a
   * proxy of this machine connects from 127.0.0.1 for all the world.
   */
  isLocal(peer: Uint8Array, { isForwarded }: Forwarding): boolean {
    const isOfMachine = peer.length === 0 || isLoopback(peer);
    return isOfMachine && !isForwarded && !isTrusted(this.#trusted, addressOfBytes(peer));
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressOfHop(text: string): IpAddress | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1];
  const beforePort = /^([\d.]+):\d+$/.exec(text)?.[1];
  return addressOf(bracketed ?? beforePort ?? text);
}
