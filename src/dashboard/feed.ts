/** Keeps the store as the server is: lists first, then what the stream tells. */
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import { type Sleep, systemSleep } from '../client/retry.ts';
import type { StreamMessage } from '../client/stream.ts';
import { Lists } from './lists.ts';
import { type Needs, putAlert, putDelivery } from './needs.ts';
import type { PageStore } from './store.ts';

export interface FeedOptions {
  readonly store: PageStore;
  readonly needs: Needs;
  readonly client: () => ForeshockClient;
  readonly nowMs: () => number;
  readonly sleep?: Sleep;
  /** Told of what is thrown for no failure of the server's. */
  readonly onMistake?: (error: unknown) => void;
}

type OnRefused = (status: number, detail: string) => void;
type EventMessage = Extract<StreamMessage, { type: 'event' }>['data'];

const PRUNE_EVERY_MS = 10_000;
const PAUSE_MS = 8000;

/** What there is of a session that ends when the key is forgotten. */
interface Session {
  readonly abort: AbortController;
  /** Ends with the connection. */
  connection: AbortController;
  readonly lists: Lists;
  readonly onRefused: OnRefused;
  isOpen: boolean;
  /** Where the stream goes on. */
  lastEventId: string | undefined;
}

export class Feed {
  readonly #options: FeedOptions;
  #session: Session | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Begins. `onRefused` is told where the server does not take the key. */
  begin(onRefused: OnRefused): void {
    this.end();
    const { store, needs, client } = this.#options;
    const abort = new AbortController();
    const { signal } = abort;
    const show = () => this.#showState();
    const session: Session = {
      abort,
      connection: new AbortController(),
      lists: new Lists({ store, client, signal, onState: show, ...this.#sleepOption() }),
      onRefused,
      isOpen: false,
      lastEventId: undefined,
    };
    this.#session = session;
    needs.begin(signal, (id) => session.lists.touch('alerts', id));
    store.setValue('connection', 'connecting');
    this.#follow(session);
    const timer = setInterval(() => needs.prune(), PRUNE_EVERY_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  end(): void {
    this.#session?.abort.abort();
    this.#session?.connection.abort();
    this.#session = undefined;
    this.#options.store.clear();
  }

  /** Does not wait for the time at which a lost connection is tried again. */
  reconnect(): void {
    const session = this.#session;
    if (session === undefined || session.isOpen) return;
    session.connection.abort();
    session.connection = new AbortController();
    this.#follow(session);
  }

  async reloadIntegrations(): Promise<void> {
    await this.#session?.lists.ask('integrations');
  }

  #sleepOption(): Pick<FeedOptions, 'sleep'> {
    return this.#options.sleep === undefined ? {} : { sleep: this.#options.sleep };
  }

  async #follow(session: Session): Promise<void> {
    const { client, store, sleep = systemSleep } = this.#options;
    const { signal } = session.connection;
    const onOpen = (isResumed: boolean) => {
      session.isOpen = true;
      if (!isResumed) this.#startOver();
      this.#showState();
    };
    const onLost = () => {
      if (session.isOpen || store.text('connection') !== 'lost') {
        store.setValue('lostAtMs', this.#options.nowMs());
      }
      session.isOpen = false;
      this.#showState();
    };
    while (!signal.aborted) {
      try {
        const { lastEventId } = session;
        const place = lastEventId === undefined ? {} : { lastEventId };
        for await (const messages of client().streamChunks({ signal, onOpen, onLost, ...place })) {
          store.together(() => {
            for (const message of messages) this.take(message);
          });
          session.lastEventId = messages.at(-1)?.id ?? session.lastEventId;
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ForeshockError && (error.status === 401 || error.status === 403)) {
          return session.onRefused(error.status, error.detail);
        }
        // Whatever it was, also a mistake of ours: what is shown may not be what is, until all of it is asked for anew.
        if (!(error instanceof ForeshockError)) this.#options.onMistake?.(error);
        session.lastEventId = undefined;
        onLost();
        await sleep(PAUSE_MS, signal).catch(() => {});
      }
    }
  }

  #showState(): void {
    const session = this.#session;
    if (session === undefined || session.abort.signal.aborted) return;
    const { store } = this.#options;
    store.setValue('problem', session.lists.problem);
    store.setValue('connection', session.isOpen ? session.lists.state : 'lost');
  }

  #startOver(): void {
    this.#options.needs.startOver();
    this.#session?.lists.load();
  }

  /** What the stream says. */
  take(message: StreamMessage): void {
    const { store } = this.#options;
    const lists = this.#session?.lists;
    switch (message.type) {
      case 'event':
        this.#takeEvent(message.data);
        break;
      case 'agent':
        lists?.touch('agents', message.data.id);
        store.put('agents', message.data.id, { ...store.get('agents', message.data.id), ...message.data });
        break;
      case 'heartbeat':
        this.#seen(message.data.agent_id, message.data.last_seen_at);
        break;
      case 'alert':
        lists?.touch('alerts', message.data.id);
        if (store.get('alerts', message.data.id) === undefined) {
          store.setValue('alertsTotal', store.number('alertsTotal') + 1);
        }
        putAlert(store, { ...store.get('alerts', message.data.id), ...message.data });
        break;
      case 'delivery':
        putDelivery(store, message.data);
        break;
      case 'integration':
        lists?.ask('integrations');
        break;
      case 'reset':
        this.#startOver();
        break;
    }
  }

  #takeEvent(event: EventMessage): void {
    const { store, needs } = this.#options;
    const { service_id: id, service_name: name, agent_id, timestamp, received_at } = event;
    const known = store.get('services', id);
    const before = known?.last_event_at;
    const last_event_at = before !== undefined && before > timestamp ? before : timestamp;
    this.#session?.lists.touch('services', id);
    store.put('services', id, {
      ...known,
      tenant_id: known?.tenant_id ?? '',
      id,
      name,
      agent_id,
      last_event_at,
    });
    if (needs.hasService(id)) store.putEvents(id, [event]);
    this.#seen(agent_id, received_at);
    store.countEvent(agent_id, Date.parse(received_at));
  }

  #seen(agentId: string, last_seen_at: string): void {
    const { store } = this.#options;
    const agent = store.get('agents', agentId);
    if (agent === undefined) return;
    this.#session?.lists.touch('agents', agentId);
    store.put('agents', agentId, { ...agent, last_seen_at, status: 'live' });
  }
}
