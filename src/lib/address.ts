/** Addresses of peers, as the bytes that the socket knows: 4 of IPv4, 16 of IPv6. */

/** Whether the peer is a program of this machine. */
export function isLoopback(address: Uint8Array): boolean {
  if (address.length === 4) return address[0] === 127;
  if (address.length !== 16) return false;
  const text = Buffer.from(address).toString('hex');
  return text === '00000000000000000000000000000001' || /^0{20}ffff7f/.test(text);
}
