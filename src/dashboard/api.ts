/** The server's API, with the key that was entered. */

const KEY = 'foreshock-key';

export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

export function storedKey(): string | null {
  return sessionStorage.getItem(KEY);
}

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

export function headers(): Record<string, string> {
  return { Authorization: `Bearer ${storedKey() ?? ''}` };
}

/** @throws ApiError where the server refuses or cannot be reached (status 0) */
export async function call<T>(path: string, method = 'GET', body?: object): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { ...headers(), ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, 'the server cannot be reached');
  }
  const text = await answer.text();
  if (!answer.ok) throw new ApiError(answer.status, text);
  return text === '' ? (undefined as T) : JSON.parse(text);
}

const AT_ONCE = 4;
let running = 0;
const waiting: (() => void)[] = [];

/** The same for what is only nice to have: a few at a time. */
export async function callQuietly<T>(path: string): Promise<T | undefined> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await call<T>(path);
  } catch {
    return undefined;
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
