/**
 * Token buckets: one a caller, each full at first, refilled at a rate, emptied by requests. A bucket is brought up to
 * date when it is asked, so that one that nobody asks costs nothing but its place.
 */
export interface BucketPolicy {
  readonly perSecond: number;
  /** Seconds that fill an empty bucket: how long a burst may save up for. */
  readonly windowSeconds: number;
  /** Buckets kept; past that the one longest known goes, and its caller begins with a full one. */
  readonly maxBuckets: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export interface Take {
  readonly isTaken: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly fullInSeconds: number;
  /** Until there is a token; 0 where there is one. */
  readonly retryAfterSeconds: number;
}

export class TokenBuckets {
  readonly #policy: BucketPolicy;
  readonly #buckets = new Map<string, Bucket>();

  constructor(policy: BucketPolicy) {
    this.#policy = policy;
  }

  get capacity(): number {
    return this.#policy.perSecond * this.#policy.windowSeconds;
  }

  get windowSeconds(): number {
    return this.#policy.windowSeconds;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token where there is one. */
  take(id: string, nowMs: number): Take {
    const bucket = this.#at(id, nowMs);
    const isTaken = bucket.tokens >= 1;
    if (isTaken) bucket.tokens -= 1;
    return this.#told(bucket, isTaken);
  }

  /** Takes what was used beyond what was asked for: the bucket may come to owe, and is refilled from there. */
  charge(id: string, tokens: number, nowMs: number): Take {
    const bucket = this.#at(id, nowMs);
    bucket.tokens -= tokens;
    return this.#told(bucket, true);
  }

  #told({ tokens }: Bucket, isTaken: boolean): Take {
    const { perSecond } = this.#policy;
    return {
      isTaken,
      remaining: Math.max(0, Math.floor(tokens)),
      fullInSeconds: Math.ceil((this.capacity - tokens) / perSecond),
      retryAfterSeconds: Math.max(0, Math.ceil((1 - tokens) / perSecond)),
    };
  }

  #at(id: string, nowMs: number): Bucket {
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      const [longestKnown] = this.#buckets.keys();
      if (this.#buckets.size >= this.#policy.maxBuckets && longestKnown !== undefined) {
        this.#buckets.delete(longestKnown);
      }
      bucket = { tokens: this.capacity, atMs: nowMs };
      this.#buckets.set(id, bucket);
      return bucket;
    }
    const elapsedSeconds = Math.max(0, nowMs - bucket.atMs) / 1000;
    bucket.tokens = Math.min(this.capacity, bucket.tokens + elapsedSeconds * this.#policy.perSecond);
    bucket.atMs = nowMs;
    return bucket;
  }
}
