/**
 * The feed of one tenant: what is applied while somebody looks on, held for a moment, then told to all. A message is
 * made once for all who want the same, and goes out together with what came in the same moment.
 */
import type { RecordWatcher, Tenant } from '../commands/state.ts';
import type { EventType } from '../domain/event.ts';
import { isOfType } from '../log/command-codec.ts';
import type { LoggedRecord } from '../log/replay.ts';
import type { Traits } from './filter.ts';
import { type MessageOptions, tell } from './messages.ts';
import { Pieces } from './pieces.ts';
import type { Piece, StreamReader } from './reader.ts';
import type { ResumePoint } from './resume-point.ts';

export interface FeedOptions {
  /** There is something to tell. */
  readonly onNews: (feed: Feed) => void;
  /** A reader has missed something, and has to be given it from the log, once it reads again. */
  readonly onBehind: (reader: StreamReader) => void;
  readonly onCutOff: (reader: StreamReader) => void;
}

interface Pending {
  readonly stamp: LoggedRecord['stamp'];
  readonly position: LoggedRecord['position'];
  readonly start: number;
  readonly end: number;
  /** Of the tenant's events, as of this record. */
  readonly eventCount: number;
}

/** Readers who want the same. */
interface Channel {
  readonly readers: Set<StreamReader>;
  readonly pieces: Pieces;
  /** Some of them are told what comes as it comes: for the others it is read from the log. */
  isLive: boolean;
}

interface Delivery {
  readonly reader: StreamReader;
  readonly pieces: readonly Piece[];
}

const FIRST_BYTES = 64 * 1024;
/** More than this is not held: it is in the log, and read from there. */
const MAX_PENDING_BYTES = 512 * 1024;

export class Feed implements RecordWatcher {
  readonly tenant: Tenant;
  readonly readers = new Set<StreamReader>();
  readonly #options: FeedOptions;
  /** By service, then by event type; null for those who do not ask. */
  readonly #channels = new Map<string | null, Map<EventType | null, Channel>>();
  #pending: Pending[] = [];
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  /** Since the feed began. */
  #recordedBytes = 0;
  /** The first record that was not held because it was too much. */
  #overflowedAt: number | undefined;
  /** Of the tenant's events, as of the last record that was told. */
  #eventCount: number;

  constructor(tenant: Tenant, options: FeedOptions) {
    this.tenant = tenant;
    this.#options = options;
    this.#eventCount = tenant.eventCount;
  }

  applied({ stamp, position, bytes, start, end }: LoggedRecord): void {
    if (this.#pending.length === 0) this.#options.onNews(this);
    this.#recordedBytes += end - start;
    if (this.#overflowedAt !== undefined) return;
    const length = this.#length + end - start;
    if (length > MAX_PENDING_BYTES) {
      this.#overflowedAt = stamp.sequence;
      return;
    }
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    bytes.copy(this.#bytes, this.#length, start, end);
    const { eventCount } = this.tenant;
    this.#pending.push({ stamp, position, start: this.#length, end: length, eventCount });
    this.#length = length;
  }

  /** The last record that has been told, or that nobody is to be told of. */
  toldThrough(appliedSequence: number): number {
    const next = this.#pending[0]?.stamp.sequence ?? this.#overflowedAt;
    return next === undefined ? appliedSequence : next - 1;
  }

  add(reader: StreamReader): void {
    this.readers.add(reader);
    const { service, eventType } = reader.filter;
    let byType = this.#channels.get(service);
    if (byType === undefined) {
      byType = new Map();
      this.#channels.set(service, byType);
    }
    const channel = byType.get(eventType) ?? { readers: new Set(), pieces: new Pieces(), isLive: false };
    byType.set(eventType, channel);
    channel.readers.add(reader);
  }

  remove(reader: StreamReader): void {
    this.readers.delete(reader);
    const { service, eventType } = reader.filter;
    const byType = this.#channels.get(service);
    const channel = byType?.get(eventType);
    channel?.readers.delete(reader);
    if (channel?.readers.size === 0) byType?.delete(eventType);
    if (byType?.size === 0) this.#channels.delete(service);
  }

  /** Tells what has come: makes it into messages at once, then gives it to one reader a step. */
  *flush(options: MessageOptions): Generator<void, void> {
    const overflowedAt = this.#overflowedAt;
    const deliveries = this.#makeDeliveries(options);
    yield;
    for (const { reader, pieces } of deliveries) {
      reader.isOwed = false;
      if (reader.isGone) continue;
      if (!reader.give(pieces, options.nowMs)) reader.isLive = false;
      else if (overflowedAt !== undefined) reader.point = { sequence: overflowedAt, taken: 0 };
      if (!reader.isLive) this.#options.onBehind(reader);
      yield;
    }
    for (const reader of this.readers) {
      if (reader.missesTooMuch(this.#recordedBytes)) this.#options.onCutOff(reader);
    }
  }

  #makeDeliveries(options: MessageOptions): readonly Delivery[] {
    for (const channel of this.#everyChannel())
      channel.isLive = [...channel.readers].some(({ isLive }) => isLive);
    let targets: Channel[] = [];
    const sink = {
      wants: (traits: Traits) => {
        targets = this.#channelsOf(traits);
        return targets.length > 0;
      },
      take: (text: string, after: ResumePoint) => {
        for (const { pieces } of targets) pieces.add(text, after);
      },
    };
    for (const { stamp, position, start, end, eventCount } of this.#pending) {
      const record = { stamp, position, bytes: this.#bytes, start, end };
      tell(this.tenant, record, this.#eventCount + 1, 0, sink, options);
      this.#eventCount = eventCount;
      if (isOfType('revoke-key', record.bytes, start)) this.#endRevoked();
    }
    this.#pending = [];
    this.#length = 0;
    const isOverflowed = this.#overflowedAt !== undefined;
    this.#overflowedAt = undefined;
    if (isOverflowed) this.#eventCount = this.tenant.eventCount;
    const deliveries: Delivery[] = [];
    for (const channel of this.#everyChannel()) {
      const pieces = channel.pieces.take();
      if (pieces.length === 0 && !isOverflowed) continue;
      for (const reader of channel.readers) {
        if (!reader.isLive) continue;
        reader.isOwed = true;
        // What was too much to be held is not in the pieces: after them, it is read from the log.
        if (isOverflowed) reader.isLive = false;
        deliveries.push({ reader, pieces });
      }
    }
    return deliveries;
  }

  /** Whoever was let in with a key that is good no more. */
  #endRevoked(): void {
    for (const reader of this.readers) {
      if (this.tenant.keys.get(reader.key.id)?.revokedAtMs === null) continue;
      this.#options.onCutOff(reader);
    }
  }

  #channelsOf({ service, eventType }: Traits): Channel[] {
    const found: Channel[] = [];
    const look = (byType: Map<EventType | null, Channel> | undefined) => {
      const any = byType?.get(null);
      if (any?.isLive) found.push(any);
      const ofType = eventType === null ? undefined : byType?.get(eventType);
      if (ofType?.isLive) found.push(ofType);
    };
    look(this.#channels.get(null));
    if (service !== null) look(this.#channels.get(service));
    return found;
  }

  *#everyChannel(): Iterable<Channel> {
    for (const byType of this.#channels.values()) yield* byType.values();
  }
}
