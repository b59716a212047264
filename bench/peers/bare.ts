import { startNodePeer } from './node-peer.ts';
import type { Peer } from './peer.ts';

/** What it answers to GET, so many bytes of it; a POST is read and answered 201. */
export function startBare(answerBytes = 0): Promise<Peer> {
  return startNodePeer('bare-server.ts', [String(answerBytes)]);
}
