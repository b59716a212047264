/**
 * How many requests a key, a tenant, and an address that shows no good key may make. What is limited is told so in
 * every answer (RateLimit and RateLimit-Policy, draft-ietf-httpapi-ratelimit-headers-10), so that a caller can slow
 * down before it is refused.
 *
 * A good key is never refused for what others do from its address: behind a proxy, all callers share one.
 */
import type { ApiKey } from '../domain/key.ts';
import { type Rejection, rateLimited } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import type { Exchange } from './exchange.ts';
import type { Headers } from './responses.ts';
import { type Take, TokenBuckets } from './token-buckets.ts';

/** Requests a second, 0 for as many as come. */
export interface RateLimits {
  readonly rateLimitKey: number;
  readonly rateLimitTenant: number;
  readonly rateLimitFailedAuth: number;
}

/** A burst may be ten seconds' worth. */
const WINDOW_SECONDS = 10;
/** Keys and tenants are the operator's to make, and addresses anybody's. */
const MAX_BUCKETS = 100_000;

interface Limit {
  readonly name: string;
  readonly buckets: TokenBuckets;
  readonly idOf: (key: ApiKey) => string;
  readonly refusal: Rejection;
}

export const TOO_MANY_FAILURES: Rejection = rateLimited(
  'too many requests without a good API key or webhook URL from this address; try again',
);

export class RateLimiter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: readonly Limit[];
  readonly #failures: TokenBuckets | undefined;

  constructor(limits: RateLimits, clock: Pick<Clock, 'monotonic'>) {
    const { rateLimitKey, rateLimitTenant, rateLimitFailedAuth } = limits;
    this.#clock = clock;
    this.#limits = [
      ...limit('key', rateLimitKey, ({ id }) => id, 'with this API key'),
      ...limit('tenant', rateLimitTenant, ({ tenantId }) => tenantId, 'of this tenant'),
    ];
    this.#failures = bucketsOf(rateLimitFailedAuth);
  }

  /** Answers whether a caller may go on; where not, it has been refused. */
  admit(exchange: Exchange, key: ApiKey): boolean {
    if (this.#limits.length === 0) return true;
    const nowMs = this.#clock.monotonic();
    const takes = this.#limits.map(({ buckets, idOf }) => buckets.take(idOf(key), nowMs));
    exchange.rateLimitHeaders = this.#headers(takes);
    for (const [index, take] of takes.entries()) {
      const refusal = this.#limits[index]?.refusal;
      if (take.isTaken || refusal === undefined) continue;
      exchange.reject(refusal, [['Retry-After', String(take.retryAfterSeconds)]]);
      return false;
    }
    return true;
  }

  /** A batch counts as its events: one of them came with the request. */
  charge(exchange: Exchange, key: ApiKey, events: number): void {
    if (this.#limits.length === 0 || events <= 1) return;
    const nowMs = this.#clock.monotonic();
    const takes = this.#limits.map(({ buckets, idOf }) => buckets.charge(idOf(key), events - 1, nowMs));
    exchange.rateLimitHeaders = this.#headers(takes);
  }

  /**
   * Refuses a caller without a good key or webhook URL: with what is wrong, or for having tried too often.
   * @param address the caller's, as `ClientAddresses` says it
   */
  refuse(exchange: Exchange, rejection: Rejection, address: Uint8Array): void {
    const isGuess = rejection.kind === 'unauthenticated' || rejection.kind === 'not-found';
    if (this.#failures === undefined || !isGuess) return exchange.reject(rejection);
    const take = this.#failures.take(placeOf(address), this.#clock.monotonic());
    if (take.isTaken) exchange.reject(rejection);
    else exchange.reject(TOO_MANY_FAILURES, [['Retry-After', String(take.retryAfterSeconds)]]);
  }

  #headers(takes: readonly Take[]): Headers {
    return [
      ['RateLimit-Policy', this.#limits.map(policyItem).join(', ')],
      ['RateLimit', takes.map((take, index) => rateItem(this.#limits[index]?.name ?? '', take)).join(', ')],
    ];
  }
}

function limit(name: string, perSecond: number, idOf: Limit['idOf'], whose: string): Limit[] {
  const buckets = bucketsOf(perSecond);
  const refusal = rateLimited(`too many requests ${whose}; try again`);
  return buckets === undefined ? [] : [{ name, buckets, idOf, refusal }];
}

function bucketsOf(perSecond: number): TokenBuckets | undefined {
  if (perSecond === 0) return undefined;
  return new TokenBuckets({ perSecond, windowSeconds: WINDOW_SECONDS, maxBuckets: MAX_BUCKETS });
}

/** Of IPv6 the network: a household has 2^64 addresses. */
function placeOf(address: Uint8Array): string {
  return Buffer.from(address.length === 16 ? address.subarray(0, 8) : address).toString('hex');
}

function policyItem({ name, buckets }: Limit): string {
  return `"${name}";q=${buckets.capacity};w=${buckets.windowSeconds}`;
}

function rateItem(name: string, { remaining, fullInSeconds }: Take): string {
  return `"${name}";r=${remaining};t=${fullInSeconds}`;
}
