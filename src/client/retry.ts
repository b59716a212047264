/**
 * When to try again. The wait grows exponentially and is drawn evenly from nothing up to its bound ("full
 * jitter", Brooker, "Exponential Backoff And Jitter", 2015), so that agents that lost the same server do not come
 * back in step. A server that names its own wait (`Retry-After`) is never called earlier than that.
 */

/** Waits; rejects with the signal's reason when it is aborted. */
export type Sleep = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** A timer that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemSleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(milliseconds, LONGEST_TIMER_MS),
    );
    signal?.addEventListener('abort', stop, { once: true });
  });

export interface RetryPolicy {
  /** Calls in all, the first one included; at least 1. */
  readonly attempts: number;
  /** Bound of the first wait; it doubles with every further one. */
  readonly baseMs: number;
  /** Bound of every wait. A server that asks for more gets the error handed to the caller instead. */
  readonly maxMs: number;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly sleep: Sleep;
  /** Milliseconds of a clock that never runs back. */
  readonly now: () => number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 5,
  baseMs: 250,
  maxMs: 30_000,
  random: Math.random,
  sleep: systemSleep,
  now: () => performance.now(),
};

/**
 * The wait after a failed attempt, milliseconds.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param retryAfterMs what the server asked for; null where it asked for nothing
 */
export function waitBeforeRetry(
  policy: Pick<RetryPolicy, 'baseMs' | 'maxMs' | 'random'>,
  attempt: number,
  retryAfterMs: number | null,
): number {
  const bound = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));
  return (retryAfterMs ?? 0) + policy.random() * bound;
}

/**
 * `Retry-After` (RFC 9110 §10.2.3) in milliseconds, or null where there is none to be understood. A date is read
 * against the server's own `Date`: the two clocks need not agree.
 */
export function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const delta = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(delta) ? null : Math.max(0, delta);
}
