import type { Command, Idempotency } from './command.ts';
import type { ApiKey } from './key.ts';

/**
 * Events as the log writes them, made from a request without ever being objects. The bytes are lent, and have room
 * before the events and behind them for what else a record holds, so that it is made where they stand
 * (events/encoding.ts).
 */
export interface EncodedEvents {
  readonly count: number;
  readonly bytes: Buffer;
  /** Of the same. */
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

/** What becomes a `RecordEvents` in the log. */
export interface RecordEncodedEvents {
  readonly type: 'record-encoded-events';
  /** Of the agent that sent them. */
  readonly key: ApiKey;
  readonly events: EncodedEvents;
  readonly idempotency?: Idempotency;
}

/** What may be submitted: a command, or one whose events are encoded already. */
export type Submission = Command | RecordEncodedEvents;

/** A command that is encoded already. The bytes are lent, and have room before it for the frame of its record. */
export interface EncodedCommand {
  readonly type: 'encoded-command';
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}
