import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentId, tenantId } from '../../src/domain/ids.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { decodeCommand } from '../../src/log/command-codec.ts';
import { CommandLog } from '../../src/log/log.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { anEvent } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const TENANT = tenantId('0198c5a0-0000-7000-8000-000000000001');
const AGENT = agentId('0198c5a0-0000-7000-8000-000000000002');
const RECORDS = 4000;

let directory: string;
let log: CommandLog;

async function openLog(segmentBytes: number): Promise<void> {
  const options = {
    disk: nodeDisk,
    directory,
    segmentBytes,
    roomBytes: 64 * 1024,
    newLogId: '00'.repeat(16),
  };
  log = (await CommandLog.open({ ...options, writes: 'each' }, () => {})).log;
}

function append(entity: string, newValue: string | null = null): void {
  const events = [anEvent({ entity, newValue })];
  log.append({ type: 'record-events', tenantId: TENANT, agentId: AGENT, events }, 1000);
}

/** The entities from a sequence number through another, and how the walk ended. */
function walked(from: number, through: number): { readonly entities: string[]; readonly end: string } {
  const walk = log.walk(from);
  const entities: string[] = [];
  for (;;) {
    const step = walk.step(through, ({ bytes, start, end }) => {
      const command = decodeCommand(bytes, start, end);
      if (command.type === 'record-events') entities.push(command.events[0]?.entity ?? '');
    });
    if (step === 'more') continue;
    walk.close();
    return { entities, end: step };
  }
}

const numbers = (from: number, through: number) =>
  Array.from({ length: through - from + 1 }, (_, index) => `e-${from + index}`);

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => {
  log.close();
  removeDirectory(directory);
});

describe.each([4096, 100_000, 64 * 1024 * 1024])('a log of segments of %i bytes', (segmentBytes) => {
  beforeEach(async () => {
    await openLog(segmentBytes);
    for (let number = 1; number <= RECORDS; number += 1) append(`e-${number}`);
  });

  it('is walked from any record to any other, also where other walks have been before', () => {
    for (const round of [1, 2]) {
      for (const from of [1, 2, 700, 1999, 2000, 3999, RECORDS]) {
        for (const through of [from, from + 1, RECORDS].filter((number) => number <= RECORDS)) {
          const { entities, end } = walked(from, through);
          expect({ round, from, through, end }).toEqual({ round, from, through, end: 'done' });
          expect(entities).toEqual(numbers(from, through));
        }
      }
    }
  });

  it('is walked from everywhere', () => {
    for (let from = RECORDS; from > 0; from -= 13) {
      expect(walked(from, from)).toEqual({ entities: [`e-${from}`], end: 'done' });
    }
  });

  it('goes no further than it is told, and goes on from there when it is told more', () => {
    const walk = log.walk(10);
    const seen: number[] = [];
    const visit = ({ stamp }: { readonly stamp: { readonly sequence: number } }) => {
      seen.push(stamp.sequence);
    };
    while (walk.step(12, visit) === 'more');
    expect(seen).toEqual([10, 11, 12]);
    expect(walk.step(12, visit)).toBe('done');
    append(`e-${RECORDS + 1}`);
    while (walk.step(RECORDS + 1, visit) === 'more');
    expect(seen).toHaveLength(RECORDS + 1 - 9);
    expect(seen.at(-1)).toBe(RECORDS + 1);
    walk.close();
  });
});

it('a record larger than what is read at once is handed over whole', async () => {
  await openLog(64 * 1024 * 1024);
  append('e-1');
  append('e-2', 'x'.repeat(1_000_000));
  append('e-3');
  expect(walked(1, 3)).toEqual({ entities: numbers(1, 3), end: 'done' });
});

it('what was deleted is gone, and what comes after it is there', async () => {
  await openLog(4096);
  for (let number = 1; number <= 200; number += 1) append(`e-${number}`);
  rmSync(join(directory, segmentFileName(1)));
  expect(walked(1, 200).end).toBe('gone');
  expect(walked(190, 200)).toEqual({ entities: numbers(190, 200), end: 'done' });
  rmSync(join(directory, segmentFileName(4)));
  expect(walked(60, 200).end).toBe('gone');
});

it('what was never written is gone', async () => {
  await openLog(4096);
  append('e-1');
  expect(walked(2, 3).end).toBe('gone');
});
