/** What must hold of the record codec, whichever of msgpackr's two decoders runs. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command, Stamp } from '../../src/domain/command.ts';
import type { EncodedRecord } from '../../src/log/command-codec.ts';
import { FRAME_BYTES, readFrame, sealFrame } from '../../src/log/record.ts';
import { anyCommand, COMMANDS, largestBatch } from './commands.ts';
import { bytesOf } from './records.ts';

/** `src/log/command-codec.ts`, loaded by whoever chooses the decoder. */
export interface Codec {
  encodeCommand(command: Command): EncodedRecord;
  decodeCommand(bytes: Buffer, start: number, end: number): Command;
}

const stamp: fc.Arbitrary<Stamp> = fc.record(
  {
    sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    atMs: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  },
  { noNullPrototype: true },
);
const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

/** @param prepare what commands are made of those that were drawn */
export function describeCodec(
  { encodeCommand, decodeCommand }: Codec,
  prepare: (command: Command) => Command = (command) => command,
): void {
  const recordOf = (command: Command, stamp: Stamp, syncedBytes: number, seed: number): Buffer => {
    const record = bytesOf(encodeCommand(command));
    sealFrame(record, 0, record.length, stamp, syncedBytes, seed);
    return record;
  };

  /** Encodes, seals, reads and decodes, with other bytes on both sides. */
  const expectRoundTrip = (command: Command, given: Stamp, syncedBytes: number, seed: number): void => {
    const record = recordOf(command, given, syncedBytes, seed);
    const bytes = Buffer.concat([Buffer.from([1, 2, 3]), record, Buffer.from('more')]);
    const frame = readFrame(bytes, 3, seed);
    if (frame.type !== 'record') throw new Error(`read as ${frame.type}`);
    expect(frame.stamp).toStrictEqual(given);
    expect(frame.syncedBytes).toBe(syncedBytes);
    expect(frame.totalBytes).toBe(record.length);
    const decoded = decodeCommand(bytes, 3 + FRAME_BYTES, 3 + frame.totalBytes);
    if (!isDeepStrictEqual(decoded, command)) expect(decoded).toStrictEqual(command);
  };

  describe('a command comes back from its record as it went in', () => {
    it.each(COMMANDS)('%s', (_, command) => {
      fc.assert(fc.property(command.map(prepare), stamp, u32, u32, expectRoundTrip), { numRuns: 100 });
    });

    it('a batch of 10 000 events', () => {
      fc.assert(fc.property(largestBatch, stamp, u32, u32, expectRoundTrip), {
        numRuns: 3,
        endOnFailure: true,
      });
    });

    it('one after the other through the buffer they share, small after large', () => {
      fc.assert(
        fc.property(fc.array(anyCommand.map(prepare), { minLength: 2, maxLength: 5 }), (commands) => {
          const records = commands.map((command) => recordOf(command, { sequence: 1, atMs: 0 }, 0, 7));
          const decoded = records.map((record) => decodeCommand(record, FRAME_BYTES, record.length));
          expect(isDeepStrictEqual(decoded, commands)).toBe(true);
        }),
        { numRuns: 60 },
      );
    });
  });
}
