/** A peer on a loopback port that says exactly what it is told to, whatever HTTP thinks of it. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { OutboundRequest } from '../../src/outbound/call-result.ts';

export interface RawPeer {
  readonly port: number;
  readonly url: string;
  /** What came in, a character a byte, connection by connection. */
  readonly received: readonly string[];
  /** Connections that are open now. */
  open(): number;
  stop(): Promise<void>;
}

export type Behaviour = (socket: Socket) => void;

/**
 * @param onRequest run once for each connection, when the blank line that ends a head has come in
 * @param onConnect run for each connection at once
 */
export async function startRawPeer(onRequest: Behaviour, onConnect: Behaviour = () => {}): Promise<RawPeer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const index = received.push('') - 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    let begun = false;
    socket.on('data', (chunk: Buffer) => {
      received[index] += chunk.toString('latin1');
      if (begun || !received[index]?.includes('\r\n\r\n')) return;
      begun = true;
      onRequest(socket);
    });
    onConnect(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    open: () => sockets.size,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Writes again and again until the connection is gone. */
export function repeat(socket: Socket, bytes: string, everyMs: number): void {
  const timer = setInterval(() => {
    if (socket.writableLength < 1024 * 1024) socket.write(bytes, 'latin1');
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
}

export function aRequest(url: string, changes: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    type: 'request',
    kind: 'alerts',
    method: 'POST',
    url,
    headers: {},
    body: '{}',
    secrets: [],
    ...changes,
  };
}
