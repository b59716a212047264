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

/** From 0 up to, not including, 1. */
export function randomFraction(entropy: Entropy): number {
  return Buffer.from(entropy.bytes(4)).readUInt32BE() / 2 ** 32;
}
