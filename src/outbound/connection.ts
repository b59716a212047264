/**
 * A connection to one of the addresses that were checked, and to nothing else. It is made to the address, not to
 * the name: no second look-up happens that could answer otherwise (DNS rebinding), and no hook is relied on that
 * Node does not call for addresses in URLs.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Failed, notSent } from './call-result.ts';
import type { Target } from './target.ts';

/** More than any service has; a resolver may answer with thousands. */
const MAX_TRIED = 16;

export interface ConnectOptions {
  /** For all tries together. */
  readonly connectMs: number;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca: string | undefined;
  /** Aborted when the call is over, with the reason as a text. */
  readonly over: AbortSignal;
  /** Milliseconds since some moment. */
  readonly monotonic: () => number;
}

export interface Connected {
  readonly type: 'connected';
  readonly socket: Socket;
}

/** Tries the addresses in order; each gets its share of the time that is left, so that a dead one costs not all. */
export async function connectToOne(
  target: Target,
  addresses: readonly string[],
  options: ConnectOptions,
): Promise<Connected | Failed> {
  const endMs = options.monotonic() + options.connectMs;
  const tried = addresses.slice(0, MAX_TRIED);
  let failure = notSent('the host name has no address');
  for (const [index, address] of tried.entries()) {
    if (options.over.aborted) return notSent(String(options.over.reason));
    const shareMs = (endMs - options.monotonic()) / (tried.length - index);
    const outcome = await connectTo(target, address, Math.max(1, shareMs), options);
    if (outcome.type === 'connected') return outcome;
    failure = outcome;
  }
  return failure;
}

function connectTo(
  target: Target,
  address: string,
  timeoutMs: number,
  { ca, over }: ConnectOptions,
): Promise<Connected | Failed> {
  return new Promise((resolve) => {
    const place = { host: address, port: target.port };
    const socket = target.secure
      ? connectTls({
          ...place,
          // Said explicitly: NODE_TLS_REJECT_UNAUTHORIZED=0 shall not reach here.
          rejectUnauthorized: true,
          // For an address there is no name to indicate; its certificate is held to the address.
          servername: target.isAddress ? '' : target.host,
          ALPNProtocols: ['http/1.1'],
          ...(ca === undefined ? {} : { ca }),
        })
      : connectTcp(place);
    const settle = (outcome: Connected | Failed) => {
      clearTimeout(timer);
      over.removeEventListener('abort', onOver);
      if (outcome.type === 'failed') socket.destroy();
      resolve(outcome);
    };
    const onOver = () => settle(notSent(String(over.reason)));
    const timer = setTimeout(() => settle(notSent('no connection in time')), timeoutMs);
    over.addEventListener('abort', onOver, { once: true });
    socket.once(target.secure ? 'secureConnect' : 'connect', () => settle({ type: 'connected', socket }));
    // Stays for good: an error that nobody listens to would end the process.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      settle(notSent(`no connection: ${error.code ?? 'refused by TLS'}`));
    });
    socket.once('close', () => settle(notSent('no connection: closed by the other side')));
  });
}
