/**
 * The lines of a file, once or as they are written.
 *
 * Following is by looking at the file every `pollMs`, by name and by open descriptor:
 *
 *   | by name              | by descriptor        | what happened       | then                                  |
 *   | -------------------- | -------------------- | ------------------- | ------------------------------------- |
 *   | same file            | grew or as it was    | written to, or idle | read on                               |
 *   | same file            | shorter than was read| truncated           | from its beginning                    |
 *   | another file         | any                  | rotated             | rest of the old one, then the new one |
 *   | no file              | any                  | rotation under way  | read on; the name will come back      |
 *
 * What it cannot see: a file that was truncated and has grown past the old length between two looks.
 */
import type { FileHandle } from 'node:fs/promises';
import { open, stat } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { type Sleep, systemSleep } from '../client/retry.ts';

/** Characters kept of one line. A log line longer than this is a bulk statement: its beginning says what happened. */
export const MAX_LINE_LENGTH = 1 << 20;

export interface ReadLinesOptions {
  /** Whether to wait for more at the end of the file, until the signal is aborted. */
  readonly follow: boolean;
  /** Where to start. From the end, a line that is half written counts from its next line on. */
  readonly from: 'start' | 'end';
  readonly signal?: AbortSignal;
  /** Default 250. */
  readonly pollMs?: number;
  /** Default `MAX_LINE_LENGTH`; the rest of a longer line is cut. */
  readonly maxLineLength?: number;
  readonly sleep?: Sleep;
}

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Yields the lines without their ends, until the end of the file or, following, until the signal is aborted. A
 * last line without a newline is a line at the end, and waits for its newline while following. Following, a file
 * that is not there yet is waited for.
 *
 * @throws the file system's error where the file cannot be opened or read
 */
export async function* readLines(
  path: string,
  options: ReadLinesOptions,
): AsyncGenerator<string, void, undefined> {
  const { follow, signal, pollMs = 250, maxLineLength = MAX_LINE_LENGTH, sleep = systemSleep } = options;
  const pause = () => sleep(pollMs, signal).catch((error: unknown) => ignoreAbort(error, signal));
  const isAborted = () => signal?.aborted ?? false;

  let reader = await openedReader(path, follow, maxLineLength);
  let from = options.from;
  while (reader === null && !isAborted()) {
    await pause();
    reader = await openedReader(path, follow, maxLineLength);
    // A file that came into being while we waited is new to its first line.
    from = 'start';
  }
  if (reader === null) return;
  try {
    if (from === 'end') await reader.skipToEnd();
    while (!isAborted()) {
      yield* reader.rest(isAborted);
      if (!follow || isAborted()) break;
      const change = await reader.change(path);
      if (change === 'truncated') reader.restart();
      if (change === 'rotated') {
        // The writer may hold the old file a moment longer than the name does.
        await pause();
        yield* reader.rest(isAborted);
        yield* reader.lastLine();
        const next = await openedReader(path, follow, maxLineLength);
        if (next === null) continue;
        await reader.close();
        reader = next;
      }
      if (change === 'none') await pause();
    }
    if (!follow && !isAborted()) yield* reader.lastLine();
  } finally {
    await reader.close();
  }
}

/** Null where the file is not there and may come. */
async function openedReader(
  path: string,
  follow: boolean,
  maxLineLength: number,
): Promise<FileReader | null> {
  try {
    return new FileReader(await open(path, 'r'), maxLineLength);
  } catch (error) {
    if (follow && isMissing(error)) return null;
    throw error;
  }
}

/** An open file, and how far it was read. */
class FileReader {
  readonly #file: FileHandle;
  readonly #maxLineLength: number;
  readonly #buffer = Buffer.alloc(CHUNK_BYTES);
  #position = 0;
  #decoder = new StringDecoder('utf8');
  #partial = '';
  #skipping = false;

  constructor(file: FileHandle, maxLineLength: number) {
    this.#file = file;
    this.#maxLineLength = maxLineLength;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  restart(): void {
    this.#position = 0;
    this.#decoder = new StringDecoder('utf8');
    this.#partial = '';
    this.#skipping = false;
  }

  async skipToEnd(): Promise<void> {
    const { size } = await this.#file.stat();
    if (size === 0) return;
    const { bytesRead } = await this.#file.read(this.#buffer, 0, 1, size - 1);
    this.#position = size;
    this.#skipping = bytesRead === 1 && this.#buffer[0] !== NEWLINE;
  }

  /** The lines from here to the present end of the file. */
  async *rest(isAborted: () => boolean): AsyncGenerator<string, void, undefined> {
    for (;;) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, CHUNK_BYTES, this.#position);
      if (bytesRead === 0) return;
      this.#position += bytesRead;
      for (const line of this.#split(this.#decoder.write(this.#buffer.subarray(0, bytesRead)))) {
        if (isAborted()) return;
        yield line;
      }
    }
  }

  /** What stands after the last newline, once. */
  *lastLine(): Generator<string, void, undefined> {
    const last = this.#cut(this.#partial + this.#decoder.end());
    this.#partial = '';
    if (last !== '' && !this.#skipping) yield last;
  }

  async change(path: string): Promise<'none' | 'truncated' | 'rotated'> {
    const held = await this.#file.stat();
    try {
      const named = await stat(path);
      if (named.ino !== held.ino || named.dev !== held.dev) return 'rotated';
    } catch (error) {
      if (isMissing(error)) return 'none';
      throw error;
    }
    return held.size < this.#position ? 'truncated' : 'none';
  }

  *#split(text: string): Generator<string, void, undefined> {
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.#cut(this.#partial + text.slice(start, end));
      start = end + 1;
      this.#partial = '';
      if (!this.#skipping) yield line.endsWith('\r') ? line.slice(0, -1) : line;
      this.#skipping = false;
    }
    this.#partial = this.#cut(this.#partial + text.slice(start));
  }

  #cut(line: string): string {
    return line.length > this.#maxLineLength ? line.slice(0, this.#maxLineLength).toWellFormed() : line;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function ignoreAbort(error: unknown, signal: AbortSignal | undefined): void {
  if (!signal?.aborted) throw error;
}
