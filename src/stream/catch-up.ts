/**
 * Reads from the log what readers have missed, a chunk at a time. Those who want the same from the same place on share
 * it: what all have missed because too much came at once is read, and made into messages, once.
 */
import { eventsIn, formsOf, isOfTenant } from '../log/command-codec.ts';
import type { LoggedRecord } from '../log/replay.ts';
import type { LogWalk } from '../log/walk.ts';
import type { Feed } from './feed.ts';
import { lets } from './filter.ts';
import { type MessageOptions, tell } from './messages.ts';
import { Pieces } from './pieces.ts';
import type { Piece, StreamReader } from './reader.ts';
import type { ResumePoint } from './resume-point.ts';

export type Chunk =
  | {
      readonly type: 'read';
      readonly pieces: readonly Piece[];
      /** Where a reader is once it has been given these. */
      readonly after: ResumePoint;
      /** That is where the others are. */
      readonly isThere: boolean;
    }
  /** What they missed is not kept any more. */
  | { readonly type: 'lost' };

export class CatchUp {
  readonly feed: Feed;
  /** They wait for the next chunk. */
  readonly readers = new Set<StreamReader>();
  readonly #first: StreamReader;
  readonly #walk: LogWalk;
  readonly #tenantForms: readonly Buffer[];
  #point: ResumePoint;
  /** Of the tenant, as of the last record; undefined until one tells. */
  #eventCount: number | undefined;

  constructor(reader: StreamReader, feed: Feed, walk: (fromSequence: number) => LogWalk) {
    this.feed = feed;
    this.#first = reader;
    this.#point = reader.point;
    this.#walk = walk(reader.point.sequence);
    this.#tenantForms = formsOf(feed.tenant.id);
  }

  /** Names what is read next, and for whom: who has the same can share it. */
  get name(): string {
    return catchUpName(this.#first, this.#point);
  }

  read(throughSequence: number, options: MessageOptions): Chunk {
    const pieces = new Pieces();
    const sink = {
      wants: (traits: Parameters<typeof lets>[1]) => lets(this.#first.filter, traits),
      take: (text: string, after: ResumePoint) => pieces.add(text, after),
    };
    const from = this.#point;
    let isLost = false;
    const walked = this.#walk.step(throughSequence, (record) => {
      const { sequence } = record.stamp;
      this.#point = { sequence: sequence + 1, taken: 0 };
      if (isLost || !isOfTenant(this.#tenantForms, record.bytes, record.start, record.end)) return;
      const count = eventsIn(record.bytes, record.start)?.count ?? 0;
      if (count > 0) this.#eventCount ??= this.#eventsBefore(record, options.nowMs);
      if (count > 0 && this.#eventCount === undefined) isLost = true;
      else {
        const skip = sequence === from.sequence ? from.taken : 0;
        tell(this.feed.tenant, record, (this.#eventCount ?? 0) + 1, skip, sink, options);
        if (this.#eventCount !== undefined) this.#eventCount += count;
      }
    });
    if (isLost || walked === 'gone') return { type: 'lost' };
    return { type: 'read', pieces: pieces.take(), after: this.#point, isThere: walked === 'done' };
  }

  close(): void {
    this.#walk.close();
  }

  /** The index of the agent's events knows their numbers, as long as they are kept. */
  #eventsBefore({ bytes, start, position }: LoggedRecord, nowMs: number): number | undefined {
    const agentId = eventsIn(bytes, start)?.agentId;
    const agent = agentId === undefined ? undefined : this.feed.tenant.agents.get(agentId);
    const first = agent?.history.firstNumberAt(position, nowMs);
    return first === undefined ? undefined : first - 1;
  }
}

function catchUpName({ key, filter }: StreamReader, { sequence, taken }: ResumePoint): string {
  return JSON.stringify([key.tenantId, filter.service, filter.eventType, sequence, taken]);
}

/** Those under way, in the order in which they are to go on. */
export class CatchUps {
  readonly #walk: (fromSequence: number) => LogWalk;
  readonly #byName = new Map<string, CatchUp>();
  readonly #ofReader = new Map<StreamReader, CatchUp>();

  constructor(walk: (fromSequence: number) => LogWalk) {
    this.#walk = walk;
  }

  /** Readers that wait. */
  get size(): number {
    return this.#ofReader.size;
  }

  join(reader: StreamReader, feed: Feed): void {
    if (this.#ofReader.has(reader)) return;
    const name = catchUpName(reader, reader.point);
    let catchUp = this.#byName.get(name);
    if (catchUp === undefined) {
      catchUp = new CatchUp(reader, feed, this.#walk);
      this.#byName.set(name, catchUp);
    }
    catchUp.readers.add(reader);
    this.#ofReader.set(reader, catchUp);
  }

  leave(reader: StreamReader): void {
    this.#ofReader.get(reader)?.readers.delete(reader);
    this.#ofReader.delete(reader);
  }

  /** The one that has waited longest, with its readers; they are to join again. */
  take(): { readonly catchUp: CatchUp; readonly readers: readonly StreamReader[] } | undefined {
    for (const [name, catchUp] of this.#byName) {
      this.#byName.delete(name);
      if (catchUp.readers.size === 0) catchUp.close();
      else {
        const readers = [...catchUp.readers];
        for (const reader of readers) this.leave(reader);
        return { catchUp, readers };
      }
    }
    return undefined;
  }

  /** It goes on from where it has come to. */
  goOn(catchUp: CatchUp): void {
    const { name } = catchUp;
    if (this.#byName.has(name)) catchUp.close();
    else this.#byName.set(name, catchUp);
  }

  /** Nobody reads this feed any more. */
  end(feed: Feed): void {
    for (const [name, catchUp] of this.#byName) {
      if (catchUp.feed !== feed) continue;
      this.#byName.delete(name);
      catchUp.close();
    }
  }
}
