/**
 * Overload: refusing some requests early, so that the others are answered in time (load shedding).
 *
 * What waits for this process waits in the sockets, where nobody can count it: a turn of the event loop reads what has
 * come on every connection and answers it, and the next turn finds what came meanwhile. So a turn that takes long *is*
 * the queue, and a timer that comes late has measured it. A turn can also be so long that the timer does not come at
 * all (256 connections with a thousand pipelined requests each), so requests look at the clock too: those that are
 * dear to answer each time, the others now and then.
 *
 * As CoDel does (Nichols and Jacobson, ACM Queue 2012), only a delay that stands counts: late once, for a garbage
 * collection, is late once; late for PATIENCE_MS, with many requests and without a moment of rest, is more work than
 * there is time for, and raises the pressure. (A process that other programs keep from the processor is late as well,
 * and rests.)
 *
 * Pressure n sheds all requests of the ranks below n, and of rank n its fraction: 1.25 is every list and a quarter of
 * the batches. The ranks begin with what is dear to answer and cheap to refuse. A single event comes near the end: to
 * refuse one costs half of taking it, so that shedding them helps only because who is refused waits before it asks
 * again. Where each caller waits for its answer, `--max-connections` bounds that queue far better than we can.
 */
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import type { RouteLine } from './route.ts';

/** In the order in which they are shed. */
export const SHED_CLASSES = ['list', 'batch', 'read', 'write', 'webhook'] as const;
export type ShedClass = (typeof SHED_CLASSES)[number];

const FIRST_WRITES = SHED_CLASSES.indexOf('write');

const TICK_MS = 20;
/** A burst is worked through in less, and refused nothing. */
const PATIENCE_MS = 500;
const PATIENCE_REQUESTS = 64;
const INTERVAL_MS = 100;
/** A share of the time in which there was nothing to do: with more of it, the work is not what makes it late. */
const MOST_REST = 0.1;
/** In an interval above the target, what is taken of a class is divided by how far above, within these … */
const LEAST_CUT = 1.1;
const MOST_CUT = 2;
/** … until so little of it is taken that the next class has to help; and in one below, so much more is taken. */
const LEAST_TAKEN = 0.05;
const FALL = 0.03;
/** And so much more where there was nothing to do all the time: the overload is over. */
const FALL_AT_REST = 0.5;
/**
 * Single writes are shed from so many times the delay on. To refuse one costs half of taking it; and where ten thousand
 * agents wait for their answers, each of them waits for ten thousand others, and is still better off with an answer.
 */
const WRITES_FROM = 4;

/** What a route is shed as; undefined where it never is: who watches a server has to see that it is overloaded. */
export function shedClassOf({ method, path, access }: RouteLine): ShedClass | undefined {
  if (access === 'public') return undefined;
  if (access === 'webhook-token') return 'webhook';
  if (method === 'GET') return path.includes('/:') ? 'read' : 'list';
  return path.endsWith('/batch') ? 'batch' : 'write';
}

/** Of requests that cost less than looking at the clock does in comparison, every 64th looks. */
const SELDOM_MASK = 63;

/** Decides for the requests of one class. */
export class ShedGate {
  readonly #overload: Overload;
  readonly #rank: number;
  readonly #mask: number;
  shed = 0;
  #count = 0;
  #owed = 0;

  constructor(overload: Overload, name: ShedClass) {
    this.#overload = overload;
    this.#rank = SHED_CLASSES.indexOf(name);
    this.#mask = name === 'write' || name === 'webhook' ? SELDOM_MASK : 0;
  }

  /** Whether this request is to be refused: evenly, as many as the pressure says. */
  get sheds(): boolean {
    this.#count = (this.#count + 1) & this.#mask;
    if (this.#count === 0) this.#overload.look(this.#rank, this.#mask + 1);
    const fraction = this.#overload.pressure - this.#rank;
    if (fraction <= 0) return false;
    this.#owed += Math.min(1, fraction);
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    this.shed += 1;
    return true;
  }
}

export interface OverloadOptions {
  /** The delay that may stand; 0: nothing is ever shed. */
  readonly targetMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** How long the event loop has rested, since any moment. */
  readonly idleMs: () => number;
  /** Connections that are open. */
  readonly connections: () => number;
}

/**
 * Of more sockets than this libuv asks again up to 48 times before it looks at its timers, so that a late timer says
 * less: no request need have waited as long. Then what counts is how long it takes to answer every connection once.
 */
const SOCKETS_AT_ONCE = 1024;

export class Overload {
  readonly #options: OverloadOptions;
  readonly #targetMs: number;
  readonly gates: ReadonlyMap<ShedClass, ShedGate>;
  /** 0 where all is well, at most the number of classes. */
  pressure = 0;
  /** Since when the delay has been above the target, and below it: one of them. */
  #above = false;
  #sinceMs = 0;
  #longestMs = 0;
  #idleBeforeMs = 0;
  /** Since the last change, the first class of which a request has looked. */
  #lowestSeen = 0;
  /** Since the delay has been on this side of the target. */
  #requests = 0;
  /** Since the timer was set. */
  #sinceDue = 0;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(options: OverloadOptions) {
    this.#options = options;
    this.#targetMs = options.targetMs;
    this.gates = new Map(SHED_CLASSES.map((name) => [name, new ShedGate(this, name)]));
  }

  /** Watches the event loop from now on, for as long as the process lives. */
  watch(scheduler: Scheduler): void {
    if (this.#targetMs === 0) return;
    this.#dueMs = this.#options.clock.monotonic() + TICK_MS;
    this.#sinceDue = 0;
    scheduler.after(TICK_MS, () => {
      this.#observe(SHED_CLASSES.length);
      this.watch(scheduler);
    });
  }

  /**
   * A request of this rank comes, the last of so many, while the timer may be overdue. It raises the pressure on its own class and those
   * before it alone: what else has to be shed is seen when the timer comes.
   */
  look(rank: number, requests: number): void {
    if (this.#targetMs === 0) return;
    this.#requests += requests;
    this.#sinceDue += requests;
    this.#lowestSeen = Math.min(this.#lowestSeen, rank);
    this.#observe(rank + 1);
  }

  #observe(mostPressure: number): void {
    const nowMs = this.#options.clock.monotonic();
    // Of a timer that is still to come nothing is known.
    if (nowMs < this.#dueMs) return;
    const delayMs = this.#delayAt(nowMs);
    const above = delayMs > this.#targetMs;
    if (above !== this.#above) {
      this.#above = above;
      this.#requests = 0;
      this.#begin(nowMs);
    }
    this.#longestMs = Math.max(this.#longestMs, delayMs);
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < INTERVAL_MS) return;
    const begins = above && this.pressure === 0;
    if (begins && (elapsedMs < PATIENCE_MS || this.#requests < PATIENCE_REQUESTS)) return;
    const rest = (this.#options.idleMs() - this.#idleBeforeMs) / elapsedMs;
    const most = this.#longestMs < WRITES_FROM * this.#targetMs ? FIRST_WRITES : SHED_CLASSES.length;
    if (above && rest <= MOST_REST && this.pressure <= most)
      this.pressure = Math.max(this.pressure, Math.min(most, mostPressure, this.#raised()));
    else this.pressure = Math.max(0, this.pressure - FALL - FALL_AT_REST * rest);
    this.#begin(nowMs);
  }

  #delayAt(nowMs: number): number {
    const lateMs = nowMs - this.#dueMs;
    const connections = this.#options.connections();
    if (connections <= SOCKETS_AT_ONCE || this.#sinceDue <= connections) return lateMs;
    return (lateMs * connections) / this.#sinceDue;
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#idleBeforeMs = this.#options.idleMs();
    this.#longestMs = 0;
    this.#lowestSeen = SHED_CLASSES.length;
  }

  #raised(): number {
    // Of classes that do not come, nothing is to be had by shedding them.
    if (this.#lowestSeen === SHED_CLASSES.length) return this.pressure;
    const from = Math.max(this.pressure, this.#lowestSeen);
    const rank = Math.floor(from);
    const cut = Math.min(MOST_CUT, Math.max(LEAST_CUT, this.#longestMs / this.#targetMs));
    const taken = (rank + 1 - from) / cut;
    return Math.min(SHED_CLASSES.length, taken < LEAST_TAKEN ? rank + 1 : rank + 1 - taken);
  }
}
