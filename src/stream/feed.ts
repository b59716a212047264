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

interface Pending {
  readonly stamp: LoggedRecord['stamp'];
  readonly position: LoggedRecord['position'];
  readonly start: number;
  readonly end: number;
  /** Of the tenant's events, as of this record. */
  readonly eventCount: number;
}

/** Readers who want the same, and are told of it as it comes. */
interface Channel {
  readonly readers: Set<StreamReader>;
  readonly pieces: Pieces;
}

/** What has been made for a reader, to be given to it before anything else. */
export interface Delivery {
  readonly feed: Feed;
  readonly reader: StreamReader;
  readonly pieces: readonly Piece[];
  /** Where it is once it has been given them; undefined where the last of them says so. */
  readonly after: ResumePoint | undefined;
}

const FIRST_BYTES = 64 * 1024;
/** More than this is not held: it is in the log, and read from there. */
const MAX_PENDING_BYTES = 256 * 1024;

export class Feed implements RecordWatcher {
  readonly tenant: Tenant;
  readonly readers = new Set<StreamReader>();
  /** They have been written more than they read. */
  readonly blocked = new Set<StreamReader>();
  readonly #onNews: (feed: Feed) => void;
  /** By service, then by event type; null for those who do not ask. */
  readonly #channels = new Map<string | null, Map<EventType | null, Channel>>();
  #liveCount = 0;
  #pending: Pending[] = [];
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #recordedBytes = 0;
  /** The first record that was not held because it was too much. */
  #overflowedAt: number | undefined;
  /** Of the tenant's events, as of the last record that was told. */
  #eventCount = 0;
  #isKeyRevoked = false;

  /** @param onNews there is something to tell */
  constructor(tenant: Tenant, onNews: (feed: Feed) => void) {
    this.tenant = tenant;
    this.#onNews = onNews;
  }

  /** Since the feed began. */
  get recordedBytes(): number {
    return this.#recordedBytes;
  }

  /** Readers who are told what comes as it comes. */
  get liveCount(): number {
    return this.#liveCount;
  }

  applied({ stamp, position, bytes, start, end }: LoggedRecord): void {
    this.#recordedBytes += end - start;
    if (isOfType('revoke-key', bytes, start)) {
      this.#isKeyRevoked = true;
      this.#onNews(this);
    }
    // Who has missed something reads it from the log: where nobody is told as it comes, nothing is held.
    if (this.#liveCount === 0 || this.#overflowedAt !== undefined) return;
    if (this.#pending.length === 0) this.#onNews(this);
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

  /** From here on it is told what comes as it comes; it must have been given, or be owed, all before. */
  goLive(reader: StreamReader): void {
    if (reader.isLive || reader.isGone) return;
    reader.isLive = true;
    if (this.#liveCount === 0) this.#eventCount = this.tenant.eventCount;
    this.#liveCount += 1;
    const { service, eventType } = reader.filter;
    let byType = this.#channels.get(service);
    if (byType === undefined) {
      byType = new Map();
      this.#channels.set(service, byType);
    }
    const channel = byType.get(eventType) ?? { readers: new Set(), pieces: new Pieces() };
    byType.set(eventType, channel);
    channel.readers.add(reader);
  }

  /** It misses what comes from here on. */
  leaveLive(reader: StreamReader): void {
    if (!reader.isLive) return;
    reader.isLive = false;
    this.#liveCount -= 1;
    if (this.#liveCount === 0) this.#dropPending();
    const { service, eventType } = reader.filter;
    const byType = this.#channels.get(service);
    const channel = byType?.get(eventType);
    channel?.readers.delete(reader);
    if (channel?.readers.size === 0) byType?.delete(eventType);
    if (byType?.size === 0) this.#channels.delete(service);
  }

  /** Makes what has come into messages, for those who are told as it comes. */
  flush(options: MessageOptions): readonly Delivery[] {
    this.#makeMessages(options);
    const overflowedAt = this.#overflowedAt;
    const after = overflowedAt === undefined ? undefined : { sequence: overflowedAt, taken: 0 };
    const deliveries: Delivery[] = [];
    for (const byType of this.#channels.values()) {
      for (const channel of byType.values()) {
        const pieces = channel.pieces.take();
        if (pieces.length === 0 && after === undefined) continue;
        for (const reader of channel.readers) deliveries.push({ feed: this, reader, pieces, after });
      }
    }
    this.#dropPending();
    // What was too much to be held is not in the pieces: after them, it is read from the log.
    if (after !== undefined) for (const { reader } of deliveries) this.leaveLive(reader);
    return deliveries;
  }

  /** Those who were let in with a key that is good no more, where one has been revoked since it was asked before. */
  revoked(): readonly StreamReader[] {
    if (!this.#isKeyRevoked) return [];
    this.#isKeyRevoked = false;
    return [...this.readers].filter(({ key }) => this.tenant.keys.get(key.id)?.revokedAtMs !== null);
  }

  #makeMessages(options: MessageOptions): void {
    let targets: readonly Channel[] = [];
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
    }
  }

  #channelsOf({ service, eventType }: Traits): readonly Channel[] {
    const found: Channel[] = [];
    const look = (byType: Map<EventType | null, Channel> | undefined) => {
      const any = byType?.get(null);
      if (any !== undefined) found.push(any);
      const ofType = eventType === null ? undefined : byType?.get(eventType);
      if (ofType !== undefined) found.push(ofType);
    };
    look(this.#channels.get(null));
    if (service !== null) look(this.#channels.get(service));
    return found;
  }

  #dropPending(): void {
    this.#pending = [];
    this.#length = 0;
    this.#overflowedAt = undefined;
  }
}
