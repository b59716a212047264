/**
 * What views need to know of a service, an alert or an agent: asked for when it is needed, kept current by the feed, and
 * forgotten when nobody looks at it any more. Of services that no view needs, no events are kept.
 */
import type { ForeshockClient } from '../client/client.ts';
import { ALERTS_PAGE } from './lists.ts';
import { type LoadKind, Loads } from './loads.ts';
import type { Alert, Load } from './model.ts';
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

export class Needs {
  readonly #options: NeedsOptions;
  #loads: Loads;
  readonly #neededAtMs = new Map<string, number>();
  /** Services of which also what is over is needed. */
  readonly #pastNeededAtMs = new Map<string, number>();
  /** Of alerts, the newest first, so many pages were asked for. */
  #alertPages = 1;

  constructor(options: NeedsOptions) {
    this.#options = options;
    this.#loads = new Loads({ ...options, signal: AbortSignal.abort() });
  }

  /** @param signal aborted when nobody needs anything any more */
  begin(signal: AbortSignal): void {
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
    const { store } = this.#options;
    const past = store.get('pasts', id);
    if (past !== undefined && (past.before === null || (past.oldestMs ?? 0) < fromMs - REACH_MS)) return;
    if (past === undefined) this.#loadPast(id, fromMs, PAGES_AT_ONCE);
  }

  /** More of it than was needed so far. */
  older(id: string): void {
    this.#loads.forget('past', id);
    this.#loadPast(id, Number.NEGATIVE_INFINITY, PAGES_AT_ONCE);
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
        for (const delivery of deliveries) this.#options.store.put('deliveries', delivery.id, delivery);
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
        for (const alert of alerts) {
          if (store.get('alerts', alert.id) === undefined) putAlert(store, alert);
        }
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

  #loadPast(id: string, fromMs: number, pages: number): void {
    const { store } = this.#options;
    const before = store.get('pasts', id)?.before;
    this.#loads.need(
      'past',
      id,
      (client, options) =>
        client.showServiceLog(id, { per_page: PAGE, ...(before != null && { before }) }, options),
      ({ events, next_before }) => {
        store.putEvents(id, events);
        const oldest = events.at(-1)?.received_at;
        const oldestMs = oldest === undefined ? store.get('pasts', id)?.oldestMs : Date.parse(oldest);
        store.put('pasts', id, { oldestMs, before: next_before });
        const isEnough = next_before === null || pages === 1 || (oldestMs ?? 0) < fromMs - REACH_MS;
        if (isEnough) return;
        queueMicrotask(() => {
          this.#loads.forget('past', id);
          this.#loadPast(id, fromMs, pages - 1);
        });
      },
    );
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
  }

  #forgetPast(id: string): void {
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
  for (const delivery of alert.deliveries ?? []) store.put('deliveries', delivery.id, delivery);
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
