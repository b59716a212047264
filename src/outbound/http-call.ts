/**
 * One call to a URL that a tenant or an operator configured: read the URL, look its host up once, hold every
 * address to the policy, connect to one of those addresses, send, read the answer within bounds. No redirect is
 * followed: its target would be a URL of the peer's choice.
 *
 * Nothing that a peer or a resolver does is thrown; it comes back as a value.
 */
import { lookup } from 'node:dns/promises';
import { systemClock } from '../lib/clock.ts';
import { refusalOf } from './address-policy.ts';
import type { AllowEntry } from './allow-entry.ts';
import { type CallResult, type Failed, notSent, type OutboundRequest, refused } from './call-result.ts';
import { connectToOne } from './connection.ts';
import { exchange } from './exchange.ts';
import { readTarget, type Target } from './target.ts';

export interface CallLimits {
  /** From the look-up to the last byte of the answer. */
  readonly deadlineMs: number;
  /** Until a connection stands, with TLS where it is asked for. */
  readonly connectMs: number;
  /** What is kept of the answer's body; one that is longer is cut there and the connection closed. */
  readonly maxAnswerBytes: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = {
  deadlineMs: 10_000,
  connectMs: 5000,
  maxAnswerBytes: 64 * 1024,
};

/** All addresses of a host name; rejects where there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * The system's resolver, with /etc/hosts and whatever else the machine is told to ask. It runs on libuv's threads,
 * of which look-ups never take more than half: a name server that hangs delays other look-ups and no disk.
 */
export const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export interface CallOptions {
  readonly limits?: CallLimits;
  readonly resolve?: Resolve;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string;
  /** Aborted when the server stops. */
  readonly signal?: AbortSignal;
}

export async function call(
  request: OutboundRequest,
  allowed: readonly AllowEntry[],
  { limits = DEFAULT_CALL_LIMITS, resolve = systemResolve, ca, signal }: CallOptions = {},
): Promise<CallResult> {
  const target = readTarget(request.url);
  if (target.type === 'refused') return target;
  const unsendable = unsendableHeader(request);
  if (unsendable !== undefined) return refused(`the ${unsendable} header cannot hold what it is given`);

  const ending = endingAfter(limits.deadlineMs, signal);
  try {
    const found = await addressesOf(target, resolve, ending.over);
    if (found.type === 'failed') return found;
    const reason = refusalOf({ ...target, addresses: found.addresses }, allowed);
    if (reason !== null) return refused(reason);
    const { over } = ending;
    const { connectMs, maxAnswerBytes } = limits;
    const { monotonic } = systemClock;
    const connection = await connectToOne(target, found.addresses, { connectMs, ca, over, monotonic });
    if (connection.type === 'failed') return connection;
    if (over.aborted) {
      connection.socket.destroy();
      return notSent(String(over.reason));
    }
    return await exchange(request, target, connection.socket, { maxAnswerBytes, over });
  } finally {
    ending.release();
  }
}

/** The first header that would not go over the wire as one line of Latin-1: a line end in it would begin another. */
function unsendableHeader({ headers }: OutboundRequest): string | undefined {
  const found = Object.entries(headers).find(
    ([name, value]) => !/^[\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  );
  return found?.[0];
}

interface Found {
  readonly type: 'found';
  readonly addresses: readonly string[];
}

/** Asks once, and only for names: what a URL spells as an address needs no resolver. */
async function addressesOf(target: Target, resolve: Resolve, over: AbortSignal): Promise<Found | Failed> {
  if (target.isAddress) return { type: 'found', addresses: [target.host] };
  try {
    const addresses = await Promise.race([resolve(target.host), rejection(over)]);
    if (addresses.length === 0) return notSent('the host name has no address');
    return { type: 'found', addresses };
  } catch (error) {
    if (over.aborted) return notSent(String(over.reason));
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return notSent(`the host name cannot be resolved${code}`);
  }
}

/** Rejects once the signal is aborted. */
function rejection(over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (over.aborted) reject(new Error('over'));
    over.addEventListener('abort', () => reject(new Error('over')), { once: true });
  });
}

interface Ending {
  /** Aborted with a text that says why. */
  readonly over: AbortSignal;
  readonly release: () => void;
}

/** Not AbortSignal.any: each call would leave something behind at the signal that lives as long as the server. */
function endingAfter(deadlineMs: number, signal: AbortSignal | undefined): Ending {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(`no answer within ${deadlineMs} ms`), deadlineMs);
  const stop = () => controller.abort('the server is stopping');
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    over: controller.signal,
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}
