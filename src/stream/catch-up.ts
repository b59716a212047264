/** Gives one reader what it missed, from the log, a chunk at a time, until it has come to where the others are. */
import { eventsIn, isOfTenant } from '../log/command-codec.ts';
import type { LoggedRecord } from '../log/replay.ts';
import type { LogWalk } from '../log/walk.ts';
import type { Feed } from './feed.ts';
import { type MessageOptions, tell } from './messages.ts';
import { Pieces } from './pieces.ts';
import type { StreamReader } from './reader.ts';
import type { ResumePoint } from './resume-point.ts';

export type CaughtUp =
  /** There is more to give. */
  | 'more'
  /** It has been given all that was told. */
  | 'done'
  /** It does not read: from where it is now, another catch-up goes on. */
  | 'blocked'
  /** What it missed is not kept any more. */
  | 'lost';

export class CatchUp {
  readonly reader: StreamReader;
  readonly #feed: Feed;
  readonly #walk: LogWalk;
  readonly #from: ResumePoint;
  readonly #tenantId: Buffer;
  /** Of the tenant, as of the last record; undefined until one tells. */
  #eventCount: number | undefined;

  constructor(reader: StreamReader, feed: Feed, walk: (fromSequence: number) => LogWalk) {
    this.reader = reader;
    this.#feed = feed;
    this.#from = reader.point;
    this.#walk = walk(reader.point.sequence);
    this.#tenantId = Buffer.from(feed.tenant.id);
  }

  step(throughSequence: number, options: MessageOptions): CaughtUp {
    const { reader } = this;
    const pieces = new Pieces();
    const sink = {
      wants: (traits: Parameters<StreamReader['wants']>[0]) => reader.wants(traits),
      take: (text: string, after: ResumePoint) => pieces.add(text, after),
    };
    let isLost = false;
    let last: number | undefined;
    const walked = this.#walk.step(throughSequence, (record) => {
      last = record.stamp.sequence;
      if (isLost || !isOfTenant(this.#tenantId, record.bytes, record.start, record.end)) return;
      const { tenant } = this.#feed;
      const count = eventsIn(record.bytes, record.start)?.count ?? 0;
      if (count > 0) this.#eventCount ??= this.#eventsBefore(record, options.nowMs);
      if (count > 0 && this.#eventCount === undefined) isLost = true;
      else {
        const skip = last === this.#from.sequence ? this.#from.taken : 0;
        tell(tenant, record, (this.#eventCount ?? 0) + 1, skip, sink, options);
        if (this.#eventCount !== undefined) this.#eventCount += count;
      }
    });
    if (isLost || walked === 'gone') return 'lost';
    if (!reader.give(pieces.take(), options.nowMs)) return 'blocked';
    if (last !== undefined) reader.point = { sequence: last + 1, taken: 0 };
    return walked;
  }

  close(): void {
    this.#walk.close();
  }

  /** The index of the agent's events knows their numbers, as long as they are kept. */
  #eventsBefore({ bytes, start, position }: LoggedRecord, nowMs: number): number | undefined {
    const agentId = eventsIn(bytes, start)?.agentId;
    const agent = agentId === undefined ? undefined : this.#feed.tenant.agents.get(agentId);
    const first = agent?.history.firstNumberAt(position, nowMs);
    return first === undefined ? undefined : first - 1;
  }
}
