import type { Command, Idempotency } from './command.ts';
import type { ApiKey } from './key.ts';

/** Events as the log writes them, made from a request without ever being objects. The bytes are lent. */
export interface EncodedEvents {
  readonly count: number;
  readonly bytes: Buffer;
  /** Of the same. */
  readonly view: DataView;
  /** Used of `bytes`, from its start. */
  readonly lengthBytes: number;
}

/** What becomes a `RecordEvents` in the log. */
export interface RecordEncodedEvents {
  readonly type: 'record-encoded-events';
  /** Of the agent that sent them. To be asked whether it has registered is one look less than to be looked up is. */
  readonly key: ApiKey;
  readonly events: EncodedEvents;
  readonly idempotency?: Idempotency;
}

/** What may be submitted: a command, or one whose events are encoded already. */
export type Submission = Command | RecordEncodedEvents;
