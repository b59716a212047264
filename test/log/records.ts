import type { EncodedRecord } from '../../src/log/command-codec.ts';

/** The bytes of a record, which were lent. */
export function bytesOf({ bytes, start, end }: EncodedRecord): Buffer {
  return Buffer.from(bytes.subarray(start, end));
}
