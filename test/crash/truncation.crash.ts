/**
 * A log that real servers wrote, cut short and with bits flipped. What was never known durable is cut off the
 * last segment and kept; everything else is refused, naming segment and byte, and left as it is.
 *
 * Damage is found by the engine in this process, which is fast enough for every byte, and by real servers for
 * one case of each kind.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StopStack } from '../../src/lib/stop-stack.ts';
import { LogDamaged } from '../../src/log/errors.ts';
import { openTestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { Launched, Site, sleep } from '../support/site.ts';

const SEED = Number(process.env['FORESHOCK_SEED'] ?? 20_260_822);
const RANDOM_FLIPS = Number(process.env['FORESHOCK_BIT_FLIPS'] ?? 500);
const MIN_EVENTS = 100;
const HEADER_BYTES = 64;
const FRAME_BYTES = 28;
/** Without room, which would make a megabyte of each of thousands of copies: `log/room.unit` has what becomes of that. */
const FLAGS = ['--segment-bytes', '4096', '--checkpoint-segments', '10000', '--log-room-bytes', '0'];

/** The files of a log directory. */
type Files = ReadonlyMap<string, Buffer>;

interface LogRecord {
  readonly offset: number;
  readonly end: number;
  /** Bytes of the segment known durable when it was written. */
  readonly syncedBytes: number;
}

interface Written {
  readonly files: Files;
  /** Ascending. */
  readonly segments: readonly string[];
  /** Entities of the events, oldest first. */
  readonly entities: readonly string[];
}

const made = new StopStack();
afterAll(() => made.run());

let killed: Written;
let stopped: Written;
beforeAll(async () => {
  [killed, stopped] = await Promise.all([written('SIGKILL'), written('SIGTERM')]);
});

async function written(signal: 'SIGKILL' | 'SIGTERM'): Promise<Written> {
  const directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  const site = new Site(made, directory, ...FLAGS);
  await site.start();
  const lastBytes = () =>
    Math.max(
      ...[...filesIn(join(directory, 'log'))]
        .sort()
        .slice(-1)
        .map(([, { length }]) => length),
    );
  // A last segment with some records that are known durable by those that follow, and some that are not.
  for (let n = 0; n < MIN_EVENTS || lastBytes() < 2500; n += 1) {
    await site.send('e', { new_value: 'v'.repeat(n % 50) });
    if (n % 8 === 0) await sleep(150);
  }
  for (let n = 0; n < 3; n += 1) await site.send('e');
  const exit = await site.server.signal(signal);
  expect(exit).toEqual(signal === 'SIGTERM' ? { code: 0, signal: null } : { code: null, signal });
  const files = filesIn(join(directory, 'log'));
  const segments = [...files.keys()].filter((name) => name.endsWith('.log')).sort();
  expect(segments.length).toBeGreaterThan(3);
  return { files, segments, entities: site.sent.map(({ entity }) => entity) };
}

function filesIn(directory: string): Files {
  return new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
}

/** The records of a good segment, read by the format as it is written down, not by the code under test. */
function recordsOf({ files }: Written, segment: string): readonly LogRecord[] {
  const bytes = bytesOf(files, segment);
  const records: LogRecord[] = [];
  for (let offset = HEADER_BYTES; offset < bytes.length; ) {
    const end = offset + FRAME_BYTES + bytes.readUInt32LE(offset + 4);
    records.push({ offset, end, syncedBytes: bytes.readUInt32LE(offset + 24) });
    offset = end;
  }
  return records;
}

function bytesOf(files: Files, name: string): Buffer {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`no ${name}`);
  return bytes;
}

function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index);
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}

function dataDirectoryOf(files: Files): string {
  // In memory where that is possible: these are thousands of files, each synced.
  const directory = existsSync('/dev/shm') ? mkdtempSync('/dev/shm/foreshock-test-') : temporaryDirectory();
  mkdirSync(join(directory, 'log'));
  for (const [name, bytes] of files) writeFileSync(join(directory, 'log', name), bytes);
  return directory;
}

type Opened =
  | { readonly type: 'refused'; readonly error: LogDamaged; readonly files: Files }
  | { readonly type: 'open'; readonly entities: readonly string[]; readonly files: Files };

/** What an engine makes of these files. */
async function open(files: Files): Promise<Opened> {
  const directory = dataDirectoryOf(files);
  try {
    const engine = await openTestEngine(directory);
    const [tenant] = engine.state.tenants.values();
    const [agentId] = tenant?.agents.keys() ?? [];
    if (tenant === undefined || agentId === undefined) throw new Error('no agent');
    const request = { page: 1, perPage: 1000, service: null, vendor: null, eventType: null };
    const answer = engine.queries.agent(tenant.id, agentId, request);
    const events: { entity: string }[] = answer.type === 'found' ? JSON.parse(answer.json).events : [];
    const entities = events.map(({ entity }) => entity).reverse();
    const after = filesIn(join(directory, 'log'));
    await engine.close();
    return { type: 'open', entities, files: after };
  } catch (error) {
    if (!(error instanceof LogDamaged)) throw error;
    return { type: 'refused', error, files: filesIn(join(directory, 'log')) };
  } finally {
    removeDirectory(directory);
  }
}

async function expectRefused(files: Files, segment: string, offset: number, hint: string): Promise<void> {
  const opened = await open(files);
  if (opened.type === 'open') throw new Error(`${hint}: opened, with ${opened.entities.length} events`);
  const { error } = opened;
  expect({ hint, segment: error.segment, offset: error.offset }).toEqual({ hint, segment, offset });
  expect(error.message).toContain(`${segment} is damaged at byte ${offset}`);
  expect(opened.files).toEqual(files);
}

/**
 * The last segment was cut at `offset`, all before it is there, and what was cut is kept: but for zeros at its end,
 * which are room that was not used.
 */
async function expectCut(
  files: Files,
  log: Written,
  offset: number,
  events: number,
  hint: string,
): Promise<void> {
  const last = at(log.segments, -1);
  const bytes = bytesOf(files, last);
  const opened = await open(files);
  if (opened.type === 'refused') throw new Error(`${hint}: ${opened.error.message}`);
  expect({ hint, entities: opened.entities }).toEqual({ hint, entities: log.entities.slice(0, events) });
  const broken = [...opened.files.keys()].filter((name) => name.endsWith('.broken'));
  const kept = bytes.subarray(offset, bytes.findLastIndex((byte) => byte !== 0) + 1);
  expect(bytesOf(opened.files, last).equals(bytes.subarray(0, offset))).toBe(true);
  if (kept.length === 0) {
    expect({ hint, broken }).toEqual({ hint, broken: [] });
    return;
  }
  expect({ hint, broken }).toEqual({ hint, broken: [`${last}.${offset}.broken`] });
  expect(bytesOf(opened.files, at(broken, 0)).equals(kept)).toBe(true);
}

function replaced(files: Files, name: string, bytes: Buffer | undefined): Files {
  const copy = new Map(files);
  if (bytes === undefined) copy.delete(name);
  else copy.set(name, bytes);
  return copy;
}

function truncated(files: Files, name: string, length: number): Files {
  return replaced(files, name, bytesOf(files, name).subarray(0, length));
}

function flipped(files: Files, name: string, byte: number, bit: number): Files {
  const bytes = Buffer.from(bytesOf(files, name));
  bytes.writeUInt8(bytes.readUInt8(byte) ^ (1 << bit), byte);
  return replaced(files, name, bytes);
}

function* headerBits(): Iterable<readonly [byte: number, bit: number]> {
  for (let byte = 0; byte < HEADER_BYTES; byte += 1) {
    for (let bit = 0; bit < 8; bit += 1) yield [byte, bit];
  }
}

/** Numbers below `limit`, the same for the same seed (mulberry32). */
function random(seed: number): (limit: number) => number {
  let state = seed | 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

describe('the last segment after kill -9', () => {
  it('cut at any byte of its last record: that one is gone, all before it are there', async () => {
    const name = at(killed.segments, -1);
    const { offset, end } = at(recordsOf(killed, name), -1);
    for (let length = offset; length < end; length += 1) {
      const files = truncated(killed.files, name, length);
      await expectCut(files, killed, offset, killed.entities.length - 1, `cut at byte ${length}`);
    }
  });

  it('zeroed from any byte of its last record on: the same', async () => {
    const name = at(killed.segments, -1);
    const { offset, end } = at(recordsOf(killed, name), -1);
    for (let from = offset; from < end; from += 1) {
      const bytes = Buffer.from(bytesOf(killed.files, name)).fill(0, from);
      if (bytes.equals(bytesOf(killed.files, name))) continue;
      const files = replaced(killed.files, name, bytes);
      await expectCut(files, killed, offset, killed.entities.length - 1, `zeros from byte ${from}`);
    }
  });

  it('shorter than its header, or zeros alone: refused, for it was durable before it had its name', async () => {
    const name = at(killed.segments, -1);
    for (let length = 0; length < HEADER_BYTES; length += 1) {
      await expectRefused(truncated(killed.files, name, length), name, 0, `cut at byte ${length}`);
    }
    const zeros = replaced(killed.files, name, Buffer.alloc(HEADER_BYTES));
    await expectRefused(zeros, name, 0, 'a header of zeros');
  });

  it('with any bit of its header flipped: refused', async () => {
    const name = at(killed.segments, -1);
    for (const [byte, bit] of headerBits()) {
      await expectRefused(flipped(killed.files, name, byte, bit), name, 0, `bit ${bit} of byte ${byte}`);
    }
  });

  it(`with ${RANDOM_FLIPS} random bits flipped: what was known durable is refused, what was not is cut off`, async () => {
    const name = at(killed.segments, -1);
    const size = bytesOf(killed.files, name).length;
    const records = recordsOf(killed, name);
    const before = killed.entities.length - records.length;
    const below = random(SEED);
    const seen = { refused: 0, cut: 0 };
    for (let n = 0; n < RANDOM_FLIPS; n += 1) {
      const byte = HEADER_BYTES + below(size - HEADER_BYTES);
      const bit = below(8);
      const hint = `seed ${SEED}, bit ${bit} of byte ${byte}`;
      const index = records.findIndex(({ end }) => byte < end);
      const { offset } = at(records, index);
      const files = flipped(killed.files, name, byte, bit);
      const durable = records.slice(index + 1).some(({ syncedBytes }) => syncedBytes > offset);
      seen[durable ? 'refused' : 'cut'] += 1;
      if (durable) await expectRefused(files, name, offset, hint);
      else await expectCut(files, killed, offset, before + index, hint);
    }
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.cut).toBeGreaterThan(0);
  });
});

describe('a segment in the middle', () => {
  it('cut at any byte: refused', async () => {
    const name = at(killed.segments, 1);
    const next = at(killed.segments, 2);
    const records = recordsOf(killed, name);
    for (let length = 0; length < at(records, -1).end; length += 1) {
      const files = truncated(killed.files, name, length);
      const record = records.find(({ offset, end }) => offset <= length && length < end);
      // Between two records nothing of this segment is wrong but what the next one says about it.
      const [named, byte] = record?.offset === length ? [next, 0] : [name, record?.offset ?? 0];
      await expectRefused(files, named, byte, `cut at byte ${length}`);
    }
  });

  it('with any bit of its header flipped: refused', async () => {
    const name = at(killed.segments, 1);
    for (const [byte, bit] of headerBits()) {
      await expectRefused(flipped(killed.files, name, byte, bit), name, 0, `bit ${bit} of byte ${byte}`);
    }
  });

  it(`with ${RANDOM_FLIPS} random bits flipped: refused at the record that has it`, async () => {
    const name = at(killed.segments, 1);
    const size = bytesOf(killed.files, name).length;
    const records = recordsOf(killed, name);
    const below = random(SEED + 1);
    for (let n = 0; n < RANDOM_FLIPS; n += 1) {
      const byte = HEADER_BYTES + below(size - HEADER_BYTES);
      const bit = below(8);
      const hint = `seed ${SEED}, bit ${bit} of byte ${byte}`;
      const record = records.find(({ end }) => byte < end);
      await expectRefused(flipped(killed.files, name, byte, bit), name, record?.offset ?? 0, hint);
    }
  });

  it('missing, or in the place of another: refused', async () => {
    const [first = '', second = '', third = ''] = killed.segments;
    await expectRefused(replaced(killed.files, second, undefined), third, 0, 'second missing');
    await expectRefused(replaced(killed.files, first, undefined), second, 0, 'first missing');
    const swapped = replaced(killed.files, second, bytesOf(killed.files, third));
    await expectRefused(replaced(swapped, third, bytesOf(killed.files, second)), second, 0, 'swapped');
    await expectRefused(replaced(killed.files, second, bytesOf(stopped.files, second)), second, 0, 'foreign');
  });
});

describe('the last segment after a clean shutdown', () => {
  it('is opened as it is, and has its mark', async () => {
    expect([...stopped.files.keys()]).toContain('clean-shutdown');
    expect(await open(stopped.files)).toMatchObject({ type: 'open', entities: stopped.entities });
  });

  it('cut at any byte of its last record: refused, for the log ends before its mark', async () => {
    const name = at(stopped.segments, -1);
    const { offset, end } = at(recordsOf(stopped, name), -1);
    for (let length = offset; length < end; length += 1) {
      await expectRefused(truncated(stopped.files, name, length), name, offset, `cut at byte ${length}`);
    }
  });

  it('missing, or without its header: refused', async () => {
    const name = at(stopped.segments, -1);
    const before = at(stopped.segments, -2);
    const { length } = bytesOf(stopped.files, before);
    await expectRefused(replaced(stopped.files, name, undefined), before, length, 'missing');
    await expectRefused(truncated(stopped.files, name, 0), name, 0, 'empty');
    await expectRefused(truncated(stopped.files, name, 63), name, 0, 'half a header');
  });

  it('with any of its bits flipped: refused', async () => {
    const name = at(stopped.segments, -1);
    const records = recordsOf(stopped, name);
    const below = random(SEED + 2);
    for (let n = 0; n < RANDOM_FLIPS; n += 1) {
      const byte = HEADER_BYTES + below(bytesOf(stopped.files, name).length - HEADER_BYTES);
      const bit = below(8);
      const record = records.find(({ end }) => byte < end);
      const hint = `seed ${SEED}, bit ${bit} of byte ${byte}`;
      await expectRefused(flipped(stopped.files, name, byte, bit), name, record?.offset ?? 0, hint);
    }
  });
});

describe('a real server', () => {
  const damages: readonly (readonly [what: string, damaged: () => readonly [Files, string, number]])[] = [
    [
      'a segment in the middle cut inside a record',
      () => {
        const name = at(killed.segments, 1);
        const { offset } = at(recordsOf(killed, name), 3);
        return [truncated(killed.files, name, offset + 5), name, offset];
      },
    ],
    [
      'a flipped bit in a header',
      () => [flipped(killed.files, at(killed.segments, 2), 17, 3), at(killed.segments, 2), 0],
    ],
    [
      'a flipped bit in a payload',
      () => {
        const name = at(killed.segments, 0);
        const { offset } = at(recordsOf(killed, name), 5);
        return [flipped(killed.files, name, offset + FRAME_BYTES + 7, 0), name, offset];
      },
    ],
    [
      'the last record missing after a clean shutdown',
      () => {
        const name = at(stopped.segments, -1);
        const { offset } = at(recordsOf(stopped, name), -1);
        return [truncated(stopped.files, name, offset), name, offset];
      },
    ],
  ];

  it.each(damages)(
    'does not start on %s: exit code 1, and a sentence with segment and byte',
    async (_, damaged) => {
      const [files, segment, offset] = damaged();
      const directory = dataDirectoryOf(files);
      made.push(() => removeDirectory(directory));
      const server = new Launched(directory, { flags: FLAGS });
      made.push(async () => {
        if (server.running) await server.signal('SIGKILL');
      });
      expect(await server.exited).toEqual({ code: 1, signal: null });
      expect(server.output).toContain(`foreshock: ${segment} is damaged at byte ${offset}: `);
      expect(filesIn(join(directory, 'log'))).toEqual(files);
    },
  );

  it('starts on a torn last record, and says what it cut off and where that is kept', async () => {
    const name = at(killed.segments, -1);
    const { offset, end } = at(recordsOf(killed, name), -1);
    const directory = dataDirectoryOf(truncated(killed.files, name, end - 1));
    made.push(() => removeDirectory(directory));
    const server = await new Launched(directory, { flags: FLAGS }).serving();
    const kept = `${name}.${offset}.broken`;
    expect(server.output).toContain(`cut ${end - 1 - offset} bytes of an unfinished write at byte ${offset}`);
    expect(server.output).toContain(kept);
    expect(readdirSync(join(directory, 'log'))).toContain(kept);
    await server.signal('SIGKILL');
  });
});
