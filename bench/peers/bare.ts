import { join } from 'node:path';
import { stopAndRemove, temporaryDirectory } from '../servers/temporary.ts';
import { startNodePeer } from './node-peer.ts';
import type { Peer } from './peer.ts';

/** What it answers to GET, so many bytes of it; a POST is read and answered 201. */
export function startBare(answerBytes = 0): Promise<Peer> {
  return startNodePeer('bare-server.ts', ['--bytes', String(answerBytes)]);
}

/** It writes what it is sent to a file before it answers. */
export async function startBareWriter(): Promise<Peer> {
  const directory = temporaryDirectory();
  const peer = await startNodePeer('bare-server.ts', ['--write', join(directory, 'bodies')]);
  return { ...peer, stop: stopAndRemove(peer, directory) };
}
