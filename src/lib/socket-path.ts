/** The path of a unix socket that others connect to: what may stand there already, and what is taken away. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { MAX_SOCKET_PATH_BYTES } from './owned-socket.ts';

/** How long whoever holds a socket is given to take a connection. */
const PROBE_MS = 2000;

/** Why a path cannot be that of a socket, or undefined where it can. */
export function socketPathFault(path: string): string | undefined {
  const bytes = Buffer.byteLength(path);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return undefined;
  return `${path} is too long for a socket: ${bytes} bytes, of which ${MAX_SOCKET_PATH_BYTES} are possible`;
}

/**
 * Takes away the socket of a process that was killed.
 * @throws Error where a living process has it, and where it is no socket
 */
export async function makeWay(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`cannot listen on ${path}: it is there and no socket`);
  if (await isHeld(path)) throw new Error(`cannot listen on ${path}: another process does`);
  // Another starter may have been faster.
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === found.ino) unlinkSync(path);
}

/** A socket that this process listens on: whose it is, and what it takes away when it stops. */
export class SocketFile {
  readonly #path: string;
  readonly #inode: number;

  /** @param mode who may connect: who may write to it */
  constructor(path: string, mode: number) {
    chmodSync(path, mode);
    this.#path = path;
    this.#inode = lstatSync(path).ino;
  }

  /** Where it has not been taken away and made anew by another. */
  remove(): void {
    if (lstatSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) unlinkSync(this.#path);
  }
}

/** Whoever does not answer at once holds it all the same: it may be stopped, or have no room for more callers. */
function isHeld(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(path);
    const decide = (held: boolean) => {
      clearTimeout(timer);
      connection.destroy();
      resolve(held);
    };
    const timer = setTimeout(() => decide(true), PROBE_MS);
    connection.once('connect', () => decide(true));
    connection.once('error', (error: NodeJS.ErrnoException) => {
      decide(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}
