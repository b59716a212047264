/** Randomness as a value that is handed in, so that a simulation can repeat it. */
import { randomBytes, randomUUID } from 'node:crypto';

export interface Entropy {
  bytes(count: number): Uint8Array;
  /** UUIDv4. */
  uuid(): string;
}

/** The only place that draws randomness for what Foreshock keeps. */
export const systemEntropy: Entropy = {
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};

const POOL_BYTES = 8192;
const ID_BYTES = 12;

/** Random ids of 24 hex digits: drawn from a pool, since the kernel's generator costs a microsecond a call. */
export function randomIds(entropy: Entropy): () => string {
  let pool = Buffer.from(entropy.bytes(POOL_BYTES));
  let at = 0;
  return () => {
    if (at + ID_BYTES > pool.length) {
      pool = Buffer.from(entropy.bytes(POOL_BYTES));
      at = 0;
    }
    at += ID_BYTES;
    return pool.toString('hex', at - ID_BYTES, at);
  };
}

/** From 0 up to, not including, 1. */
export function randomFraction(entropy: Entropy): number {
  return Buffer.from(entropy.bytes(4)).readUInt32BE() / 2 ** 32;
}
