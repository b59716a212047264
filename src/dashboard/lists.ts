/**
 * The lists that the page begins with, and takes anew where it has missed something. An overloaded server sheds them
 * before anything else: each is asked for by itself, and again until it comes.
 *
 * The stream goes on meanwhile: what it has told of since a list was asked for is newer than what the list says of it.
 */
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import { DEFAULT_RETRY, type Sleep, systemSleep, waitBeforeRetry } from '../client/retry.ts';
import type { CallOptions } from '../client/transport.ts';
import type { Alert } from './model.ts';
import { WAITS } from './patience.ts';
import type { PageStore, Rows } from './store.ts';

export type ListName = 'services' | 'agents' | 'alerts' | 'integrations';

export interface ListsOptions {
  readonly store: PageStore;
  readonly client: () => ForeshockClient;
  readonly signal: AbortSignal;
  /** Called whenever `state` may have changed, until the signal is aborted. */
  readonly onState: () => void;
  readonly sleep?: Sleep;
}

/** Of alerts that do not fire any more, so many are known from the start. */
export const ALERTS_PAGE = 100;

/** `connecting` until all have come once; `busy` where one was refused that is still to come, `failed` where it broke. */
export type ListsState = 'connecting' | 'busy' | 'failed' | 'live';

interface Asked {
  failures: number;
  problem: ForeshockError | undefined;
  /** Ids that the stream has told of since. */
  readonly newer: Set<string>;
}

export class Lists {
  readonly #options: ListsOptions;
  /** Those that are still to come. */
  readonly #asked = new Map<ListName, Asked>();
  #haveCome = false;

  constructor(options: ListsOptions) {
    this.#options = options;
  }

  get state(): ListsState {
    const problems = [...this.#asked.values()].flatMap(({ problem }) => problem ?? []);
    if (problems.some(({ isServerAway, status }) => !isServerAway || status === 500)) return 'failed';
    if (problems.length > 0) return 'busy';
    return this.#haveCome ? 'live' : 'connecting';
  }

  /** What failed, and why; empty where nothing has. */
  get problem(): string {
    const failed = [...this.#asked].find(([, { problem }]) => problem !== undefined);
    return failed === undefined ? '' : `the ${failed[0]} could not be loaded: ${failed[1].problem?.detail}`;
  }

  load(): void {
    for (const name of ['services', 'agents', 'alerts', 'integrations'] as const) this.ask(name);
  }

  /** The stream has told of it. */
  touch(name: ListName, id: string): void {
    this.#asked.get(name)?.newer.add(id);
  }

  /** Asks anew: what was asked before may not know of what has changed since. */
  async ask(name: ListName): Promise<void> {
    const { signal, onState, sleep = systemSleep } = this.#options;
    const asked: Asked = { failures: 0, problem: undefined, newer: new Set() };
    const isWanted = () => this.#asked.get(name) === asked && !signal.aborted;
    this.#asked.set(name, asked);
    onState();
    while (isWanted()) {
      try {
        const take = await this.#fetch(name, { signal, retry: { attempts: 1 } });
        if (!isWanted()) return;
        take(asked.newer);
        this.#asked.delete(name);
        this.#haveCome ||= this.#asked.size === 0;
        onState();
      } catch (error) {
        if (signal.aborted) return;
        asked.failures += 1;
        asked.problem = error instanceof ForeshockError ? error : unreadable(name);
        onState();
        const waitMs = waitBeforeRetry(
          { ...DEFAULT_RETRY, ...WAITS },
          asked.failures,
          asked.problem.retryAfterMs,
        );
        await sleep(waitMs, signal).catch(() => {});
      }
    }
  }

  /** Answers how to take what came, given what is newer. */
  async #fetch(name: ListName, options: CallOptions): Promise<(newer: ReadonlySet<string>) => void> {
    const { store } = this.#options;
    const client = this.#options.client();
    const replacing =
      <Name extends ListName>(table: Name, rows: readonly (Rows[Name] & { readonly id: string })[]) =>
      (newer: ReadonlySet<string>) =>
        store.replace(table, rows, newer);
    switch (name) {
      case 'services':
        return replacing(name, await client.listServices(options));
      case 'agents':
        return replacing(name, await client.listAgents(options));
      case 'integrations':
        return replacing(name, await client.listIntegrations(options));
      case 'alerts': {
        const { alerts, total } = await client.listAlerts({ per_page: ALERTS_PAGE }, options);
        const rows = new Map<string, Alert>(alerts.map((alert) => [alert.id, alert]));
        // All that fires is known, however long ago it began.
        for await (const alert of client.alerts({ status: 'firing' }, options)) rows.set(alert.id, alert);
        return (newer) =>
          store.together(() => {
            store.setValue('alertsTotal', total);
            // Their candidates, where they are known already, are not in the list.
            store.replace(
              'alerts',
              [...rows.values()].map((alert) => ({ ...store.get('alerts', alert.id), ...alert })),
              newer,
            );
          });
      }
    }
  }
}

function unreadable(name: ListName): ForeshockError {
  const detail = 'the answer could not be understood';
  return new ForeshockError({ kind: 'unexpected', call: `GET /v1/${name}`, status: 500, title: '', detail });
}
