/** A server in a process of its own: spawned, waited for, stopped by its process id. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has written so far, standard error included. */
  readonly output: string;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside what this process has. */
  readonly env?: Readonly<Record<string, string>>;
  /** Looks at what was written: true once the server can be used. */
  readonly ready: (output: string) => boolean | Promise<boolean>;
  /** A channel for messages, to a Node process. */
  readonly ipc?: boolean;
}

const START_DEADLINE_MS = 20_000;
const POLL_MS = 20;
const KILL_AFTER_MS = 20_000;

/** @throws Error with what it wrote, where it ends or does not become ready in time */
export async function startProcess({ command, args, env, ready, ipc }: StartOptions): Promise<ServerProcess> {
  const child = spawn(command, [...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc' as const] : [])],
  });
  const exited = new Promise<void>((done) => child.once('close', () => done()));
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await ready(output))) {
    if (failure !== undefined || child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${command} ${args[0] ?? ''} did not start: ${failure?.message ?? ''}\n${output}`);
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  return {
    child,
    pid: child.pid ?? 0,
    get output() {
      return output;
    },
    stop: async () => {
      child.kill('SIGTERM');
      const tooLate = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      await exited;
      clearTimeout(tooLate);
    },
  };
}

/** A port of loopback that was free a moment ago: for servers that cannot choose one themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
