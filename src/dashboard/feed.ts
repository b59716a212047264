/** Keeps the store as the server is: lists first, then what the stream tells. */
import { ForeshockError } from '../client/error.ts';
import type { StreamMessage } from '../client/stream.ts';
import { api, patiently, quietly } from './api.ts';
import { Lists } from './lists.ts';
import type { Alert, Service } from './model.ts';
import { clear, eventsOf, get, prune, put, putEvent, replace, setValue, together } from './store.ts';

const PRUNE_EVERY_MS = 30_000;
const PAUSE_MS = 8000;

let session = new AbortController();
const loadedServices = new Set<string>();
const loadedAgents = new Set<string>();

/** Begins, with the key that is stored. `onRefused` is told where the server does not take it. */
export function begin(onRefused: (status: number, detail: string) => void): void {
  end();
  setValue('connection', 'connecting');
  const { signal } = session;
  follow(signal, onRefused);
  const timer = setInterval(prune, PRUNE_EVERY_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function follow(signal: AbortSignal, onRefused: Parameters<typeof begin>[0]): Promise<void> {
  let isOpen = false;
  const lists = new Lists(signal, show);
  function show(): void {
    setValue('connection', isOpen ? lists.state : 'lost');
  }
  const onOpen = (isResumed: boolean) => {
    isOpen = true;
    if (!isResumed) loadAll(lists);
    show();
  };
  const onLost = () => {
    isOpen = false;
    show();
  };
  while (!signal.aborted) {
    try {
      const chunks = api().streamChunks({ signal, onOpen, onLost });
      for await (const messages of chunks) {
        together(() => {
          for (const message of messages) take(message, lists);
        });
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ForeshockError)) throw error;
      const { status, detail } = error;
      if (status === 401 || status === 403) return onRefused(status, detail);
      onLost();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

export function end(): void {
  session.abort();
  session = new AbortController();
  loadedServices.clear();
  loadedAgents.clear();
  clear();
}

function loadAll(lists: Lists): void {
  loadedServices.clear();
  loadedAgents.clear();
  lists.load();
}

export async function loadIntegrations(): Promise<void> {
  replace('integrations', await api().listIntegrations());
}

function take(message: StreamMessage, lists: Lists): void {
  switch (message.type) {
    case 'event':
      takeEvent(message.data);
      break;
    case 'agent':
      put('agents', message.data.id, { ...get('agents', message.data.id), ...message.data });
      break;
    case 'heartbeat':
      seen(message.data.agent_id, message.data.last_seen_at);
      break;
    case 'alert':
      putAlert({ ...get('alerts', message.data.id), ...message.data });
      break;
    case 'delivery':
      put('deliveries', message.data.id, message.data);
      break;
    case 'integration':
      lists.ask('integrations');
      break;
    case 'reset':
      loadAll(lists);
      break;
  }
}

function takeEvent(event: Extract<StreamMessage, { type: 'event' }>['data']): void {
  const { service_id: id, service_name: name, agent_id, timestamp } = event;
  const before = get('services', id)?.last_event_at;
  const last_event_at = before !== undefined && before > timestamp ? before : timestamp;
  put('services', id, { id, name, agent_id, last_event_at });
  putEvent(id, event);
  seen(agent_id, event.received_at);
}

function seen(agentId: string, last_seen_at: string): void {
  const agent = get('agents', agentId);
  if (agent !== undefined) put('agents', agentId, { ...agent, last_seen_at, status: 'live' });
}

function putAlert(alert: Alert): void {
  put('alerts', alert.id, alert);
  for (const delivery of alert.deliveries ?? []) put('deliveries', delivery.id, delivery);
}

/** What is live of a service, once. */
export async function needService(id: string): Promise<void> {
  if (loadedServices.has(id)) return;
  loadedServices.add(id);
  const window = await quietly((client, options) => client.showServiceContext(id, options));
  if (window === undefined) return void loadedServices.delete(id);
  together(() => {
    for (const group of Object.values(window)) {
      if (Array.isArray(group)) for (const event of group) putEvent(id, event);
    }
  });
}

/** Of an agent's event log, a hundred events each. */
const HISTORY_PAGES = 10;

/** What of a service has been and is over, and when what is live was received: a window does not tell. */
export async function needHistory(service: Service): Promise<void> {
  const agents = new Set([service.agent_id, ...eventsOf(service.id).map(({ agent_id }) => agent_id)]);
  for (const agentId of agents) {
    const name = `${service.id} ${agentId}`;
    if (agentId === undefined || loadedAgents.has(name)) continue;
    loadedAgents.add(name);
    for (let number = 1, pages = 1; number <= Math.min(pages, HISTORY_PAGES); number += 1) {
      const query = { service: service.name, per_page: 100, page: number } as const;
      const page = await quietly((client, options) => client.showAgent(agentId, query, options));
      if (page === undefined) break;
      pages = page.total_pages;
      together(() => {
        for (const event of page.events) putEvent(service.id, { ...event, agent_id: agentId });
      });
    }
  }
}

/** An alert with its candidates and what was posted of it. */
export async function needAlert(id: string): Promise<void> {
  const alert = await patiently((client, options) => client.showAlert(id, options));
  if (alert !== undefined) together(() => putAlert(alert));
}
