/** Why an address cannot be listened on: uWebSockets.js says only that it cannot. */
import { createServer } from 'node:net';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop that, or give another --port (0 picks a free one)',
  EACCES: 'ports below 1024 are for root alone; give a higher --port, or CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine has no such address; give --host one it has, or 0.0.0.0 for all of them',
  ENOTFOUND: 'no address is known by that name; give --host an address',
  EAI_AGAIN: 'the name cannot be looked up just now; give --host an address',
};

/** A sentence for the operator. */
export function whyNotListen(host: string, port: number): Promise<string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(REASONS[code] ?? code));
    server.listen({ host, port, exclusive: true }, () => {
      server.close();
      resolve('the address was in use a moment ago; try again');
    });
  });
}
