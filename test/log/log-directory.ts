/** A log on real files in a temporary directory, for tests that damage it. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import type { Command, Stamp } from '../../src/domain/command.ts';
import type { EncodedCommand } from '../../src/domain/encoded-events.ts';
import { tenantId } from '../../src/domain/ids.ts';
import { decodeCommand } from '../../src/log/command-codec.ts';
import { LogDamaged } from '../../src/log/errors.ts';
import { CommandLog, type LogOptions } from '../../src/log/log.ts';
import { type LogPosition, offsetAt, ordinalAt } from '../../src/log/position.ts';
import type { LoggedRecord } from '../../src/log/replay.ts';
import { LOG_ID_BYTES, segmentFileName } from '../../src/log/segment.ts';
import { FaultyDisk } from './faulty-disk.ts';

/** The file that says that the log was closed in order. */
export const MARK = 'clean-shutdown';

export type Writes = LogOptions['writes'];

export const START_MS = 1_760_000_000_000;

export interface Logged {
  readonly command: Command;
  readonly stamp: Stamp;
  readonly position: LogPosition;
}

export interface OpenLog {
  readonly log: CommandLog;
  /** What was in it. */
  readonly commands: readonly Logged[];
  readonly mended: readonly string[];
  readonly cleanShutdown: boolean;
}

export type Files = ReadonlyMap<string, Buffer>;

/** A command that can be told from others, of some size. */
export function aCommand(n: number, nameLength = 20): Command {
  return { type: 'create-tenant', tenantId: tenantId('t'), name: `${n} `.padEnd(nameLength, 'x') };
}

/** A segment with another version in its header, whose CRC is right; its records still have that of the old one in theirs. */
export function ofVersion(version: number, segment: Buffer): Buffer {
  const copy = Buffer.from(segment);
  copy.writeUInt32LE(version, 8);
  copy.writeUInt32LE(crc32(copy.subarray(0, 60)), 60);
  return copy;
}

export class LogDirectory {
  readonly path = fs.mkdtempSync(join(tmpdir(), 'foreshock-log-'));
  readonly disk = new FaultyDisk();

  async open(segmentBytes = 64 * 1024 * 1024, writes: Writes = 'each', roomBytes = 0): Promise<OpenLog> {
    const commands: Logged[] = [];
    const newLogId = randomBytes(LOG_ID_BYTES).toString('hex');
    const { log, mended, cleanShutdown } = await CommandLog.open(
      { disk: this.disk, directory: this.path, segmentBytes, writes, roomBytes, newLogId },
      (record) => commands.push(loggedIn(record)),
    );
    return { log, commands, mended, cleanShutdown };
  }

  /**
   * Appends commands numbered `from` to `to`, and lets go of the log: everything is durable, and nothing says that
   * it was closed in order. What a test does to the files is then what a crash may have done.
   */
  async write(from: number, to: number, segmentBytes?: number): Promise<Logged[]> {
    const { log } = await this.open(segmentBytes);
    const logged = appendTo(log, from, to);
    this.close(log);
    return logged;
  }

  /** Closes a log, and takes away the mark that it leaves. */
  close(log: CommandLog): void {
    log.close();
    expect(this.get(MARK).toString()).toBe(String(log.lastStamp.sequence));
    this.remove(MARK);
  }

  /** Must be what the log says, without anything mended; then one more is appended, which must stay. */
  async expectLog(commands: readonly Logged[]): Promise<void> {
    const first = await this.open();
    expect(first.mended).toEqual([]);
    expect(first.commands).toEqual(commands);
    first.log.close();
    const next = await this.open();
    expect(next.cleanShutdown).toBe(true);
    expect(this.names()).not.toContain(MARK);
    const [last] = appendTo(next.log, 1000, 1000);
    this.close(next.log);
    const second = await this.open();
    expect(second.mended).toEqual([]);
    expect(second.cleanShutdown).toBe(false);
    expect(second.commands).toEqual([...commands, last]);
    for (const { command, stamp, position } of second.commands) {
      expect(second.log.read(position)).toEqual({ command, stamp });
    }
    this.close(second.log);
  }

  /** Must be mended, a sentence for the operator each time. Answers what the log says then. */
  async expectMended(): Promise<readonly Logged[]> {
    const { log, commands, mended } = await this.open();
    expect(mended).toHaveLength(1);
    expect(mended[0]).toMatch(/\.broken$/);
    this.close(log);
    return commands;
  }

  /** Must be as a crash may leave it without anything having been torn. Answers what the log says. */
  async expectWhole(): Promise<readonly Logged[]> {
    const { log, commands, mended } = await this.open();
    expect(mended).toEqual([]);
    this.close(log);
    return commands;
  }

  /** Must be refused, naming the segment and the byte, with nothing changed on disk. */
  async expectRefused(ordinal: number, offset: number, reason?: RegExp): Promise<void> {
    const before = this.files();
    const refused = await this.open().then(
      ({ log }) => {
        this.close(log);
        return undefined;
      },
      (error: unknown) => error,
    );
    if (!(refused instanceof LogDamaged)) expect.fail(`not refused as damaged: ${refused}`);
    expect({ segment: refused.segment, offset: refused.offset }).toEqual({
      segment: segmentFileName(ordinal),
      offset,
    });
    expect(refused.message).toMatch(`${segmentFileName(ordinal)} is damaged at byte ${offset}: `);
    if (reason !== undefined) expect(refused.message).toMatch(reason);
    expect(this.files()).toEqual(before);
  }

  files(): Files {
    return new Map(
      fs
        .readdirSync(this.path)
        .sort()
        .map((name) => [name, fs.readFileSync(join(this.path, name))]),
    );
  }

  /** Makes these the files of the directory, and no others. */
  restore(files: Files): void {
    for (const name of fs.readdirSync(this.path)) this.remove(name);
    for (const [name, bytes] of files) this.put(name, bytes);
  }

  names(): string[] {
    return [...this.files().keys()];
  }

  get(name: string): Buffer {
    return fs.readFileSync(join(this.path, name));
  }

  put(name: string, bytes: Uint8Array): void {
    fs.writeFileSync(join(this.path, name), bytes);
  }

  remove(name: string): void {
    fs.unlinkSync(join(this.path, name));
  }

  /** Lets go of all files and deletes them. */
  discard(): void {
    this.disk.crash();
    fs.rmSync(this.path, { recursive: true, force: true });
  }
}

export function appendTo(log: CommandLog, from: number, to: number): Logged[] {
  const logged: Logged[] = [];
  for (let n = from; n <= to; n += 1) logged.push(appendOne(log, aCommand(n)));
  return logged;
}

export function appendOne(log: CommandLog, command: Command | EncodedCommand): Logged {
  return loggedIn(log.append(command, START_MS + log.lastStamp.sequence));
}

/** A record as a value, its command read from its bytes. */
export function loggedIn({ stamp, position, bytes, start, end }: LoggedRecord): Logged {
  return { command: decodeCommand(bytes, start, end), stamp, position };
}

/** Where a record stands. */
export function placeOf({ position }: Logged): { readonly ordinal: number; readonly offset: number } {
  return { ordinal: ordinalAt(position), offset: offsetAt(position) };
}

/** A copy with one bit the other way round. */
export function flip(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << bit), at);
  return copy;
}
