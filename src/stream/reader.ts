/** One reader of a stream: who it is, what it wants, how far it has come, and whether it keeps up. */
import type { ApiKey } from '../domain/key.ts';
import type { StreamFilter } from './filter.ts';
import type { ResumePoint } from './resume-point.ts';

/** The connection of a reader. */
export interface ReaderSocket {
  /** False where the reader does not keep up: what was given is passed on, and `drained` called once it has been. */
  write(bytes: Uint8Array): boolean;
  /** Lets what was written go out, then ends. */
  end(): void;
  /** Ends at once. */
  close(): void;
}

/** What the connection of a reader tells of. */
export interface Connection {
  drained(): void;
  gone(): void;
}

/** Text that goes out in one write, whole messages, and how far a reader has come with it. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly after: ResumePoint;
}

/** When something is written. */
export interface Moment {
  readonly nowMs: number;
  /** How much has been recorded for the reader's tenant so far, counted from anywhere. */
  readonly recordedBytes: number;
}

/** How much may be recorded for its tenant while it does not read, before it is cut off: it comes back to where it was. */
const MAX_MISSED_BYTES = 8 * 1024 * 1024;
/** How long it may read nothing at all. */
const MAX_BLOCKED_MS = 15_000;

export class StreamReader {
  readonly key: ApiKey;
  readonly filter: StreamFilter;
  readonly #socket: ReaderSocket;
  /** What comes next; all before it has been handed to the socket. */
  point: ResumePoint;
  /** It is told what comes as it comes; else it is to be given what it missed, from the log. The feed sees to it. */
  isLive = false;
  /** Something has been made for it that it is to be given before anything else. */
  isOwed = false;
  isGone = false;
  /** Since when it has been written more than it reads. */
  #blockedSince: Moment | undefined;

  constructor(key: ApiKey, filter: StreamFilter, point: ResumePoint, socket: ReaderSocket) {
    this.key = key;
    this.filter = filter;
    this.point = point;
    this.#socket = socket;
  }

  /** It has been written more than it reads. */
  get isBlocked(): boolean {
    return this.#blockedSince !== undefined;
  }

  /** Writes pieces as long as the reader takes them; true where it took them all. */
  give(pieces: readonly Piece[], moment: Moment): boolean {
    for (const { bytes, after } of pieces) {
      if (this.isBlocked) return false;
      this.write(bytes, moment);
      this.point = after;
    }
    return true;
  }

  /** Writes what moves it no further. */
  write(bytes: Uint8Array, moment: Moment): void {
    if (!this.isGone && !this.#socket.write(bytes)) this.#blockedSince ??= moment;
  }

  drained(): void {
    this.#blockedSince = undefined;
  }

  /** Whether it has read nothing for too long, or missed too much meanwhile, to be waited for. */
  isTooSlow({ nowMs, recordedBytes }: Moment): boolean {
    const since = this.#blockedSince;
    if (since === undefined) return false;
    return nowMs - since.nowMs > MAX_BLOCKED_MS || recordedBytes - since.recordedBytes > MAX_MISSED_BYTES;
  }

  end(): void {
    this.isGone = true;
    this.#socket.end();
  }

  cutOff(): void {
    this.isGone = true;
    this.#socket.close();
  }
}
