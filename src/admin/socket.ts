/**
 * The admin socket, `<data-dir>/admin.sock`: it makes the process that holds it the only one on the directory,
 * and it is how an operator talks to that process.
 */
import { existsSync } from 'node:fs';
import { askHolder, OwnedSocket } from '../lib/owned-socket.ts';
import { type AdminAnswer, type AdminRequest, adminAnswerSchema, adminRequestSchema } from './operations.ts';

const SOCKET_NAME = 'admin.sock';

export type Administer = (request: AdminRequest) => Promise<AdminAnswer>;

/** Makes this process the one on the directory. @throws DirectoryInUse */
export function claimDirectory(directory: string): Promise<OwnedSocket> {
  return OwnedSocket.claim(directory, SOCKET_NAME);
}

export function serveAdmin(socket: OwnedSocket, administer: Administer): void {
  socket.serve((line) => answer(line, administer));
}

/** What the process on the directory answers, or undefined where there is none. */
export async function askServer(directory: string, request: AdminRequest): Promise<AdminAnswer | undefined> {
  if (!existsSync(directory)) return undefined;
  const reply = await askHolder(directory, SOCKET_NAME, JSON.stringify(request));
  return reply === undefined ? undefined : adminAnswerSchema.parse(reply);
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
