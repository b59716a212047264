/** The servers that are measured, each in a process of its own on a free port of loopback. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface BenchServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface Foreshock extends BenchServer {
  readonly ingestKey: string;
  readonly readOnlyKey: string;
}

const START_DEADLINE_MS = 20_000;

/** A fresh Foreshock with one registered agent, on a temporary data directory. */
export async function startForeshock(flags: readonly string[]): Promise<Foreshock> {
  const directory = mkdtempSync(join(tmpdir(), 'foreshock-bench-'));
  const main = resolve(import.meta.dirname, '../src/main.ts');
  const args = [main, 'serve', '--port', '0', '--data-dir', directory, ...flags];
  const { output, stop } = await start(args, /listens on http:\/\/127\.0\.0\.1:(\d+)[\s\S]*\/context/);
  const url = `http://127.0.0.1:${/listens on \S+:(\d+)/.exec(output)?.[1]}`;
  const ingestKey = /ingest key\s+(\S+)/.exec(output)?.[1] ?? '';
  const readOnlyKey = /read-only key\s+(\S+)/.exec(output)?.[1] ?? '';
  const registered = await fetch(`${url}/v1/agents/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ hostname: 'bench' }),
  });
  if (registered.status !== 201) throw new Error(`registration was answered ${registered.status}`);
  return {
    url,
    ingestKey,
    readOnlyKey,
    stop: async () => {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function startBare(): Promise<BenchServer> {
  const args = [resolve(import.meta.dirname, 'peers/bare-server.ts')];
  const { output, stop } = await start(args, /listening (\d+)/);
  return { url: `http://127.0.0.1:${/listening (\d+)/.exec(output)?.[1]}`, stop };
}

async function start(
  args: readonly string[],
  ready: RegExp,
): Promise<{ output: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!ready.test(output)) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${args[0]} did not start:\n${output}`);
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  return {
    output,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
