/**
 * What is asked for when a view needs it, once: and what became of that, so that a view can tell what is not there from
 * what is only not there yet.
 */
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import type { CallOptions } from '../client/transport.ts';
import type { Load } from './model.ts';
import type { PageStore } from './store.ts';

export type LoadKind = 'window' | 'past' | 'alerts' | 'alert' | 'activity' | 'deliveries' | 'older-alerts';
export type Call<T> = (client: ForeshockClient, options: CallOptions) => Promise<T>;

export interface LoadsOptions {
  readonly store: PageStore;
  readonly client: () => ForeshockClient;
  readonly nowMs: () => number;
  /** Aborted when nobody waits for anything any more. */
  readonly signal: AbortSignal;
}

/** Others have their turn meanwhile. */
const AT_ONCE = 4;
/** What failed is asked for again after that, where it is still needed. */
const REST_MS = 10_000;

export class Loads {
  readonly #options: LoadsOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  /** What is on its way, by its name: what comes for another is of no use any more. */
  readonly #wanted = new Map<string, object>();

  constructor(options: LoadsOptions) {
    this.#options = options;
  }

  of(kind: LoadKind, id: string): Load | undefined {
    return this.#options.store.get('loads', nameOf(kind, id));
  }

  /** Asks, unless it is known, or on its way, or failed a moment ago. However long a busy server needs. */
  async need<T>(kind: LoadKind, id: string, call: Call<T>, take: (answer: T) => void): Promise<void> {
    const { store, nowMs } = this.#options;
    const known = this.of(kind, id);
    const isDue = known === undefined || (known.state === 'failed' && nowMs() - known.endedAtMs >= REST_MS);
    if (isDue) await this.#load(nameOf(kind, id), call, (answer) => store.together(() => take(answer)));
  }

  /** It is to be asked for anew, when it is needed again. */
  forget(kind: LoadKind, id: string): void {
    this.#wanted.delete(nameOf(kind, id));
    this.#options.store.delete('loads', nameOf(kind, id));
  }

  forgetAll(): void {
    this.#wanted.clear();
    this.#options.store.clearTable('loads');
  }

  async #load<T>(name: string, call: Call<T>, take: (answer: T) => void): Promise<void> {
    const { store, client, nowMs, signal } = this.#options;
    const mine = {};
    this.#wanted.set(name, mine);
    const isWanted = () => !signal.aborted && this.#wanted.get(name) === mine;
    const tell = (state: Load['state'], detail = '') =>
      store.put('loads', name, { state, detail, endedAtMs: nowMs() });
    tell('loading');
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      if (!isWanted()) return;
      const answer = await call(client(), {
        signal,
        retry: { attempts: Number.POSITIVE_INFINITY },
        deadlineMs: Number.POSITIVE_INFINITY,
      });
      if (!isWanted()) return;
      take(answer);
      tell('loaded');
    } catch (error) {
      if (!isWanted()) return;
      if (!(error instanceof ForeshockError)) throw error;
      tell(error.status === 404 ? 'missing' : 'failed', error.detail);
    } finally {
      if (this.#wanted.get(name) === mine) this.#wanted.delete(name);
      this.#running -= 1;
      // What is asked for last is what somebody looks at now.
      this.#waiting.pop()?.();
    }
  }
}

function nameOf(kind: LoadKind, id: string): string {
  return `${kind} ${id}`;
}
