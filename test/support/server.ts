/** A real server in a process of its own, on a data directory of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');
const START_DEADLINE_MS = 20_000;

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** Of the first start of this directory; empty later. */
  readonly ingestKey: string;
  readonly readOnlyKey: string;
  readonly pid: number;
  /** Everything it has printed so far, both streams. */
  output(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; resolves once it is dead. */
  kill(): Promise<void>;
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'foreshock-test-'));
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Starts `foreshock serve` on a free port and waits until it listens. */
export async function startServer(
  dataDirectory: string,
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const args = [MAIN, 'serve', '--port', '0', '--data-dir', dataDirectory, ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  // Half a welcome must not be read for the whole.
  const welcome =
    /Foreshock listens on (https?:\/\/\S+:(\d+)|unix:\S+)[\s\S]*commands replayed\n(?:[\s\S]*read-only key\s+\S+\n)?/;
  const listening = await until(
    () => welcome.exec(output),
    child,
    exited,
    () => output,
  );
  await until(
    () => !output.includes('The data directory is new') || output.includes('/context'),
    child,
    exited,
    () => output,
  );
  return {
    url: listening[1] ?? '',
    port: Number(listening[2]),
    dataDirectory,
    ingestKey: /ingest key\s+(\S+)/.exec(output)?.[1] ?? '',
    readOnlyKey: /read-only key\s+(\S+)/.exec(output)?.[1] ?? '',
    pid: child.pid ?? 0,
    output: () => output,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function until<T>(
  probe: () => T | null | false | undefined,
  child: ChildProcess,
  exited: Promise<number | null>,
  output: () => string,
): Promise<T> {
  const deadline = performance.now() + START_DEADLINE_MS;
  let dead = false;
  exited.then(() => {
    dead = true;
  });
  for (;;) {
    const found = probe();
    if (found) return found;
    if (dead) throw new Error(`the server ended before it listened:\n${output()}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the server did not listen in time:\n${output()}`);
    }
    await new Promise((done) => setTimeout(done, 10));
  }
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the command line to its end. */
export function foreshock(...args: readonly string[]): Promise<Ran> {
  return foreshockWith({}, ...args);
}

/** The same in another directory, or with more environment variables. */
export function foreshockWith(
  where: { readonly directory?: string; readonly environment?: Readonly<Record<string, string>> },
  ...args: readonly string[]
): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: where.directory,
    env: { ...process.env, ...where.environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
}
