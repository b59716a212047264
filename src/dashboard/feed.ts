/** Keeps the store as the server is: lists first, then what the stream tells. */
import { ApiError, call, callQuietly } from './api.ts';
import type { Agent, Alert, EventFields, Integration, Service } from './model.ts';
import { clear, eventsOf, get, prune, put, putEvent, replace, setValue, together } from './store.ts';
import { readStream, type StreamMessage } from './stream.ts';

const PRUNE_EVERY_MS = 30_000;

let stop = () => {};
const loadedServices = new Set<string>();
const loadedAgents = new Set<string>();

/** Begins, with the key that is stored. `onRefused` is told where the server does not take it. */
export function begin(onRefused: (status: number, detail: string) => void): void {
  end();
  setValue('connection', 'connecting');
  const stopStream = readStream({
    onOpen: (isNew) => {
      setValue('connection', 'live');
      if (isNew) load().catch(() => setValue('connection', 'lost'));
    },
    onMessages: (messages) => together(() => messages.forEach(take)),
    onLost: () => setValue('connection', 'lost'),
    onRefused,
  });
  const timer = setInterval(prune, PRUNE_EVERY_MS);
  stop = () => {
    stopStream();
    clearInterval(timer);
  };
}

export function end(): void {
  stop();
  stop = () => {};
  loadedServices.clear();
  loadedAgents.clear();
  clear();
}

async function load(): Promise<void> {
  loadedServices.clear();
  loadedAgents.clear();
  const [services, agents, { alerts }, integrations] = await Promise.all([
    call<Service[]>('/v1/services'),
    call<Agent[]>('/v1/agents'),
    call<{ alerts: Alert[] }>('/v1/alerts?per_page=100'),
    call<Integration[]>('/v1/integrations'),
  ]);
  together(() => {
    replace('services', services);
    replace('agents', agents);
    // Their candidates, where they are known already, are not in the list.
    replace(
      'alerts',
      alerts.map((alert) => ({ ...get('alerts', alert.id), ...alert })),
    );
    replace('integrations', integrations);
  });
}

export async function loadIntegrations(): Promise<void> {
  replace('integrations', await call<Integration[]>('/v1/integrations'));
}

function take({ name, data }: StreamMessage): void {
  const said = JSON.parse(data);
  switch (name) {
    case 'event':
      takeEvent(said);
      break;
    case 'agent':
      put('agents', said.id, { ...get('agents', said.id), ...said });
      break;
    case 'heartbeat':
      seen(said.agent_id, said.last_seen_at);
      break;
    case 'alert':
      putAlert({ ...get('alerts', said.id), ...said });
      break;
    case 'delivery':
      put('deliveries', said.id, said);
      break;
    case 'integration':
      loadIntegrations().catch(() => {});
      break;
    case 'reset':
      load().catch(() => setValue('connection', 'lost'));
      break;
  }
}

function takeEvent(
  event: EventFields & { service_id: string; service_name: string; agent_id: string; received_at: string },
): void {
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
  const window = await callQuietly<Record<string, unknown>>(`/v1/services/${id}/context`);
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
      const query = new URLSearchParams({ service: service.name, per_page: '100', page: String(number) });
      const page = await callQuietly<LogPage>(`/v1/agents/${agentId}?${query}`);
      if (page === undefined) break;
      pages = page.total_pages;
      together(() => {
        for (const event of page.events) putEvent(service.id, { ...event, agent_id: agentId });
      });
    }
  }
}

interface LogPage {
  readonly events: readonly EventFields[];
  readonly total_pages: number;
}

/** An alert with its candidates and what was posted of it. */
export async function needAlert(id: string): Promise<void> {
  try {
    const alert = await call<Alert>(`/v1/alerts/${encodeURIComponent(id)}`);
    together(() => putAlert(alert));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
