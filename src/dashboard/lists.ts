/**
 * The lists that the page begins with, and takes anew where it has missed something. An overloaded server sheds them
 * before anything else: each is asked for by itself, and again until it comes.
 */
import { ForeshockError } from '../client/error.ts';
import { DEFAULT_RETRY, systemSleep, waitBeforeRetry } from '../client/retry.ts';
import type { CallOptions } from '../client/transport.ts';
import { api, RETRY } from './api.ts';
import { get, type Rows, replace } from './store.ts';

type ListName = 'services' | 'agents' | 'alerts' | 'integrations';

const LISTS: { readonly [Name in ListName]: (options: CallOptions) => Promise<readonly Rows[Name][]> } = {
  services: (options) => api().listServices(options),
  agents: (options) => api().listAgents(options),
  alerts: async (options) => {
    const { alerts } = await api().listAlerts({ per_page: 100 }, options);
    // Their candidates, where they are known already, are not in the list.
    return alerts.map((alert) => ({ ...get('alerts', alert.id), ...alert }));
  },
  integrations: (options) => api().listIntegrations(options),
};

const WAITS = { ...DEFAULT_RETRY, ...RETRY };

/** `connecting` until all have come once; `busy` where one was refused that is still to come. */
export type ListsState = 'connecting' | 'busy' | 'live';

export class Lists {
  readonly #signal: AbortSignal;
  readonly #onState: () => void;
  /** Those that are still to come, and how often each was asked for in vain. */
  readonly #asked = new Map<ListName, { failures: number }>();
  #haveCome = false;

  /** @param onState called whenever `state` may have changed, until the signal is aborted */
  constructor(signal: AbortSignal, onState: () => void) {
    this.#signal = signal;
    this.#onState = onState;
  }

  get state(): ListsState {
    if ([...this.#asked.values()].some(({ failures }) => failures > 0)) return 'busy';
    return this.#haveCome ? 'live' : 'connecting';
  }

  load(): void {
    this.ask('services');
    this.ask('agents');
    this.ask('alerts');
    this.ask('integrations');
  }

  /** Asks anew: what was asked before may not know of what has changed since. */
  async ask<Name extends ListName>(name: Name): Promise<void> {
    const signal = this.#signal;
    const asked = { failures: 0 };
    this.#asked.set(name, asked);
    this.#onState();
    while (this.#asked.get(name) === asked && !signal.aborted) {
      try {
        const rows = await LISTS[name]({ signal, retry: { attempts: 1 } });
        if (this.#asked.get(name) !== asked || signal.aborted) return;
        replace(name, rows);
        this.#asked.delete(name);
        this.#haveCome ||= this.#asked.size === 0;
        this.#onState();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ForeshockError)) throw error;
        asked.failures += 1;
        this.#onState();
        const waitMs = waitBeforeRetry(WAITS, asked.failures, error.retryAfterMs);
        await systemSleep(waitMs, signal).catch(() => {});
      }
    }
  }
}
