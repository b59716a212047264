/** The server's API, with the key that was entered. */
import { ForeshockClient } from '../client/client.ts';
import { WAITS } from './patience.ts';

const KEY = 'foreshock-key';
const RETRY = { ...WAITS, attempts: 2 };

export function storedKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function storeKey(key: string | null): void {
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
