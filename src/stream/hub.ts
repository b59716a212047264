/**
 * The hub: all who look on. What is applied is told a moment later, together with what came in that moment; whoever
 * has missed something is given it from the log, a little at a time. Both take short turns, and rest several times as
 * long: whoever looks on must not keep those who report from reporting.
 */
import type { Pipeline } from '../commands/pipeline.ts';
import type { State } from '../commands/state.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ApiKey } from '../domain/key.ts';
import { type Rejection, unavailable } from '../domain/rejection.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import type { LogWalk } from '../log/walk.ts';
import { CatchUp } from './catch-up.ts';
import { Feed } from './feed.ts';
import type { StreamFilter } from './filter.ts';
import { textOf } from './messages.ts';
import { type ReaderSocket, StreamReader } from './reader.ts';
import { formatPoint, type ResumePoint } from './resume-point.ts';

export interface HubOptions {
  readonly state: State;
  readonly pipeline: Pick<Pipeline, 'appliedSequence'>;
  readonly walk: (fromSequence: number) => LogWalk;
  /** The time that commands are stamped with. */
  readonly time: Pick<Clock, 'now'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly scheduler: Scheduler;
  readonly agentStaleAfterMs: number;
  readonly maxStreams: number;
  /** What a reader was to be told could not be told: it is cut off, and may come back. */
  readonly onTrouble: (error: unknown) => void;
}

export interface StreamRequest {
  readonly key: ApiKey;
  readonly filter: StreamFilter;
  /** Where it goes on; null where it begins now. */
  readonly from: ResumePoint | null;
}

/** What the connection of a reader tells of. */
export interface Connection {
  drained(): void;
  gone(): void;
}

/** What is applied within it goes out together. */
const GATHER_MS = 50;
/** How long a turn takes, but for its last step. */
const TURN_MS = 2;
/**
 * A turn is followed by so many times its length without one. Catching up is over some time, and takes more until then:
 * after a restart all come back at once, and want to know.
 */
const REST_AFTER_TELLING = 10;
const REST_AFTER_CATCHING_UP = 3;
const SECOND_MS = 1000;
/** Every reader hears something so often, so that no proxy takes it for dead. */
const HEARTBEAT_SECONDS = 15;
/** How long a reader that is cut off waits before it comes back. */
const RETRY_MS = 1000;

const TOO_MANY = unavailable('too many streams are open; try again later');
const STOPPED = unavailable('the server is shutting down');

export class StreamHub {
  readonly #options: HubOptions;
  readonly #feeds = new Map<TenantId, Feed>();
  readonly #news = new Set<Feed>();
  #telling: { readonly feed: Feed; readonly steps: Generator<void, void> } | undefined;
  readonly #catchUps = new Map<StreamReader, CatchUp>();
  /** By the second of the heartbeat's round in which they hear of us. */
  readonly #rounds = Array.from({ length: HEARTBEAT_SECONDS }, () => new Set<StreamReader>());
  #opened = 0;
  #count = 0;
  #isArmed = false;
  #isSweeping = false;
  #second = 0;
  #stopped = false;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  /** Why no stream can be opened just now. */
  refusal(): Rejection | undefined {
    if (this.#stopped) return STOPPED;
    return this.#count >= this.#options.maxStreams ? TOO_MANY : undefined;
  }

  open({ key, filter, from }: StreamRequest, socket: ReaderSocket): Connection {
    const feed = this.#feedOf(key.tenantId);
    const told = this.#toldThrough(feed);
    const reader = new StreamReader(key, filter, from ?? { sequence: told + 1, taken: 0 }, socket);
    this.#count += 1;
    this.#opened += 1;
    this.#roundOf(this.#opened).add(reader);
    const round = this.#roundOf(this.#opened);
    feed.add(reader);
    if (!this.#isSweeping) this.#sweepLater();
    this.#write(reader, `retry: ${RETRY_MS}\nid: ${formatPoint(reader.point)}\n\n`);
    const { sequence } = reader.point;
    if (sequence === told + 1 && reader.point.taken === 0) reader.isLive = true;
    else if (sequence > told) this.#reset(feed, reader, 'the server does not know that far');
    else this.#behind(feed, reader);
    return {
      drained: () => {
        reader.drained();
        if (!reader.isLive) this.#behind(feed, reader);
      },
      gone: () => {
        reader.isGone = true;
        round.delete(reader);
        this.#forget(feed, reader);
      },
    };
  }

  /** Ends all streams; none can be opened any more. */
  stop(): void {
    this.#stopped = true;
    for (const feed of [...this.#feeds.values()]) {
      for (const reader of [...feed.readers]) {
        reader.end();
        this.#forget(feed, reader);
      }
    }
    for (const round of this.#rounds) round.clear();
  }

  #feedOf(tenantId: TenantId): Feed {
    const known = this.#feeds.get(tenantId);
    if (known !== undefined) return known;
    const tenant = this.#options.state.tenants.get(tenantId);
    if (tenant === undefined) throw new Error(`no tenant ${tenantId}, though a key is of it`);
    const feed: Feed = new Feed(tenant, {
      onNews: () => {
        this.#news.add(feed);
        this.#arm(GATHER_MS);
      },
      onBehind: (reader) => this.#behind(feed, reader),
      onCutOff: (reader) => reader.cutOff(),
    });
    this.#feeds.set(tenantId, feed);
    tenant.watcher = feed;
    return feed;
  }

  #toldThrough(feed: Feed): number {
    return feed.toldThrough(this.#options.pipeline.appliedSequence);
  }

  #roundOf(number: number): Set<StreamReader> {
    const round = this.#rounds[number % HEARTBEAT_SECONDS];
    if (round === undefined) throw new Error('a round for every second');
    return round;
  }

  #behind(feed: Feed, reader: StreamReader): void {
    if (reader.isBlocked || reader.isOwed || reader.isGone || this.#catchUps.has(reader)) return;
    this.#catchUps.set(reader, new CatchUp(reader, feed, this.#options.walk));
    this.#arm(0);
  }

  #arm(delayMs: number): void {
    if (this.#isArmed || this.#stopped) return;
    this.#isArmed = true;
    this.#options.scheduler.after(delayMs, () => {
      this.#isArmed = false;
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    const startMs = clock.monotonic();
    let nowMs = startMs;
    let restMs = 0;
    do {
      const sinceMs = nowMs;
      const told = this.#tellNext();
      if (!told) this.#catchUpNext();
      nowMs = clock.monotonic();
      restMs += (nowMs - sinceMs) * (told ? REST_AFTER_TELLING : REST_AFTER_CATCHING_UP);
    } while (this.#hasWork && nowMs - startMs < TURN_MS);
    if (this.#hasWork) this.#arm(restMs);
    else if (restMs > GATHER_MS) this.#arm(restMs);
  }

  get #hasWork(): boolean {
    return this.#telling !== undefined || this.#news.size > 0 || this.#catchUps.size > 0;
  }

  /** One step of telling what has come; false where there is nothing to tell. */
  #tellNext(): boolean {
    if (this.#telling === undefined) {
      const [feed] = this.#news;
      if (feed === undefined) return false;
      this.#news.delete(feed);
      this.#telling = { feed, steps: feed.flush(this.#messageOptions()) };
    }
    const { feed, steps } = this.#telling;
    try {
      if (steps.next().done) this.#telling = undefined;
    } catch (error) {
      // Nobody may go on as though it had been told.
      this.#telling = undefined;
      this.#options.onTrouble(error);
      for (const reader of [...feed.readers]) reader.cutOff();
    }
    return true;
  }

  /** One step for the reader that has waited longest. */
  #catchUpNext(): void {
    const [next] = this.#catchUps;
    if (next === undefined) return;
    const [reader, catchUp] = next;
    this.#catchUps.delete(reader);
    const feed = this.#feedOf(reader.key.tenantId);
    let result: ReturnType<CatchUp['step']>;
    try {
      result = catchUp.step(this.#toldThrough(feed), this.#messageOptions());
    } catch (error) {
      this.#options.onTrouble(error);
      catchUp.close();
      return reader.cutOff();
    }
    if (result === 'more' && !reader.isBlocked) {
      this.#catchUps.set(reader, catchUp);
      return;
    }
    catchUp.close();
    if (result === 'lost') this.#reset(feed, reader, 'what came after that id is not kept any more');
    else if (result === 'done') reader.isLive = true;
  }

  /** It cannot be given what it missed: it is to load everything anew, and is told what comes from here on. */
  #reset(feed: Feed, reader: StreamReader, reason: string): void {
    reader.point = { sequence: this.#toldThrough(feed) + 1, taken: 0 };
    reader.isLive = true;
    this.#write(reader, textOf('reset', reader.point, JSON.stringify({ reason })));
  }

  #write(reader: StreamReader, text: string): void {
    reader.write(Buffer.from(text), this.#options.clock.monotonic());
  }

  #messageOptions() {
    const { state, time, agentStaleAfterMs } = this.#options;
    return { state, nowMs: time.now(), agentStaleAfterMs };
  }

  #forget(feed: Feed, reader: StreamReader): void {
    if (!feed.readers.has(reader)) return;
    this.#count -= 1;
    feed.remove(reader);
    this.#catchUps.get(reader)?.close();
    this.#catchUps.delete(reader);
    if (feed.readers.size > 0) return;
    this.#feeds.delete(feed.tenant.id);
    this.#news.delete(feed);
    feed.tenant.watcher = undefined;
  }

  #sweepLater(): void {
    this.#isSweeping = this.#count > 0 && !this.#stopped;
    if (this.#isSweeping) this.#options.scheduler.after(SECOND_MS, () => this.#sweep());
  }

  /** Says that we are there, and how far everybody has come who has been told all. */
  #sweep(): void {
    this.#second += 1;
    const nowMs = this.#options.clock.monotonic();
    for (const reader of this.#roundOf(this.#second)) {
      if (reader.hangs(nowMs)) reader.cutOff();
      else if (reader.isBlocked) continue;
      else if (!reader.isLive || reader.isOwed) this.#write(reader, ':\n\n');
      else {
        const feed = this.#feedOf(reader.key.tenantId);
        reader.point = { sequence: this.#toldThrough(feed) + 1, taken: 0 };
        this.#write(reader, `:\nid: ${formatPoint(reader.point)}\n\n`);
      }
    }
    this.#sweepLater();
  }
}
