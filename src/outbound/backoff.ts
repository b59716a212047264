/**
 * When a delivery is tried again. The wait doubles from one second up to a quarter of an hour; its second half is
 * drawn, so that deliveries that failed together do not come back together. A peer that names a wait is never called
 * earlier. A day after the first try nobody who was paged needs the delivery any more.
 */
const BASE_MS = 1000;
const MAX_WAIT_MS = 15 * 60 * 1000;
export const GIVE_UP_AFTER_MS = 24 * 3600 * 1000;

export interface Attempt {
  /** The number of the attempt that failed, from 1. */
  readonly number: number;
  readonly firstAtMs: number;
  readonly nowMs: number;
  /** What the peer asked for; null where it asked for nothing. */
  readonly afterMs: number | null;
  /** From 0 up to, not including, 1. */
  readonly random: number;
}

export type NextAttempt =
  | { readonly type: 'again'; readonly atMs: number }
  /** The next one would come too late. */
  | { readonly type: 'given-up' };

export function nextAttempt({ number, firstAtMs, nowMs, afterMs, random }: Attempt): NextAttempt {
  const halfMs = Math.min(MAX_WAIT_MS, BASE_MS * 2 ** (number - 1)) / 2;
  const atMs = Math.ceil(nowMs + Math.max(afterMs ?? 0, halfMs) + random * halfMs);
  return atMs - firstAtMs > GIVE_UP_AFTER_MS ? { type: 'given-up' } : { type: 'again', atMs };
}
