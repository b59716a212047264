/** The bytes of the format: data that was written by one release is read by all later ones. */
import { describe, expect, it } from 'vitest';
import { FRAME_BYTES, MAX_PAYLOAD_BYTES, readFrame, sealFrame } from '../../src/log/record.ts';
import {
  decodeHeader,
  encodeHeader,
  ordinalOf,
  type SegmentHeader,
  segmentFileName,
} from '../../src/log/segment.ts';
import { ofVersion } from './log-directory.ts';

const HEADER: SegmentHeader = {
  version: 2,
  ordinal: 3,
  logId: '00112233445566778899aabbccddeeff',
  firstSequence: 42,
  createdAtMs: 1_760_000_000_000,
  previousBytes: 4096,
  previousCrc: 0xdeadbeef,
};
const SEED = 7;

function sealed(payload: string): Buffer {
  const record = Buffer.concat([Buffer.alloc(FRAME_BYTES), Buffer.from(payload)]);
  sealFrame(record, 0, record.length, { sequence: 42, atMs: 1_760_000_000_000 }, 64, SEED);
  return record;
}

describe('the header of a segment', () => {
  it('is as its table says', () => {
    const bytes = encodeHeader(HEADER);
    expect(bytes.toString('hex').match(/.{2,16}/g)).toEqual([
      '4653484b4c4f4700', // FSHKLOG, and a zero
      '0200000003000000', // version, ordinal
      '0011223344556677',
      '8899aabbccddeeff',
      '0000000000004540', // 42
      '000000cc829c7942', // 1 760 000 000 000
      '000000000000b040', // 4096
      'efbeadde30ef7d3b', // CRC of the record before, CRC of all this
    ]);
    expect(decodeHeader(bytes)).toEqual({ type: 'header', header: HEADER, seed: bytes.readUInt32LE(60) });
  });

  it('of version 1, from before ids of events were bytes, is read as it is and written again as it was', () => {
    const header = { ...HEADER, version: 1 };
    const bytes = encodeHeader(header);
    expect(bytes.readUInt32LE(8)).toBe(1);
    expect(bytes.readUInt32LE(60)).toBe(0x8128eb27);
    expect(decodeHeader(bytes)).toEqual({ type: 'header', header, seed: 0x8128eb27 });
  });

  it.each([
    ['it is shorter than its header', (bytes: Buffer) => bytes.subarray(0, 63)],
    ['this is not a Foreshock log segment', (bytes: Buffer) => bytes.fill(0, 0, 8)],
    ['header checksum mismatch', (bytes: Buffer) => bytes.fill(9, 12, 13)],
  ])('is refused with the reason: %s', (reason, damage) => {
    expect(decodeHeader(damage(encodeHeader(HEADER)))).toEqual({ type: 'bad', reason });
  });

  it('says which version wrote it, where it is whole and of another', () => {
    const bytes = ofVersion(3, encodeHeader(HEADER));
    expect(decodeHeader(bytes)).toEqual({ type: 'bad', reason: 'log format version 3', otherVersion: 3 });
  });
});

describe('the name of a segment', () => {
  it('holds its ordinal', () => {
    expect(segmentFileName(7)).toBe('segment-00000007.log');
    for (const ordinal of [1, 12_345_678, 123_456_789]) {
      expect(ordinalOf(segmentFileName(ordinal))).toBe(ordinal);
    }
  });

  it.each(['segment-1.log', 'segment-00000001.log.tmp', 'xsegment-00000001.log', 'segment-0000000a.log', ''])(
    'is not %j',
    (name) => {
      expect(ordinalOf(name)).toBeUndefined();
    },
  );
});

describe('the frame of a record', () => {
  it('is as its table says', () => {
    expect(
      sealed('abc')
        .toString('hex')
        .match(/.{2,8}/g),
    ).toEqual([
      '6b6acfe4', // CRC
      '03000000', // three bytes of payload
      ...['00000000', '00004540'], // 42
      ...['000000cc', '829c7942'], // 1 760 000 000 000
      '40000000', // 64 bytes were durable
      '616263',
    ]);
  });

  it('comes back where it stands, if the seed is that of its segment', () => {
    const bytes = Buffer.concat([Buffer.alloc(5), sealed('abc'), Buffer.alloc(5)]);
    expect(readFrame(bytes, 5, SEED)).toEqual({
      type: 'record',
      stamp: { sequence: 42, atMs: 1_760_000_000_000 },
      syncedBytes: 64,
      crc: bytes.readUInt32LE(5),
      totalBytes: FRAME_BYTES + 3,
    });
    expect(readFrame(bytes, 5, SEED + 1)).toEqual({ type: 'bad', reason: 'checksum mismatch' });
  });

  it('is incomplete where its bytes end, and says how many it needs', () => {
    const bytes = sealed('abc');
    expect(readFrame(bytes.subarray(0, FRAME_BYTES - 1), 0, SEED)).toEqual({
      type: 'incomplete',
      neededBytes: FRAME_BYTES,
    });
    expect(readFrame(bytes.subarray(0, -1), 0, SEED)).toEqual({
      type: 'incomplete',
      neededBytes: FRAME_BYTES + 3,
    });
  });

  it('holds a payload of a byte to 32 MiB', () => {
    const claiming = (payloadBytes: number): Buffer => {
      const bytes = sealed('abc');
      bytes.writeUInt32LE(payloadBytes, 4);
      return bytes;
    };
    for (const length of [0, MAX_PAYLOAD_BYTES + 1]) {
      const reason = `impossible record length ${length}`;
      expect(readFrame(claiming(length), 0, SEED)).toEqual({ type: 'bad', reason });
    }
    const neededBytes = FRAME_BYTES + MAX_PAYLOAD_BYTES;
    expect(readFrame(claiming(MAX_PAYLOAD_BYTES), 0, SEED)).toEqual({ type: 'incomplete', neededBytes });
    expect(readFrame(sealed(''), 0, SEED).type).toBe('bad');
  });
});
