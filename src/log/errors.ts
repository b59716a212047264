/** What can go wrong with a log: each error has its owner, named beside it. */

/** The disk does not take writes just now. Nothing was logged; the next append tries again. Owner: pipeline. */
export class LogUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the log cannot be written: ${messageOf(cause)}`, { cause });
    this.name = 'LogUnavailable';
  }
}

/** A sync failed, so what is on disk is not known any more: the process must end. Owner: main. */
export class SyncFailed extends Error {
  constructor(cause: unknown) {
    super(`the log could not be made durable: ${messageOf(cause)}`, { cause });
    this.name = 'SyncFailed';
  }
}

/** What is on disk is not what was written. Never mended unasked. Owner: the operator. */
export class LogDamaged extends Error {
  readonly segment: string;
  readonly offset: number;

  constructor(segment: string, offset: number, reason: string) {
    super(`${segment} is damaged at byte ${offset}: ${reason}`);
    this.name = 'LogDamaged';
    this.segment = segment;
    this.offset = offset;
  }
}

/** The log is whole, for all that is known, and of a format this program does not read. Owner: the operator. */
export class LogOfOtherVersion extends Error {
  constructor(segment: string, version: number, ours: number) {
    super(
      `${segment} has log format version ${version}, and this program reads version ${ours}: run the Foreshock that wrote it. ` +
        'Nothing has been changed',
    );
    this.name = 'LogOfOtherVersion';
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
