import { startNodePeer } from './node-peer.ts';
import type { Peer } from './peer.ts';

export function startFastify(): Promise<Peer> {
  return startNodePeer('fastify-server.ts');
}
