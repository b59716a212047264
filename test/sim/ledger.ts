/**
 * What was promised: which commands were acknowledged, which of them must survive what, and of which others
 * nobody knows whether they are in the log.
 */
import type { Command } from '../../src/domain/command.ts';
import { encodeCommand } from '../../src/log/command-codec.ts';
import { FRAME_BYTES } from '../../src/log/record.ts';
import { bytesOf } from '../log/records.ts';
import type { RecordOnDisk } from './records.ts';

export interface Entry {
  readonly command: Command;
  /** The command as it must stand in the log. */
  readonly payload: Buffer;
  /** The time it was given; undefined while it is being submitted. */
  atMs: number | undefined;
  /** Failures of the disk before it was submitted. */
  readonly failuresBefore: number;
  /** Virtual time. */
  acknowledgedAtMs: number;
}

export function newEntry(command: Command, failuresBefore: number): Entry {
  const payload = bytesOf(encodeCommand(command)).subarray(FRAME_BYTES);
  return { command, payload, atMs: undefined, failuresBefore, acknowledgedAtMs: 0 };
}

/** What a process that stops writes last, without anybody's asking. */
const PASS_TIME = newEntry({ type: 'pass-time' }, 0);

export class Ledger {
  /** Acknowledged, or shown to readers after a start. Their place is their sequence number, less one. */
  readonly taken: Entry[] = [];
  /** So many of them survive a power cut. */
  durable = 0;
  /** Submitted and not answered, in order. */
  pending: Entry[] = [];
  /** Answered that the log cannot be written, since the last that was taken: a restart may bring one group back. */
  abandoned: Entry[][] = [];
  /** Of the process before: may be in the log, the first ones of them. */
  uncertain: Entry[] = [];
  /** Commands answered that the log cannot be written, and found in it after a restart. */
  cameBack = 0;

  take(entry: Entry, isDurable: boolean): void {
    this.taken.push(entry);
    if (isDurable) this.durable = this.taken.length;
    this.abandoned = [];
  }

  /** The process has ended, and with it perhaps what was not durable. */
  processEnded(isLossless: boolean): void {
    const lost = isLossless ? [] : this.taken.splice(this.durable);
    this.uncertain = [...lost, ...this.uncertain, ...this.pending];
    this.pending = [];
  }

  /** The process has stopped in order: what it acknowledged is all there is, but for what would not be cut off. */
  processStopped(mayHoldRefused: boolean): void {
    this.durable = this.taken.length;
    this.uncertain = [];
    if (!mayHoldRefused) this.abandoned = [];
  }

  /**
   * Takes over what a start has found in the log, all of which readers now see.
   *
   * @returns what is wrong with it, or undefined
   */
  reconcile(records: readonly RecordOnDisk[]): string | undefined {
    const lastSequence = records.at(-1)?.sequence ?? 0;
    if (lastSequence < this.taken.length) {
      return `${this.taken.length} commands are to be in the log, and it ends with ${lastSequence}`;
    }
    for (const record of records) {
      const entry = this.taken[record.sequence - 1];
      if (entry === undefined) break;
      if (!isSame(record, entry)) return `record ${record.sequence} is not what was acknowledged`;
    }
    const tail = records.filter(({ sequence }) => sequence > this.taken.length);
    const closing = tail.at(-1)?.payload.equals(PASS_TIME.payload) ? tail.pop() : undefined;
    const source = [this.uncertain, ...this.abandoned].find((entries) => {
      return tail.every((record, index) => {
        const entry = entries[index];
        return entry !== undefined && isSame(record, entry);
      });
    });
    if (source === undefined) {
      return `record ${tail[0]?.sequence} and ${tail.length - 1} more are not the first of those in doubt`;
    }
    if (source !== this.uncertain) this.cameBack += tail.length;
    this.taken.push(...source.slice(0, tail.length));
    if (closing !== undefined) this.taken.push({ ...PASS_TIME, atMs: closing.atMs });
    this.durable = this.taken.length;
    this.uncertain = [];
    this.abandoned = [];
    return undefined;
  }
}

function isSame(record: RecordOnDisk, entry: Entry): boolean {
  const isInTime = entry.atMs === undefined || entry.atMs === record.atMs;
  if (isInTime) entry.atMs = record.atMs;
  return isInTime && record.payload.equals(entry.payload);
}
