/** What the page knows, whatever the order in which lists, windows, logs and the stream come: what the server has. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ForeshockClient } from '../../src/client/client.ts';
import { ForeshockError } from '../../src/client/error.ts';
import type { StreamMessage, StreamOptions } from '../../src/client/stream.ts';
import type { StoredEvent } from '../../src/client/wire.ts';
import { Feed } from '../../src/dashboard/feed.ts';
import type { Alert } from '../../src/dashboard/model.ts';
import { Needs } from '../../src/dashboard/needs.ts';
import { PageStore } from '../../src/dashboard/store.ts';

const NOW_MS = Date.parse('2026-10-02T14:00:00Z');
const SERVICES = ['s-0', 's-1'];
const ALERTS = ['a-0', 'a-1'];
/** It does not fire, and came long before those that a list has. */
const OLD_ALERT = 'a-old';
const PER_PAGE = 2;

type ServerEvent = StoredEvent & { readonly agent_id: string; readonly service_id: string };

const NO_EVENTS = {
  restart_events: [],
  saturation_events: [],
  flag_change_events: [],
  circuit_open_events: [],
  dependency_failure_events: [],
  updated_at: '',
};

const ONE_PAGE = { page: 1, per_page: 100, total_pages: 1, filter_service: null, filter_status: null };

const BROKEN = new ForeshockError({ kind: 'refused', call: '', status: 500, title: '', detail: 'broken' });

/** A server of which every answer waits until it is let through, with what was so when it was asked. */
class SlowServer {
  readonly events: ServerEvent[] = [];
  readonly alerts = new Map<string, Alert>();
  readonly #answers: (() => void)[] = [];
  /** What it answers now is an error. */
  isBroken = false;
  nowMs = NOW_MS;
  #push: (messages: readonly StreamMessage[]) => void = () => {};
  #isOpen: ((isResumed: boolean) => void) | undefined;
  #sequence = 0;

  get waiting(): number {
    return this.#answers.length;
  }

  /** Lets one of the answers through, and whoever waits for it have a turn. */
  async answer(which: number): Promise<void> {
    this.#answers.splice(which % Math.max(1, this.#answers.length), 1)[0]?.();
    await turns();
  }

  async tell(type: 'event' | 'alert' | 'reset', data: unknown): Promise<void> {
    this.#sequence += 1;
    this.#push([{ type, id: String(this.#sequence), data } as StreamMessage]);
    await turns();
  }

  open(): void {
    this.#isOpen?.(false);
  }

  client(): ForeshockClient {
    const services = () => {
      const last = new Map(this.events.map((event) => [event.service_id, event]));
      return [...last].map(([id, event]) => ({
        ...{ id, tenant_id: 't', name: id, agent_id: event.agent_id },
        last_event_at: event.timestamp,
      }));
    };
    const alerts = (status?: string) =>
      [...this.alerts.values()].filter(
        (alert) => alert.id !== OLD_ALERT && (status === undefined || alert.status === status),
      );
    const ofService = (id: string) => this.events.filter(({ service_id }) => service_id === id);
    const fake = {
      listServices: () => this.#later(services),
      listAgents: () => this.#later(() => []),
      listIntegrations: () => this.#later(() => []),
      listAlerts: () => this.#later(() => ({ ...ONE_PAGE, alerts: alerts(), total: this.alerts.size })),
      alerts: async function* ({ status }: { status: string }) {
        yield* alerts(status);
      },
      showServiceContext: (id: string) =>
        this.#later(() => ({
          service: id,
          ...NO_EVENTS,
          // As a window tells of them: without ids, receipts and agents.
          deploy_events: ofService(id)
            .filter(({ expires_at }) => Date.parse(expires_at) > this.nowMs)
            .map(({ id: _, received_at: __, agent_id: ___, service_name: ____, ...told }) => told),
        })),
      showServiceLog: (id: string, { before }: { readonly before?: string }) =>
        this.#later(() => {
          const log = ofService(id).reverse();
          const from = before === undefined ? 0 : log.findIndex((event) => event.id === before) + 1;
          const page = log.slice(from, from + PER_PAGE);
          const isMore = from + PER_PAGE < log.length;
          return { events: page, per_page: PER_PAGE, next_before: isMore ? (page.at(-1)?.id ?? null) : null };
        }),
      showAlert: (id: string) => this.#later(() => ({ ...this.alerts.get(id), candidates: [] })),
      streamChunks: (options: StreamOptions) => this.#stream(options),
    };
    return fake as Partial<ForeshockClient> as ForeshockClient;
  }

  #later<T>(make: () => T): Promise<T> {
    const answer = make();
    return new Promise((resolve, reject) =>
      this.#answers.push(() => (this.isBroken ? reject(BROKEN) : resolve(answer))),
    );
  }

  async *#stream({
    onOpen,
    signal,
  }: StreamOptions): AsyncGenerator<readonly StreamMessage[], never, undefined> {
    const queue: (readonly StreamMessage[])[] = [];
    let wake = () => {};
    this.#isOpen = onOpen;
    this.#push = (messages) => {
      queue.push(messages);
      wake();
    };
    signal?.addEventListener('abort', () => wake());
    for (;;) {
      signal?.throwIfAborted();
      const next = queue.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      of: fc.nat(1),
      same: fc.boolean(),
      isShort: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('alert' as const), of: fc.nat(1), fires: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), of: fc.nat(7) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('need' as const), of: fc.nat(1), past: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reset' as const), misses: fc.boolean(), of: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('time' as const), seconds: fc.nat(120) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), of: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const), of: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('open-alert' as const) }) },
);

describe('what the page knows', () => {
  it('is what the server has, in whatever order it was told', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 70 }), async (steps) => {
        const server = new SlowServer();
        const store = new PageStore();
        const client = server.client();
        const options = {
          store,
          client: () => client,
          nowMs: () => server.nowMs,
          sleep: async () => turns(),
        };
        const needs = new Needs(options);
        const feed = new Feed({ ...options, needs });
        const needed = new Map<string, boolean>();
        let count = 0;
        const record = (service: string, isSame: boolean, isShort: boolean) => {
          count += 1;
          // Some agree on all but their ids.
          const value = isSame ? 'same' : `v${count}`;
          const at = new Date(server.nowMs).toISOString();
          const event: ServerEvent = {
            ...{ id: `e-${count}`, service_id: service, service_name: service, agent_id: 'agent' },
            ...{ vendor: 'argocd', entity: service, event_type: 'deploy', old_value: null, new_value: value },
            ...{ actor: null, sha: null, confidence: 1, ttl_seconds: 3600 },
            timestamp: at,
            received_at: at,
            expires_at: new Date(Date.parse(at) + (isShort ? 20_000 : 86_400_000)).toISOString(),
          };
          server.events.push(event);
          return event;
        };
        /** As a view does, again and again. */
        const look = () => {
          for (const [id, isPast] of needed) isPast ? needs.past(id, 0) : needs.window(id);
          if (server.alerts.has(OLD_ALERT)) needs.alert(OLD_ALERT);
        };
        feed.begin(() => {});
        await turns();
        server.open();
        await turns();
        for (const each of steps) {
          switch (each.do) {
            case 'event':
              await server.tell('event', record(SERVICES[each.of] ?? '', each.same, each.isShort));
              break;
            case 'alert': {
              const id = ALERTS[each.of] ?? '';
              const status = each.fires ? 'firing' : 'resolved';
              const alert = { id, status, service_id: null, integration_id: 'i' } as Partial<Alert> as Alert;
              server.alerts.set(id, alert);
              await server.tell('alert', alert);
              break;
            }
            case 'answer':
              await server.answer(each.of);
              break;
            case 'need':
              needed.set(SERVICES[each.of] ?? '', each.past);
              break;
            case 'reset':
              // What came meanwhile the stream does not tell.
              if (each.misses) record(SERVICES[each.of] ?? '', false, false);
              await server.tell('reset', {});
              break;
            case 'time':
              server.nowMs += each.seconds * 1000;
              needs.prune();
              break;
            case 'leave':
              needed.delete(SERVICES[each.of] ?? '');
              break;
            case 'break':
              server.isBroken = true;
              await server.answer(each.of);
              server.isBroken = false;
              break;
            case 'open-alert':
              server.alerts.set(OLD_ALERT, {
                ...{ id: OLD_ALERT, status: 'resolved', service_id: null, integration_id: 'i' },
              } as Partial<Alert> as Alert);
              break;
          }
          look();
          await turns();
        }
        for (let left = 400; left > 0; left -= 1) {
          await server.answer(0);
          // What failed is asked for again after a while.
          if (server.waiting === 0 && left > 20) left = 20;
          if (server.waiting === 0) server.nowMs += 1000;
          look();
          await turns();
        }
        const known = {
          services: store.all('services').map(({ id }) => id),
          alerts: store.all('alerts').map(({ id, status }) => [id, status]),
          firing: store.count('alertsByStatus', 'firing'),
        };
        const alerts = [...server.alerts.values()];
        expect({ ...known, services: known.services.sort(), alerts: known.alerts.sort() }).toEqual({
          services: [...new Set(server.events.map(({ service_id }) => service_id))].sort(),
          alerts: alerts.map(({ id, status }) => [id, status]).sort(),
          firing: alerts.filter(({ status }) => status === 'firing').length,
        });
        for (const [id, isPast] of needed) {
          const told = server.events.filter(({ service_id }) => service_id === id);
          const events = store.where('eventsByService', id);
          const values = (
            of: readonly { readonly new_value: string | null; readonly expires_at: string }[],
          ) => of.map(({ new_value, expires_at }) => `${new_value} ${expires_at}`).sort();
          if (isPast) expect(values(events)).toEqual(values(told));
          else {
            // A window tells of no ids: what is the same in all else may be one that the stream has told of.
            const live = (
              of: readonly { readonly new_value: string | null; readonly expires_at: string }[],
            ) => [...new Set(values(of.filter(({ expires_at }) => Date.parse(expires_at) > server.nowMs)))];
            expect(live(events)).toEqual(live(told));
          }
          expect(needs.load('window', id)?.state).toBe('loaded');
        }
        feed.end();
        expect(store.all('events')).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });
});
