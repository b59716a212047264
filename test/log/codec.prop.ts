import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tenantId } from '../../src/domain/ids.ts';
import * as codec from '../../src/log/command-codec.ts';
import { FRAME_BYTES, MAX_PAYLOAD_BYTES, readFrame, sealFrame } from '../../src/log/record.ts';
import { describeCodec } from './codec-suite.ts';
import { anyCommand } from './commands.ts';
import { bytesOf } from './records.ts';

describeCodec(codec);

const SEED = 0x5eed;

function recordOf(command: Parameters<typeof codec.encodeCommand>[0]): Buffer {
  const record = bytesOf(codec.encodeCommand(command));
  sealFrame(record, 0, record.length, { sequence: 17, atMs: 1_760_000_000_000 }, 64, SEED);
  return record;
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(bit >>> 3) ^ (1 << (bit & 7)), bit >>> 3);
  return copy;
}

const anyRecord = anyCommand.map(recordOf);
const short = recordOf({ type: 'create-tenant', tenantId: tenantId('t'), name: 'a tenant' });

describe('a damaged frame is no record', () => {
  it('whichever single bit flips, at the end of a file or with more behind it', () => {
    for (let bit = 0; bit < short.length * 8; bit += 1) {
      const damaged = flipped(short, bit);
      expect(readFrame(damaged, 0, SEED).type).not.toBe('record');
      expect(readFrame(Buffer.concat([damaged, short, short]), 0, SEED).type).not.toBe('record');
    }
  });

  it('wherever a bit flips in any record', () => {
    fc.assert(
      fc.property(anyRecord, fc.array(fc.nat(), { minLength: 1, maxLength: 20 }), (record, picks) => {
        for (const pick of picks) {
          const damaged = flipped(record, pick % (record.length * 8));
          expect(readFrame(damaged, 0, SEED).type).not.toBe('record');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of another segment: its seed is another', () => {
    fc.assert(
      fc.property(anyRecord, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (record, seed) => {
        fc.pre(seed !== SEED);
        expect(readFrame(record, 0, seed)).toEqual({ type: 'bad', reason: 'checksum mismatch' });
      }),
      { numRuns: 100 },
    );
  });

  it('of zeros, however many', () => {
    for (let length = FRAME_BYTES; length < 4 * FRAME_BYTES; length += 1) {
      expect(readFrame(Buffer.alloc(length), 0, 0).type).toBe('bad');
    }
  });
});

describe('a truncated frame is incomplete', () => {
  it('wherever it ends, and says how much is wanted', () => {
    for (let length = 0; length < short.length; length += 1) {
      const frame = readFrame(short.subarray(0, length), 0, SEED);
      const neededBytes = length < FRAME_BYTES ? FRAME_BYTES : short.length;
      expect(frame).toEqual({ type: 'incomplete', neededBytes });
    }
  });

  it('wherever any record ends', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(), (record, pick) => {
        const frame = readFrame(record.subarray(0, pick % record.length), 0, SEED);
        expect(frame.type).toBe('incomplete');
      }),
      { numRuns: 100 },
    );
  });
});

describe('reading a frame never throws', () => {
  it('at random bytes, anywhere in them or past them', () => {
    const length = fc.oneof(
      fc.nat(64),
      fc.constantFrom(0, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 1, 2 ** 32 - 1),
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200, size: 'max' }),
        fc.nat(250),
        length,
        fc.nat(),
        (noise, offset, payloadBytes, seed) => {
          const bytes = Buffer.from(noise);
          if (offset + 8 <= bytes.length) bytes.writeUInt32LE(payloadBytes, offset + 4);
          const frame = readFrame(bytes, offset, seed);
          expect(frame.type).not.toBe('record');
          if (payloadBytes > MAX_PAYLOAD_BYTES && offset + FRAME_BYTES <= bytes.length) {
            expect(frame.type).toBe('bad');
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
