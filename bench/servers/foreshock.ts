/** A fresh Foreshock on a temporary data directory, with its first agent registered. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Probe, probeOf } from '../measure/probe.ts';
import { startProcess } from './process.ts';
import { stopAndRemove, temporaryDirectory } from './temporary.ts';

export interface Foreshock {
  readonly port: number;
  readonly pid: number;
  readonly ingestKey: string;
  readonly readOnlyKey: string;
  /** Watches the event loop from inside. */
  readonly probe: Probe;
  /** Further ingest keys, each an agent that is still to be registered. */
  createIngestKeys(count: number): Promise<string[]>;
  stop(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = resolve(ROOT, 'src/main.ts');
const PROBE = resolve(ROOT, 'bench/measure/probe-preload.ts');
/** What `keys create` makes at once. */
const KEYS_AT_ONCE = 10_000;

const run = promisify(execFile);

/** For servers that are filled as fast as they take it, which is an overload, and to be taken all the same. */
export const UNSHED = ['--shed-after-ms', '0'] as const;

export async function startForeshock(flags: readonly string[] = []): Promise<Foreshock> {
  const directory = temporaryDirectory();
  const args = ['--import', PROBE, MAIN, 'serve', '--port', '0', '--data-dir', directory, ...flags];
  const server = await startProcess({
    command: process.execPath,
    args,
    ready: (output) => /listens on http:\/\/127\.0\.0\.1:\d+[\s\S]*\/context/.test(output),
    ipc: true,
  });
  const found = (pattern: RegExp) => pattern.exec(server.output)?.[1] ?? '';
  const port = Number(found(/listens on \S+:(\d+)/));
  const ingestKey = found(/ingest key\s+(\S+)/);
  await register(port, ingestKey);
  return {
    port,
    pid: server.pid,
    ingestKey,
    readOnlyKey: found(/read-only key\s+(\S+)/),
    probe: probeOf(server.child),
    createIngestKeys: async (count) => {
      const keys: string[] = [];
      while (keys.length < count) {
        keys.push(...(await createKeys(directory, Math.min(KEYS_AT_ONCE, count - keys.length))));
      }
      return keys;
    },
    stop: stopAndRemove(server, directory),
  };
}

async function register(port: number, key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/agents/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ hostname: 'bench' }),
  });
  if (answer.status !== 201) throw new Error(`registration was answered ${answer.status}`);
}

async function createKeys(directory: string, count: number): Promise<string[]> {
  const wanted = ['--tenant', 'default', '--kind', 'ingest', '--count', String(count), '--json'];
  const args = [MAIN, 'keys', 'create', '--data-dir', directory, ...wanted];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const { key } = JSON.parse(line) as { key: string };
      return key;
    });
}
