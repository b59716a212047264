import { resolve } from 'node:path';
import { startProcess } from '../servers/process.ts';
import type { Peer } from './peer.ts';

/** Starts a program of this folder, which prints `listening <port>` once it does. */
export async function startNodePeer(program: string, args: readonly string[] = []): Promise<Peer> {
  const ready = /listening (\d+)/;
  const server = await startProcess({
    command: process.execPath,
    args: [resolve(import.meta.dirname, program), ...args],
    ready: (output) => ready.test(output),
  });
  return { port: Number(ready.exec(server.output)?.[1]), pid: server.pid, stop: server.stop };
}
