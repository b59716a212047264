/**
 * The hub: all who look on. What is applied is told a moment later, together with what came in that moment; whoever
 * has missed something is given it from the log, a little at a time. Where more comes than can be told in the time that
 * readers get, all of them read it from the log, and are as late as it takes; nobody misses anything.
 */
import type { Pipeline } from '../commands/pipeline.ts';
import type { State } from '../commands/state.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ApiKey } from '../domain/key.ts';
import { type Rejection, rateLimited, unavailable } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import type { LogWalk } from '../log/walk.ts';
import { CatchUps } from './catch-up.ts';
import { Deliveries } from './deliveries.ts';
import { type Delivery, Feed } from './feed.ts';
import type { StreamFilter } from './filter.ts';
import { Heartbeats } from './heartbeats.ts';
import { textOf } from './messages.ts';
import { type Connection, type Moment, type ReaderSocket, StreamReader } from './reader.ts';
import { formatPoint, type ResumePoint } from './resume-point.ts';
import { Turns, type TurnsOptions } from './turns.ts';

export interface HubOptions {
  readonly state: State;
  readonly pipeline: Pick<Pipeline, 'appliedSequence'>;
  readonly walk: (fromSequence: number) => LogWalk;
  /** The time that commands are stamped with. */
  readonly time: Pick<Clock, 'now'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly scheduler: Scheduler;
  readonly busyShare: TurnsOptions['busyShare'];
  readonly agentStaleAfterMs: number;
  readonly maxStreams: number;
  /** Of one tenant. */
  readonly maxStreamsTenant: number;
  /** What a reader was to be told could not be told: it is cut off, and may come back. */
  readonly onTrouble: (error: unknown) => void;
}

export interface StreamRequest {
  readonly key: ApiKey;
  readonly filter: StreamFilter;
  /** Where it goes on; null where it begins now. */
  readonly from: ResumePoint | null;
}

export interface StreamCounts {
  readonly open: number;
  /** Of those that are open: they are given what they missed, or do not read. */
  readonly behind: number;
  /** Since the process began. */
  readonly opened: number;
  readonly cutOff: number;
}

/** What is applied within it goes out together. */
const GATHER_MS = 50;
/** How long a reader that is cut off waits before it comes back. */
const RETRY_MS = 1000;

const TOO_MANY_OF_TENANT = rateLimited('too many streams of this account are open; close some');
const TOO_MANY = unavailable('too many streams are open; try again later');
const STOPPED = unavailable('the server is shutting down');

export class StreamHub {
  readonly #options: HubOptions;
  readonly #feeds = new Map<TenantId, Feed>();
  readonly #turns: Turns;
  readonly #catchUps: CatchUps;
  /** Their moment is over, and what was gathered in it is to be told. */
  readonly #news = new Set<Feed>();
  /** What was done last was to tell news. */
  #hasToldNews = false;
  readonly #deliveries = new Deliveries();
  readonly #heartbeats: Heartbeats;
  /** Streams that are open. */
  #count = 0;
  #opened = 0;
  #cutOff = 0;
  #stopped = false;

  constructor(options: HubOptions) {
    const { clock, scheduler, busyShare, walk } = options;
    this.#options = options;
    this.#turns = new Turns({ clock, scheduler, busyShare, step: () => this.#step() });
    this.#catchUps = new CatchUps(walk);
    this.#heartbeats = new Heartbeats(scheduler, (readers) => this.#beat(readers));
  }

  get counts(): StreamCounts {
    const live = [...this.#feeds.values()].reduce((sum, { liveCount }) => sum + liveCount, 0);
    return { open: this.#count, behind: this.#count - live, opened: this.#opened, cutOff: this.#cutOff };
  }

  /** Why a key can open no stream just now. */
  refusal({ tenantId }: ApiKey): Rejection | undefined {
    if (this.#stopped) return STOPPED;
    const ofTenant = this.#feeds.get(tenantId)?.readers.size ?? 0;
    if (ofTenant >= this.#options.maxStreamsTenant) return TOO_MANY_OF_TENANT;
    return this.#count >= this.#options.maxStreams ? TOO_MANY : undefined;
  }

  open({ key, filter, from }: StreamRequest, socket: ReaderSocket): Connection {
    const feed = this.#feedOf(key.tenantId);
    const told = this.#toldThrough(feed);
    const reader = new StreamReader(key, filter, from ?? { sequence: told + 1, taken: 0 }, socket);
    this.#count += 1;
    this.#opened += 1;
    feed.readers.add(reader);
    const stopBeating = this.#heartbeats.add(reader);
    this.#write(feed, reader, `retry: ${RETRY_MS}\nid: ${formatPoint(reader.point)}\n\n`);
    const { sequence } = reader.point;
    if (sequence === told + 1 && reader.point.taken === 0) feed.goLive(reader);
    else if (sequence > told) this.#reset(feed, reader, 'the server does not know that far');
    else this.#behind(feed, reader);
    return {
      drained: () => {
        reader.drained();
        feed.blocked.delete(reader);
        if (!reader.isLive) this.#behind(feed, reader);
      },
      gone: () => {
        reader.isGone = true;
        stopBeating();
        this.#forget(feed, reader);
      },
    };
  }

  /** Ends all streams; none can be opened any more. */
  stop(): void {
    this.#stopped = true;
    this.#turns.stop();
    for (const feed of [...this.#feeds.values()]) {
      for (const reader of [...feed.readers]) {
        reader.end();
        this.#forget(feed, reader);
      }
    }
  }

  #feedOf(tenantId: TenantId): Feed {
    const known = this.#feeds.get(tenantId);
    if (known !== undefined) return known;
    const tenant = this.#options.state.tenants.get(tenantId);
    if (tenant === undefined) throw new Error(`no tenant ${tenantId}, though a key is of it`);
    const feed = new Feed(tenant, (withNews) => {
      this.#options.scheduler.after(GATHER_MS, () => {
        if (this.#feeds.get(tenantId) !== withNews) return;
        this.#news.add(withNews);
        this.#turns.arm(0);
      });
    });
    this.#feeds.set(tenantId, feed);
    tenant.watcher = feed;
    return feed;
  }

  #toldThrough(feed: Feed): number {
    return feed.toldThrough(this.#options.pipeline.appliedSequence);
  }

  /** It has missed something, and is to be given it from the log, once it reads again. */
  #behind(feed: Feed, reader: StreamReader): void {
    if (reader.isBlocked || reader.isOwed || reader.isGone) return;
    this.#catchUps.join(reader, feed);
    this.#turns.arm(0);
  }

  /**
   * One step of what is to be done; false where nothing is left for now. News and what was missed take turns: where
   * one tenant has news all the time, others must not wait for it to fall silent.
   */
  #step(): boolean {
    const delivery = this.#deliveries.take();
    const [feed] = this.#news;
    if (delivery !== undefined) this.#give(delivery);
    else if (feed !== undefined && !(this.#hasToldNews && this.#catchUps.size > 0)) {
      this.#hasToldNews = true;
      this.#flush(feed);
    } else {
      this.#hasToldNews = false;
      this.#readNext();
    }
    return !this.#deliveries.isEmpty || this.#news.size > 0 || this.#catchUps.size > 0;
  }

  #give({ feed, reader, pieces, after }: Delivery): void {
    if (reader.isGone) return;
    const hasTakenAll = reader.give(pieces, this.#momentOf(feed));
    if (!hasTakenAll) feed.leaveLive(reader);
    else if (after !== undefined) reader.point = after;
    if (reader.isBlocked) feed.blocked.add(reader);
    if (!reader.isLive) this.#behind(feed, reader);
  }

  #flush(feed: Feed): void {
    this.#news.delete(feed);
    for (const reader of feed.revoked()) this.#cut(reader);
    try {
      this.#deliveries.fill(feed.flush(this.#messageOptions()));
    } catch (error) {
      // Nobody may go on as though it had been told.
      this.#options.onTrouble(error);
      for (const reader of [...feed.readers]) this.#cut(reader);
    }
    this.#cutOffBlocked(feed);
  }

  /** Reads the next chunk of those that have waited longest. */
  #readNext(): void {
    const next = this.#catchUps.take();
    if (next === undefined) return;
    const { catchUp, readers } = next;
    const { feed } = catchUp;
    let chunk: ReturnType<typeof catchUp.read>;
    try {
      chunk = catchUp.read(this.#toldThrough(feed), this.#messageOptions());
    } catch (error) {
      this.#options.onTrouble(error);
      catchUp.close();
      for (const reader of readers) this.#cut(reader);
      return;
    }
    if (chunk.type === 'lost') {
      catchUp.close();
      for (const reader of readers) this.#reset(feed, reader, 'what came after that id is not kept any more');
      return;
    }
    const { pieces, after, isThere } = chunk;
    if (isThere) for (const reader of readers) feed.goLive(reader);
    if (isThere) catchUp.close();
    else this.#catchUps.goOn(catchUp);
    this.#deliveries.fill(readers.map((reader) => ({ feed, reader, pieces, after })));
    this.#cutOffBlocked(feed);
  }

  /** It cannot be given what it missed: it is to load everything anew, and is told what comes from here on. */
  #reset(feed: Feed, reader: StreamReader, reason: string): void {
    reader.point = { sequence: this.#toldThrough(feed) + 1, taken: 0 };
    feed.goLive(reader);
    this.#write(feed, reader, textOf('reset', reader.point, JSON.stringify({ reason })));
  }

  #write(feed: Feed, reader: StreamReader, text: string): void {
    reader.write(Buffer.from(text), this.#momentOf(feed));
    if (reader.isBlocked) feed.blocked.add(reader);
  }

  /** Who does not read is not waited for: it comes back to where it was. */
  #cutOffBlocked(feed: Feed): void {
    const moment = this.#momentOf(feed);
    for (const reader of [...feed.blocked]) if (reader.isTooSlow(moment)) this.#cut(reader);
  }

  #cut(reader: StreamReader): void {
    this.#cutOff += 1;
    reader.cutOff();
  }

  #momentOf({ recordedBytes }: Feed): Moment {
    return { nowMs: this.#options.clock.monotonic(), recordedBytes };
  }

  #messageOptions() {
    const { state, time, agentStaleAfterMs } = this.#options;
    return { state, nowMs: time.now(), agentStaleAfterMs };
  }

  #forget(feed: Feed, reader: StreamReader): void {
    if (!feed.readers.has(reader)) return;
    this.#count -= 1;
    feed.readers.delete(reader);
    feed.blocked.delete(reader);
    feed.leaveLive(reader);
    this.#catchUps.leave(reader);
    if (feed.readers.size > 0) return;
    this.#feeds.delete(feed.tenant.id);
    this.#news.delete(feed);
    this.#catchUps.end(feed);
    feed.tenant.watcher = undefined;
  }

  /** Says that we are there, and how far everybody has come who has been told all. */
  #beat(readers: Iterable<StreamReader>): void {
    if (this.#stopped) return;
    for (const feed of [...this.#feeds.values()]) this.#cutOffBlocked(feed);
    for (const reader of readers) {
      if (reader.isBlocked || reader.isGone) continue;
      const feed = this.#feedOf(reader.key.tenantId);
      if (!reader.isLive || reader.isOwed) this.#write(feed, reader, ':\n\n');
      else {
        reader.point = { sequence: this.#toldThrough(feed) + 1, taken: 0 };
        this.#write(feed, reader, `:\nid: ${formatPoint(reader.point)}\n\n`);
      }
    }
  }
}
