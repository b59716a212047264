/**
 * What views need to know of a service, an alert or an agent: asked for when it is needed, kept current by the feed, and
 * forgotten when nobody looks at it any more. Of services that no view needs, no events are kept.
 */
import type { ForeshockClient } from '../client/client.ts';
import { ALERTS_PAGE } from './lists.ts';
import { type LoadKind, Loads } from './loads.ts';
import type { Alert, Delivery, Load, Past } from './model.ts';
import type { PageStore, Rows } from './store.ts';

export interface NeedsOptions {
  readonly store: PageStore;
  readonly client: () => ForeshockClient;
  readonly nowMs: () => number;
}

/** A service that no view has needed for this long is forgotten. */
const UNNEEDED_MS = 60_000;
/** Of a service at most: what goes first is what was received first. */
const MAX_EVENTS_OF_SERVICE = 12_000;
/** More than the server keeps of them. */
const MAX_ALERTS = 12_000;
const MAX_DELIVERIES = 12_000;
const PAGE = 100;
/** Of a service's event log, for one view of it. */
const PAGES_AT_ONCE = 20;
/** Events that were received so long before what is in view may reach into it. */
const REACH_MS = 6 * 3600 * 1000;

const NOTHING_PAST: Past = { oldestMs: undefined, before: null, pages: 0, isFull: false };

export class Needs {
  readonly #options: NeedsOptions;
  #loads: Loads;
  #onAlert: (id: string) => void = () => {};
  readonly #neededAtMs = new Map<string, number>();
  /** Services of which also what is over is needed. */
  readonly #pastNeededAtMs = new Map<string, number>();
  /** Of an event log so many pages are loaded, where it is not the usual. */
  readonly #pastPages = new Map<string, number>();
  /** Of alerts, the newest first, so many pages were asked for. */
  #alertPages = 1;

  constructor(options: NeedsOptions) {
    this.#options = options;
    this.#loads = new Loads({ ...options, signal: AbortSignal.abort() });
  }

  /**
   * @param signal aborted when nobody needs anything any more
   * @param onAlert told of alerts that were asked for, which no list may have
   */
  begin(signal: AbortSignal, onAlert: (id: string) => void): void {
    this.#onAlert = onAlert;
    this.#pastPages.clear();
    this.#loads = new Loads({ ...this.#options, signal });
    this.#neededAtMs.clear();
    this.#pastNeededAtMs.clear();
  }

  /** What is known may not be so any more: views that need it ask for it anew. */
  startOver(): void {
    const { store } = this.#options;
    store.together(() => {
      for (const table of ['events', 'deliveries', 'pasts', 'activity'] as const) store.clearTable(table);
      this.#loads.forgetAll();
    });
    this.#neededAtMs.clear();
    this.#pastNeededAtMs.clear();
    this.#alertPages = 1;
  }

  /** Whether the events of a service are kept. */
  hasService(id: string): boolean {
    return this.#neededAtMs.has(id);
  }

  /** What became of what was needed. */
  load(kind: LoadKind, id: string): Load | undefined {
    return this.#loads.of(kind, id);
  }

  /** What is live of a service. To be called for as long as a view shows it. */
  window(id: string): void {
    this.#neededAtMs.set(id, this.#options.nowMs());
    this.#loads.need(
      'window',
      id,
      (client, options) => client.showServiceContext(id, options),
      (window) =>
        this.#options.store.putEvents(
          id,
          Object.values(window).flatMap((group) => (Array.isArray(group) ? group : [])),
        ),
    );
  }

  /** What of a service has been and is over, as far back as `fromMs`. To be called for as long as a view shows it. */
  past(id: string, fromMs: number): void {
    this.window(id);
    this.#pastNeededAtMs.set(id, this.#options.nowMs());
    this.#loadPast(id, fromMs);
  }

  /** More of it than was needed so far. */
  older(id: string): void {
    this.#pastPages.set(id, (this.#options.store.get('pasts', id)?.pages ?? 0) + PAGES_AT_ONCE);
    this.#loadPast(id, Number.NEGATIVE_INFINITY);
  }

  /** The newest alerts of a service, whatever others there were. */
  alertsOf(service: { readonly id: string; readonly name: string }): void {
    const { store } = this.#options;
    this.#loads.need(
      'alerts',
      service.id,
      (client, options) => client.listAlerts({ service: service.name, per_page: PAGE }, options),
      ({ alerts }) => this.#addAlerts(alerts, store),
    );
  }

  /** An alert with its candidates and what was posted of it. */
  alert(id: string): void {
    const { store } = this.#options;
    const before = store.get('alerts', id);
    this.#loads.need(
      'alert',
      id,
      (client, options) => client.showAlert(id, options),
      (alert) => {
        // What the stream has told of it meanwhile is newer, and has no less.
        const now = store.get('alerts', id);
        putAlert(store, now === before || now?.candidates === undefined ? alert : now);
        this.#onAlert(id);
      },
    );
  }

  /** How busy an agent has been. */
  activity(id: string): void {
    const { store, nowMs } = this.#options;
    this.#loads.need(
      'activity',
      id,
      (client, options) => client.showAgent(id, { per_page: 10 }, options),
      ({ events_by_minute }) => store.putActivity(id, events_by_minute, nowMs()),
    );
  }

  /** What was sent through an integration. */
  deliveries(integrationId: string): void {
    this.#loads.need(
      'deliveries',
      integrationId,
      (client, options) => client.listDeliveries(integrationId, options),
      (deliveries) => {
        for (const delivery of deliveries) putDelivery(this.#options.store, delivery);
      },
    );
  }

  /** A page of alerts beyond those that are known. */
  olderAlerts(): void {
    const { store } = this.#options;
    if (this.#loads.of('older-alerts', '')?.state === 'loading') return;
    const page = this.#alertPages + 1;
    this.#loads.forget('older-alerts', '');
    this.#loads.need(
      'older-alerts',
      '',
      (client, options) => client.listAlerts({ per_page: ALERTS_PAGE, page }, options),
      ({ alerts, total }) => {
        this.#alertPages = page;
        store.setValue('alertsTotal', total);
        this.#addAlerts(alerts, store);
      },
    );
  }

  /** Forgets what nobody looks at any more. */
  prune(): void {
    const { store, nowMs } = this.#options;
    const now = nowMs();
    store.together(() => {
      for (const [id, neededAtMs] of this.#neededAtMs) {
        if (now - neededAtMs >= UNNEEDED_MS) this.#forgetService(id);
        else this.#pruneEvents(id, now);
      }
      pruneOldest(store, 'alerts', MAX_ALERTS, ({ status, started_at }) =>
        status === 'firing' ? '9' : started_at,
      );
      pruneOldest(store, 'deliveries', MAX_DELIVERIES, ({ updated_at }) => updated_at);
      store.forgetOldActivity(now);
    });
  }

  /** Page after page, until that is enough. */
  async #loadPast(id: string, fromMs: number): Promise<void> {
    const { store } = this.#options;
    const isEnough = () => {
      const { before, oldestMs = 0, pages, isFull } = store.get('pasts', id) ?? NOTHING_PAST;
      const most = this.#pastPages.get(id) ?? PAGES_AT_ONCE;
      return before === null || isFull || pages >= most || oldestMs < fromMs - REACH_MS;
    };
    while (store.get('pasts', id) === undefined || !isEnough()) {
      if (!this.#pastNeededAtMs.has(id)) return;
      // What is loaded is a page: the next is another.
      if (this.load('past', id)?.state === 'loaded') this.#loads.forget('past', id);
      const before = store.get('pasts', id)?.before;
      const query = { per_page: PAGE, ...(before != null && { before }) } as const;
      await this.#loads.need(
        'past',
        id,
        (client, options) => client.showServiceLog(id, query, options),
        ({ events, next_before }) => {
          const known = store.get('pasts', id) ?? NOTHING_PAST;
          store.putEvents(id, events);
          const oldest = events.at(-1)?.received_at;
          const oldestMs = oldest === undefined ? known.oldestMs : Date.parse(oldest);
          store.put('pasts', id, { ...known, oldestMs, before: next_before, pages: known.pages + 1 });
        },
      );
      // Somebody else sees to it, or it failed and is tried again when it is needed again.
      if (this.load('past', id)?.state !== 'loaded') return;
    }
  }

  /** Those that are not known: what is known the stream has kept current. */
  #addAlerts(alerts: readonly Alert[], store: PageStore): void {
    for (const alert of alerts) {
      if (store.get('alerts', alert.id) === undefined) putAlert(store, alert);
      this.#onAlert(alert.id);
    }
  }

  #pruneEvents(id: string, now: number): void {
    const { store } = this.#options;
    const events = store.where('eventsByService', id);
    const pastNeededAtMs = this.#pastNeededAtMs.get(id);
    const isPastNeeded = pastNeededAtMs !== undefined && now - pastNeededAtMs < UNNEEDED_MS;
    if (!isPastNeeded && pastNeededAtMs !== undefined) {
      this.#pastNeededAtMs.delete(id);
      this.#forgetPast(id);
    }
    for (const { key, untilMs } of events) {
      if (!isPastNeeded && untilMs <= now) store.delete('events', key);
    }
    if (events.length <= MAX_EVENTS_OF_SERVICE) return;
    const left = store.where('eventsByService', id).sort((a, b) => a.fromMs - b.fromMs);
    for (const { key } of left.slice(0, -MAX_EVENTS_OF_SERVICE)) store.delete('events', key);
    const past = store.get('pasts', id);
    const oldestMs = left.at(-MAX_EVENTS_OF_SERVICE)?.fromMs;
    if (past !== undefined)
      store.put('pasts', id, { ...past, oldestMs, before: past.before ?? '', isFull: true });
  }

  #forgetPast(id: string): void {
    this.#pastPages.delete(id);
    this.#options.store.delete('pasts', id);
    this.#loads.forget('past', id);
  }

  #forgetService(id: string): void {
    const { store } = this.#options;
    this.#neededAtMs.delete(id);
    this.#pastNeededAtMs.delete(id);
    this.#loads.forget('window', id);
    this.#forgetPast(id);
    for (const { key } of store.where('eventsByService', id)) store.delete('events', key);
  }
}

/** What is known of an alert, and of what was posted of it. */
export function putAlert(store: PageStore, alert: Alert): void {
  store.put('alerts', alert.id, alert);
  for (const delivery of alert.deliveries ?? []) putDelivery(store, delivery);
}

/** What came later is not overruled by what was asked for before. */
export function putDelivery(store: PageStore, delivery: Delivery): void {
  const known = store.get('deliveries', delivery.id);
  if (known === undefined || known.updated_at <= delivery.updated_at)
    store.put('deliveries', delivery.id, delivery);
}

/** Deletes the rows of a table that come first by `ageOf`, where there are too many. */
function pruneOldest<T extends 'alerts' | 'deliveries'>(
  store: PageStore,
  table: T,
  most: number,
  ageOf: (row: Rows[T]) => string,
): void {
  const rows = store.all(table);
  if (rows.length <= most) return;
  rows.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
  for (const { id } of rows.slice(0, rows.length - most)) store.delete(table, id);
}
