/** Redis with an append-only file that is synced every second, and its own load generator. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Answered } from '../measure/duel.ts';
import { isInstalled } from '../servers/installed.ts';
import { freePort, startProcess } from '../servers/process.ts';
import { stopAndRemove, temporaryDirectory } from '../servers/temporary.ts';
import type { Peer } from './peer.ts';

export const REDIS_MISSING =
  isInstalled('redis-server') && isInstalled('redis-benchmark')
    ? undefined
    : 'redis-server or redis-benchmark is not installed: apt-get install redis-server redis-tools';

const run = promisify(execFile);

export async function startRedis(): Promise<Peer> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const persistence = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'];
  const server = await startProcess({
    command: 'redis-server',
    args: ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...persistence],
    ready: (output) => /Ready to accept connections/.test(output),
  });
  return { port, pid: server.pid, stop: stopAndRemove(server, directory) };
}

/** Adds events to a stream, one command at a time on a connection. */
export async function xaddLoad(
  { port }: Peer,
  load: { readonly event: string; readonly connections: number; readonly requests: number },
): Promise<Answered> {
  const { event, connections, requests } = load;
  const command = ['XADD', 'events', '*', 'event', event];
  const counts = ['-c', String(connections), '-n', String(requests), '-P', '1'];
  const { stdout } = await run('redis-benchmark', ['-p', String(port), ...counts, '--csv', ...command]);
  // The first column is the command, quotes and all: the figures are counted from the end.
  const figures = /"([\d.]+)"(?:,"[\d.]+"){6}\s*$/.exec(stdout);
  if (figures === null) throw new Error(`redis-benchmark said ${stdout}`);
  return { requests, perSecond: Number(figures[1]) };
}
