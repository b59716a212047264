/** A checkpoint's file: whole, or told from a whole one whatever is wrong with it. */
import { crc32 } from 'node:zlib';
import { Packr } from 'msgpackr';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CheckpointBroken,
  checkpointFileName,
  checkpointOrdinals,
  type Row,
  readCheckpoint,
  readCheckpointEnd,
  removeBrokenCheckpoints,
  writeCheckpoint,
} from '../../src/log/checkpoint.ts';
import type { SegmentEnd } from '../../src/log/replay.ts';
import type { DiskCall } from './faulty-disk.ts';
import { LogDirectory, START_MS } from './log-directory.ts';

const END: SegmentEnd = {
  ordinal: 3,
  logId: '00112233445566778899aabbccddeeff',
  lengthBytes: 500,
  syncedBytes: 500,
  lastCrc: 7,
  lastStamp: { sequence: 42, atMs: START_MS },
};
const NAME = checkpointFileName(3);
const FIRST_BLOCK = [2, 3, END.logId, 500, 7, 42, START_MS];
const packr = new Packr({ useRecords: false });

let directory: LogDirectory;

beforeEach(() => {
  directory = new LogDirectory();
});

afterEach(() => {
  expect(directory.disk.openFiles).toEqual([]);
  directory.discard();
});

function write(rows: readonly Row[], end = END): void {
  writeCheckpoint(directory.disk, directory.path, end, rows);
}

function read(): { readonly end: SegmentEnd; readonly rows: readonly Row[] } {
  const rows: Row[] = [];
  const end = readCheckpoint(directory.disk, directory.path, 3, (row) => rows.push(row));
  return { end, rows };
}

/** A file of these blocks, whatever they say, each with the CRC that it must have. */
function put(...blocks: readonly unknown[]): void {
  const parts = [Buffer.from('FSHKCKP\0')];
  let seed = 0;
  for (const block of blocks) {
    const payload = packr.pack(block);
    const bytes = Buffer.concat([Buffer.alloc(8), payload]);
    bytes.writeUInt32LE(payload.length, 4);
    seed = crc32(bytes.subarray(4), seed);
    bytes.writeUInt32LE(seed, 0);
    parts.push(bytes);
  }
  directory.put(NAME, Buffer.concat(parts));
}

const rowsOf = (count: number): Row[] => Array.from({ length: count }, (_, n) => ['row', n]);

describe('a checkpoint', () => {
  it.each([0, 1, 15, 16, 17, 100])('of %d rows says what it covers, and every row', (count) => {
    write(rowsOf(count));
    expect(read()).toEqual({ end: END, rows: rowsOf(count) });
    expect(readCheckpointEnd(directory.disk, directory.path, 3)).toEqual(END);
  });

  it('is as the format says, which later releases read', () => {
    write(rowsOf(17));
    const written = directory.get(NAME);
    put(FIRST_BLOCK, rowsOf(16), rowsOf(17).slice(16), [3]);
    expect(written).toEqual(directory.get(NAME));
  });

  it('is read of version 1 too, as releases before have left it', () => {
    put([1, ...FIRST_BLOCK.slice(1)], rowsOf(5), [2]);
    expect(read()).toEqual({ end: END, rows: rowsOf(5) });
  });

  it('is durable before it has its name, and its name is durable too', () => {
    const calls: DiskCall['name'][] = [];
    directory.put(`${NAME}.tmp`, Buffer.from('of an attempt that failed'));
    directory.disk.judge = ({ name }) => {
      if (calls.at(-1) !== name) calls.push(name);
      return undefined;
    };
    write(rowsOf(3));
    expect(calls).toEqual(['create', 'write', 'sync', 'rename', 'sync-directory']);
    expect(directory.names()).toEqual([NAME]);
  });

  it('leaves nothing where the disk does not take it', () => {
    for (const name of ['write', 'sync'] as const) {
      directory.disk.judge = (call) => (call.name === name ? { code: 'ENOSPC' } : undefined);
      expect(() => write(rowsOf(3))).toThrow('ENOSPC');
      expect(directory.names()).toEqual([]);
    }
  });

  it('gets no name where it does not read as it was written', () => {
    const rows = (function* (): Iterable<Row> {
      yield ['row'];
      directory.put(`${NAME}.tmp`, Buffer.from('FSHKCKP\0'));
    })();
    expect(() => writeCheckpoint(directory.disk, directory.path, END, rows)).toThrow(CheckpointBroken);
    expect(directory.names()).toEqual([]);
  });

  it('cannot be used where a byte is missing or another, wherever it is', () => {
    write(rowsOf(20));
    const whole = directory.get(NAME);
    for (let at = 0; at < whole.length; at += 1) {
      directory.put(NAME, whole.subarray(0, at));
      expect(() => read()).toThrow(CheckpointBroken);
      const other = Buffer.from(whole);
      other.writeUInt8(other.readUInt8(at) ^ 1, at);
      directory.put(NAME, other);
      expect(() => read()).toThrow(CheckpointBroken);
    }
  });

  it.each<[string, readonly unknown[]]>([
    ['it is empty', []],
    ['it ends before its end', [FIRST_BLOCK]],
    ['it ends before its end', [FIRST_BLOCK, rowsOf(1), [3]]],
    ['it ends before its end', [FIRST_BLOCK, rowsOf(1), [2, 2]]],
    ['its format is version 3', [[3, ...FIRST_BLOCK.slice(1)], [], [2]]],
    ['a block is no list', ['x', [], [2]]],
    ['a row is no list', [FIRST_BLOCK, ['row'], [2]]],
    ...FIRST_BLOCK.slice(1).map((_, n): [string, readonly unknown[]] => {
      const lacking = FIRST_BLOCK.map((value, at) => (at === n + 1 ? null : value));
      return ['it does not say what it covers', [lacking, [], [2]]];
    }),
  ])('cannot be used, and says why: %s', (reason, blocks) => {
    put(...blocks);
    expect(() => read()).toThrow(`${NAME} cannot be used: ${reason}`);
  });

  it('says at which byte it is damaged, or that it is none, or not whole', () => {
    write(rowsOf(3));
    const whole = directory.get(NAME);
    directory.put(NAME, Buffer.from(whole).fill(0xff, 20, 21));
    expect(() => read()).toThrow(`${NAME} cannot be used: checksum mismatch at byte 8`);
    directory.put(NAME, whole.subarray(0, -1));
    expect(() => read()).toThrow('it ends inside a block');
    directory.put(NAME, Buffer.concat([whole, Buffer.alloc(3)]));
    expect(() => read()).toThrow('it ends inside a block');
    directory.put(NAME, Buffer.from('x'.repeat(100)));
    expect(() => read()).toThrow('it is no checkpoint');
    expect(() => readCheckpointEnd(directory.disk, directory.path, 3)).toThrow('it is no checkpoint');
    directory.put(NAME, Buffer.from('FSHKCKP\0'));
    expect(() => readCheckpointEnd(directory.disk, directory.path, 3)).toThrow('it is empty');
  });
});

describe('the checkpoints of a folder', () => {
  const ordinals = () => checkpointOrdinals(directory.disk, directory.path);

  it('are listed the newest first, and nothing else is', () => {
    for (const ordinal of [2, 11, 9]) write([], { ...END, ordinal });
    for (const name of ['x.ckpt', `x${NAME}`, `${NAME}.tmp`, 'checkpoint-3.ckpt']) {
      directory.put(name, Buffer.alloc(1));
    }
    expect(ordinals()).toEqual([11, 9, 2]);
  });

  it('that cannot be used are removed, durably, and the others stay', () => {
    for (const ordinal of [1, 2, 3]) write(rowsOf(3), { ...END, ordinal });
    directory.put(checkpointFileName(2), directory.get(checkpointFileName(2)).subarray(0, -1));
    const calls: DiskCall['name'][] = [];
    directory.disk.judge = ({ name }) => {
      calls.push(name);
      return undefined;
    };
    removeBrokenCheckpoints(directory.disk, directory.path, [undefined]);
    expect(ordinals()).toEqual([3, 1]);
    expect(calls).toEqual(['sync-directory']);
  });

  it('that are said to be good are not read again', () => {
    for (const ordinal of [1, 2, 3]) {
      write(rowsOf(3), { ...END, ordinal });
      directory.put(checkpointFileName(ordinal), Buffer.alloc(1));
    }
    removeBrokenCheckpoints(directory.disk, directory.path, [3, undefined, 1]);
    expect(ordinals()).toEqual([3, 1]);
  });
});
