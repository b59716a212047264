/**
 * The admin socket, `<data-dir>/admin.sock`: one line of JSON asks, one line answers. Whoever may open it
 * (mode 0600: the operator of the box) is the administrator; there is no other way in.
 */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type AdminAnswer, type AdminRequest, adminRequestSchema } from './operations.ts';

const SOCKET_NAME = 'admin.sock';
const MAX_REQUEST_CHARACTERS = 64 * 1024;

/** Longest path that a socket address holds (108 bytes with its NUL on Linux, 104 elsewhere). */
const MAX_SOCKET_PATH_BYTES = 103;

export type Administer = (request: AdminRequest) => Promise<AdminAnswer>;

/** Listens; the answer stops it. The directory must be locked: a socket found there is a dead server's. */
export async function listenForAdmin(
  directory: string,
  administer: Administer,
): Promise<() => Promise<void>> {
  removeStale(directory);
  const connections = new Set<Socket>();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    serve(socket, administer);
  });
  const address = socketAddress(directory);
  const umask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address.path, resolve);
    });
  } finally {
    process.umask(umask);
  }
  return async () => {
    for (const socket of connections) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    address.release();
  };
}

/** What the running server answers, or undefined where none listens. */
export async function askServer(directory: string, request: AdminRequest): Promise<AdminAnswer | undefined> {
  let address: SocketAddress;
  try {
    address = socketAddress(directory);
  } catch {
    return undefined;
  }
  try {
    return await new Promise((resolve, reject) => {
      const socket = createConnection(address.path);
      let text = '';
      socket.setEncoding('utf8');
      socket.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
        else reject(error);
      });
      socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`));
      socket.on('data', (part: string) => {
        text += part;
      });
      socket.once('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch {
          reject(new Error('the server ended before it answered'));
        }
      });
    });
  } finally {
    address.release();
  }
}

function serve(socket: Socket, administer: Administer): void {
  let text = '';
  socket.setEncoding('utf8');
  // A client that goes away before its answer is nobody's problem.
  socket.on('error', () => socket.destroy());
  socket.on('data', (part: string) => {
    text += part;
    const end = text.indexOf('\n');
    if (end === -1) {
      if (text.length > MAX_REQUEST_CHARACTERS) socket.destroy();
      return;
    }
    socket.pause();
    answer(text.slice(0, end), administer).then(
      (reply) => socket.end(`${JSON.stringify(reply)}\n`),
      () => socket.destroy(),
    );
  });
}

async function answer(line: string, administer: Administer): Promise<AdminAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { type: 'refused', reason: 'the request is not JSON' };
  }
  const request = adminRequestSchema.safeParse(value);
  if (!request.success) {
    const issue = request.error.issues[0];
    return {
      type: 'refused',
      reason: `${issue?.path.join('.') || 'request'}: ${issue?.message ?? 'not understood'}`,
    };
  }
  return administer(request.data);
}

interface SocketAddress {
  readonly path: string;
  readonly release: () => void;
}

/** A path too long for a socket address is reached through the directory's file descriptor (Linux). */
function socketAddress(directory: string): SocketAddress {
  const path = join(directory, SOCKET_NAME);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES || process.platform !== 'linux') {
    return { path, release: () => {} };
  }
  const fd = openSync(directory, 'r');
  return { path: `/proc/self/fd/${fd}/${SOCKET_NAME}`, release: () => closeSync(fd) };
}

function removeStale(directory: string): void {
  try {
    unlinkSync(join(directory, SOCKET_NAME));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}
