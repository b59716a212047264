/** The server's API, with the key that was entered. */
import { ForeshockClient } from '../client/client.ts';
import type { CallOptions } from '../client/transport.ts';

const KEY = 'foreshock-key';
/** Whoever looks on waits: better to be told soon. */
export const RETRY = { attempts: 2, baseMs: 500, maxMs: 8000 };

let looking = new AbortController();

export function storedKey(): string | null {
  return sessionStorage.getItem(KEY);
}

/** Whoever looked with the key before waits for nothing any more. */
export function storeKey(key: string | null): void {
  looking.abort();
  looking = new AbortController();
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

let known: { readonly key: string | null; readonly client: ForeshockClient } | undefined;

export function api(): ForeshockClient {
  const key = storedKey();
  if (known?.key !== key || known === undefined) {
    const options = { baseUrl: location.origin, retry: RETRY, ...(key !== null && { apiKey: key }) };
    known = { key, client: new ForeshockClient(options) };
  }
  return known.client;
}

type Call<T> = (client: ForeshockClient, options: CallOptions) => Promise<T>;

/** However long a busy server needs for it; undefined where it says no, or somebody else looks by then. */
export async function patiently<T>(call: Call<T>): Promise<T | undefined> {
  const { signal } = looking;
  try {
    const answer = await call(api(), { signal, retry: { attempts: Infinity }, deadlineMs: Infinity });
    return signal.aborted ? undefined : answer;
  } catch {
    return undefined;
  }
}

const AT_ONCE = 4;
let running = 0;
const waiting: (() => void)[] = [];

/** The same for what is only nice to have: a few at a time. */
export async function quietly<T>(call: Call<T>): Promise<T | undefined> {
  const { signal } = looking;
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return signal.aborted ? undefined : await patiently(call);
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
