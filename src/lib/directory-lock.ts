/**
 * One process a data directory: two would interleave their records in one log.
 *
 * Two means, for each leaves a gap. A file `lock` names the holder, and is believed while that process lives;
 * but two starters that find a dead holder could both replace it. So on Linux they must first bind an abstract
 * socket named after the directory's inode, which the kernel gives to one and takes back at its death. The
 * file stays necessary: processes in different network namespaces do not see one another's sockets.
 */
import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

export class DirectoryInUse extends Error {
  constructor(directory: string, holder: string) {
    super(`${directory} is in use by ${holder}`);
    this.name = 'DirectoryInUse';
  }
}

interface Holder {
  readonly pid: number;
  /** When it started, so that another process that was given its number is not taken for it. */
  readonly startedAt: string;
}

/**
 * Takes the lock; the answer gives it back.
 *
 * @throws DirectoryInUse naming the process that has it
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, 'lock');
  const socket = await bindSocket(directory, path);
  const holder = livingHolder(path);
  if (holder !== undefined) {
    await closeServer(socket);
    throw new DirectoryInUse(directory, nameOf(holder));
  }
  const self: Holder = { pid: process.pid, startedAt: statOf(process.pid).startedAt ?? '' };
  writeFileSync(`${path}.tmp`, JSON.stringify(self), { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
  return async () => {
    unlinkSync(path);
    await closeServer(socket);
  };
}

function bindSocket(directory: string, lockPath: string): Promise<Server | undefined> {
  if (process.platform !== 'linux') return Promise.resolve(undefined);
  const { dev, ino } = statSync(directory);
  const server = createServer();
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const holder = readHolder(lockPath);
      reject(new DirectoryInUse(directory, holder === undefined ? 'another process' : nameOf(holder)));
    });
    server.listen(`\0foreshock-${dev}-${ino}`, () => resolve(server));
  });
}

function closeServer(server: Server | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
}

function livingHolder(path: string): Holder | undefined {
  const holder = readHolder(path);
  if (holder === undefined || holder.pid === process.pid) return undefined;
  return isAlive(holder) ? holder : undefined;
}

function readHolder(path: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    if (!('pid' in value) || typeof value.pid !== 'number') return undefined;
    if (!('startedAt' in value) || typeof value.startedAt !== 'string') return undefined;
    return { pid: value.pid, startedAt: value.startedAt };
  } catch {
    // No file, or one that a crash left half-written: nobody's.
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives, and is another user's.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const { state, startedAt } = statOf(holder.pid);
  // A killed process whose parent has not looked yet is still listed, as a zombie.
  if (state === 'Z' || state === 'X') return false;
  return startedAt === undefined || startedAt === holder.startedAt;
}

/** Its state, and its start in clock ticks with the boot's id; undefined where /proc does not say. */
function statOf(pid: number): { readonly state: string | undefined; readonly startedAt: string | undefined } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in brackets and may hold anything: count from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { state: fields[0], startedAt: `${boot}:${fields[19]}` };
  } catch {
    return { state: undefined, startedAt: undefined };
  }
}

function nameOf(holder: Holder): string {
  return `process ${holder.pid}`;
}
