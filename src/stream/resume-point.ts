/**
 * How far a reader has come. As the id of a message it is the sequence number of its command, `1234`; where a command
 * has several messages, all but the last say how many of them have come: `1234.7`. So a reader that is cut off in the
 * middle of a batch goes on in the middle of it.
 */
export interface ResumePoint {
  /** Of the command that comes next. */
  readonly sequence: number;
  /** Messages of it that have come already. */
  readonly taken: number;
}

export function formatPoint({ sequence, taken }: ResumePoint): string {
  return taken === 0 ? String(sequence - 1) : `${sequence}.${taken}`;
}

const POINT = /^(\d{1,15})(?:\.([1-9]\d{0,8}))?$/;

/** Undefined for a text that is no id of a message. */
export function parsePoint(text: string): ResumePoint | undefined {
  const match = POINT.exec(text);
  if (match === null) return undefined;
  const sequence = Number(match[1]);
  return match[2] === undefined
    ? { sequence: sequence + 1, taken: 0 }
    : { sequence, taken: Number(match[2]) };
}
