/**
 * A unix socket that one process at a time owns: a lock that the kernel takes back at its holder's death, and
 * the way to talk to the holder. It works across containers that share the directory, where neither process
 * ids nor abstract sockets do.
 *
 * The socket is bound under a name of its own and then linked to the shared one, which fails where that
 * exists. A socket found there that nobody answers at is a dead holder's: it is renamed away and the link tried
 * again. Should it turn out, once renamed, to be one that another starter has just linked, it is put back.
 *
 * One line of JSON asks, one line answers; mode 0600: whoever may open it is the operator of the box.
 */
import { closeSync, linkSync, openSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

const MAX_LINE_CHARACTERS = 64 * 1024;

/** Longest path that a socket address holds (108 bytes with its NUL on Linux, 104 elsewhere). */
export const MAX_SOCKET_PATH_BYTES = 103;

/** How long a holder is given to answer who it is. */
const PROBE_MS = 2000;

export class DirectoryInUse extends Error {
  constructor(directory: string, holder: string) {
    super(`${directory} is in use by ${holder}; stop that, or give another --data-dir`);
    this.name = 'DirectoryInUse';
  }
}

/** Answers a line with a value to be sent as JSON. */
export type AnswerLine = (line: string) => Promise<unknown>;

const WHO = JSON.stringify({ operation: 'who' });

export class OwnedSocket {
  readonly #server: Server;
  readonly #path: string;
  readonly #inode: number;
  readonly #connections: Set<Socket>;
  /** Says how lines are answered from now on. */
  readonly serve: (answer: AnswerLine) => void;

  private constructor(bound: Bound, path: string) {
    this.#server = bound.server;
    this.#inode = bound.inode;
    this.#connections = bound.connections;
    this.serve = bound.serve;
    this.#path = path;
  }

  /** @throws DirectoryInUse naming the process that has it */
  static async claim(directory: string, name: string): Promise<OwnedSocket> {
    const path = join(directory, name);
    const own = `${name}.${process.pid}`;
    const bound = await bind(directory, own);
    try {
      while (!linked(join(directory, own), path)) {
        const holder = await whoAnswers(directory, name);
        if (holder !== undefined) throw new DirectoryInUse(directory, holder);
        await removeDead(directory, name);
      }
      unlinkIfThere(join(directory, own));
      return new OwnedSocket(bound, path);
    } catch (error) {
      // Closed whatever else fails: a socket that listens keeps the process alive, and the directory its.
      bound.server.close();
      if (inodeOf(path) === bound.inode) unlinkIfThere(path);
      unlinkIfThere(join(directory, own));
      throw error;
    }
  }

  async release(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    if (inodeOf(this.#path) === this.#inode) unlinkIfThere(this.#path);
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** What the holder of a socket answers a line with, or undefined where nobody holds it. */
export async function askHolder(directory: string, name: string, line: string): Promise<unknown> {
  const address = addressOf(directory, name);
  try {
    const text = await new Promise<string | undefined>((resolve, reject) => {
      const socket = createConnection(address.path);
      let answer = '';
      socket.setEncoding('utf8');
      socket.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
        else reject(error);
      });
      socket.once('connect', () => socket.write(`${line}\n`));
      socket.on('data', (part: string) => {
        answer += part;
      });
      socket.once('end', () => resolve(answer));
    });
    if (text === undefined) return undefined;
    if (text === '') throw new Error('the server ended before it answered');
    return JSON.parse(text);
  } finally {
    address.release();
  }
}

interface Bound {
  readonly server: Server;
  readonly inode: number;
  readonly connections: Set<Socket>;
  readonly serve: (answer: AnswerLine) => void;
}

async function bind(directory: string, name: string): Promise<Bound> {
  unlinkIfThere(join(directory, name));
  const connections = new Set<Socket>();
  let answer: AnswerLine = async () => ({ type: 'refused', reason: 'the server is starting' });
  const server = createServer((socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    converse(socket, (line) => (line === WHO ? Promise.resolve(process.pid) : answer(line)));
  });
  const address = addressOf(directory, name);
  const umask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address.path, resolve);
    });
  } finally {
    process.umask(umask);
    address.release();
  }
  const serve = (next: AnswerLine) => {
    answer = next;
  };
  return { server, inode: inodeOf(join(directory, name)) ?? 0, connections, serve };
}

function converse(socket: Socket, answer: AnswerLine): void {
  let text = '';
  socket.setEncoding('utf8');
  // A client that goes away before its answer is nobody's problem.
  socket.on('error', () => socket.destroy());
  socket.on('data', (part: string) => {
    text += part;
    const end = text.indexOf('\n');
    if (end === -1) {
      if (text.length > MAX_LINE_CHARACTERS) socket.destroy();
      return;
    }
    socket.pause();
    answer(text.slice(0, end)).then(
      (reply) => socket.end(`${JSON.stringify(reply)}\n`),
      () => socket.destroy(),
    );
  });
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function whoAnswers(directory: string, name: string): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<unknown>((resolve) => {
    // A process that is stopped or busy holds it all the same.
    timer = setTimeout(() => resolve(null), PROBE_MS);
  });
  try {
    const pid = await Promise.race([askHolder(directory, name, WHO), silence]);
    if (pid === undefined) return undefined;
    return typeof pid === 'number' ? `process ${pid}` : 'a process that does not answer';
  } finally {
    clearTimeout(timer);
  }
}

async function removeDead(directory: string, name: string): Promise<void> {
  const aside = `${name}.dead.${process.pid}`;
  try {
    renameSync(join(directory, name), join(directory, aside));
  } catch (error) {
    // Another starter was faster.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  const holder = await whoAnswers(directory, aside);
  if (holder !== undefined) linked(join(directory, aside), join(directory, name));
  unlinkIfThere(join(directory, aside));
  if (holder !== undefined) throw new DirectoryInUse(directory, holder);
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** A path too long for a socket address is reached through the directory's file descriptor (Linux). */
function addressOf(directory: string, name: string): { readonly path: string; readonly release: () => void } {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES || process.platform !== 'linux') {
    return { path, release: () => {} };
  }
  const fd = openSync(directory, 'r');
  return { path: `/proc/self/fd/${fd}/${name}`, release: () => closeSync(fd) };
}
