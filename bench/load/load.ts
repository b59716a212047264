/** What a general load generator is asked to send, to loopback and for seconds. */
import type { Foreshock } from '../servers/foreshock.ts';

export interface Load {
  readonly port: number;
  readonly method: 'GET' | 'POST';
  /** Taken in turns. */
  readonly paths: readonly [string, ...string[]];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections: number;
  readonly seconds: number;
}

/** One and the same request to everybody: a peer is sent the key too, though it does not look at it. */
export function eventLoad(ours: Foreshock, body: string, connections: number, seconds: number): Load {
  return {
    port: ours.port,
    method: 'POST',
    paths: ['/v1/events'],
    headers: { authorization: `Bearer ${ours.ingestKey}`, 'content-type': 'application/json' },
    body,
    connections,
    seconds,
  };
}
