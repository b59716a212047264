import { appendFile, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ReadLinesOptions, readLines } from '../../src/agent/lines.ts';

let folder = '';
let path = '';
let stop = new AbortController();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foreshock-lines-'));
  path = join(folder, 'server.log');
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await rm(folder, { recursive: true });
});

async function linesOf(options: Partial<ReadLinesOptions> = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(path, { follow: false, from: 'start', ...options })) lines.push(line);
  return lines;
}

/** A follower and what it has read so far. */
function follow(options: Partial<ReadLinesOptions> = {}) {
  const read: string[] = [];
  const done = (async () => {
    const all = { follow: true, from: 'start', pollMs: 5, signal: stop.signal, ...options } as const;
    for await (const line of readLines(path, all)) read.push(line);
  })();
  return {
    read,
    done,
    until: (lines: string[]) => expect.poll(() => read, { interval: 5, timeout: 10_000 }).toEqual(lines),
  };
}

/** Long enough for a follower to have looked several times. */
const looks = () => new Promise((resolve) => setTimeout(resolve, 60));

describe('a whole file', () => {
  test.each([
    ['nothing', '', []],
    ['lines', 'a\nb\n', ['a', 'b']],
    ['a last line without its end', 'a\nb', ['a', 'b']],
    ['empty lines', '\n\na\n', ['', '', 'a']],
    ['Windows line ends', 'a\r\nb\r\n', ['a', 'b']],
  ])('%s', async (_, content, lines) => {
    await writeFile(path, content);
    expect(await linesOf()).toEqual(lines);
  });

  test('larger than what is read at once, with characters across the edge', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'é😀'.repeat(index % 17)}`);
    await writeFile(path, `${lines.join('\n')}\n`);
    expect(await linesOf()).toEqual(lines);
  });

  test('a line that is too long is cut, and the next one is whole', async () => {
    await writeFile(path, `${'x'.repeat(300_000)}\nnext\n${'y'.repeat(200)}`);
    expect(await linesOf({ maxLineLength: 100 })).toEqual(['x'.repeat(100), 'next', 'y'.repeat(100)]);
  });

  test('from its end is nothing', async () => {
    await writeFile(path, 'a\nb');
    expect(await linesOf({ from: 'end' })).toEqual([]);
  });

  test('that is not there is an error', async () => {
    await expect(linesOf()).rejects.toThrow(/ENOENT/);
  });
});

describe('following', () => {
  test('new lines come as they are written, and half a line waits for its end', async () => {
    await writeFile(path, 'a\nb');
    const { until, read } = follow();
    await until(['a']);
    await appendFile(path, 'c');
    await looks();
    expect(read).toEqual(['a']);
    await appendFile(path, 'd\ne\n');
    await until(['a', 'bcd', 'e']);
  });

  test('a character that is written in halves is one', async () => {
    await writeFile(path, Buffer.from('é\n').subarray(0, 1));
    const { until } = follow();
    await looks();
    await appendFile(path, Buffer.from('é\n').subarray(1));
    await until(['é']);
  });

  test('from the end, a line that is half written is not a line', async () => {
    await writeFile(path, 'old\nhalf');
    const { until } = follow({ from: 'end' });
    await looks();
    await appendFile(path, ' of it\nnew\n');
    await until(['new']);
  });

  test('from the end of a whole line, the next one counts', async () => {
    await writeFile(path, 'old\n');
    const { until } = follow({ from: 'end' });
    await looks();
    await appendFile(path, 'new\n');
    await until(['new']);
  });

  test('a truncated file is read from its beginning, and its half line is forgotten', async () => {
    await writeFile(path, 'before\nhalf');
    const { until } = follow();
    await until(['before']);
    await truncate(path);
    await looks();
    await appendFile(path, 'after\n');
    await until(['before', 'after']);
  });

  test('a rotated file is read to its end, then the new one', async () => {
    await writeFile(path, 'a\n');
    const { until } = follow();
    await until(['a']);
    await appendFile(path, 'b\nhalf');
    await rename(path, `${path}.1`);
    await writeFile(path, 'new\n');
    await until(['a', 'b', 'half', 'new']);
    await appendFile(path, 'more\n');
    await until(['a', 'b', 'half', 'new', 'more']);
  });

  test('what is written to the old file after its rotation was seen still counts', async () => {
    await writeFile(path, 'a\nhalf');
    const steps = [
      () => rename(path, `${path}.1`).then(() => writeFile(path, 'new\n')),
      () => appendFile(`${path}.1`, ' late\n'),
      async () => stop.abort(),
    ];
    const { read, done } = follow({ sleep: async () => steps.shift()?.() });
    await done;
    expect(read).toEqual(['a', 'half late', 'new']);
  });

  test('a name that is gone for a while comes back', async () => {
    await writeFile(path, 'a\n');
    const { until } = follow();
    await until(['a']);
    await rename(path, `${path}.1`);
    await appendFile(`${path}.1`, 'b\n');
    await until(['a', 'b']);
    await writeFile(path, 'c\n');
    await until(['a', 'b', 'c']);
  });

  test('a file that is not there yet is waited for, and read from its beginning', async () => {
    const { until } = follow({ from: 'end' });
    await looks();
    await writeFile(path, 'first\n');
    await until(['first']);
  });

  test('ends when the signal is aborted, also while there is no file', async () => {
    const waiting = follow();
    stop.abort();
    await waiting.done;
    await writeFile(path, 'a\n');
    stop = new AbortController();
    const reading = follow();
    await reading.until(['a']);
    stop.abort();
    await reading.done;
    expect(reading.read).toEqual(['a']);
  });
});
