/**
 * Services, found by their names where these stand in a record, and what an ingest has to know of one. All of that lies in
 * the row of its window (windows/list-rows.ts): no string is made of a name, and no object looked at. Of 100 000 services
 * each object more is in no cache, and was 0.1 to 0.2 µs of an ingest.
 *
 *   word  what
 *   6     f64 the greatest event time seen
 *   7     f64 receipt of the event merged last
 *   8     u32 number of the tenant; u32 number of the agent of the event received last
 *   9     u32 number of the name; u32 place among all services
 *   10    u32 length of the name in bytes; from here on its bytes, as many as fit
 *
 * Names are hashed with a seed: who chooses them cannot choose some that are all looked for in one place.
 */
import { type ServiceContext, type ServiceEvent, serviceBehaviour } from '../actors/service.ts';
import type { AgentNumber, ServiceId } from '../domain/ids.ts';
import { systemEntropy } from '../lib/entropy.ts';
import type { Mutable } from '../lib/mutable.ts';
import { RowTable } from '../lib/row-table.ts';
import { FIRST_FREE_WORD, type ListRows, ROW_BYTES } from '../windows/list-rows.ts';
import type { Window } from '../windows/live-events.ts';
import { RowView } from '../windows/rows.ts';
import type { TenantRef } from './tenant-ref.ts';

/** Of a row, in words … */
const LAST_EVENT_AT = FIRST_FREE_WORD;
const UPDATED_AT = FIRST_FREE_WORD + 1;
/** … and in halves of words. */
const TENANT = 2 * (FIRST_FREE_WORD + 2);
const AGENT = TENANT + 1;
const NAME_NUMBER = TENANT + 2;
const PLACE = TENANT + 3;
const NAME_BYTES = TENANT + 4;
const NAME = TENANT + 5;
/** Of a longer name the rest is compared as text. */
const NAME_ROOM_BYTES = ROW_BYTES - 4 * NAME;

const SEED = Buffer.from(systemEntropy.bytes(4)).readInt32LE();
const FIRST_MULTIPLIER = Buffer.from(systemEntropy.bytes(4)).readInt32LE() | 1;
const SECOND_MULTIPLIER = Buffer.from(systemEntropy.bytes(4)).readInt32LE() | 1;

/** Of the bytes from `start` to `end`: 32 bits, signed; never 0, which stands for a free place. */
export type NameHash = (tenantNumber: number, view: DataView, start: number, end: number) => number;

/** What there is to tell of a service. */
export class Service {
  readonly tenant: TenantRef;
  readonly id: ServiceId;
  readonly name: string;
  readonly window: Window;
  readonly #services: Services;

  constructor(services: Services, tenant: TenantRef, id: ServiceId, name: string, window: Window) {
    this.#services = services;
    this.tenant = tenant;
    this.id = id;
    this.name = name;
    this.window = window;
  }

  /** Its actor's, as it is now. */
  get context(): ServiceContext {
    return this.#services.contextOf(this.window);
  }
}

export class Services {
  readonly #rows: ListRows;
  readonly #table = new RowTable();
  readonly #services: Service[] = [];
  readonly #context: RowContext;
  readonly #hash: NameHash;

  constructor(rows: ListRows, hash: NameHash = seededHash) {
    this.#rows = rows;
    this.#hash = hash;
    this.#context = new RowContext(rows);
  }

  /** Takes one in that its tenant does not have yet, with the row of its window. */
  add(service: Service, nameNumber: number, context: ServiceContext): void {
    const { tenant, name, window } = service;
    const bytes = Buffer.from(name);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const { halves } = this.#rows.spanOf(window);
    const row = 2 * this.#rows.wordOf(window);
    halves[row + TENANT] = tenant.number;
    halves[row + NAME_NUMBER] = nameNumber;
    halves[row + PLACE] = this.#services.length;
    halves[row + NAME_BYTES] = bytes.length;
    const kept = Math.min(bytes.length, NAME_ROOM_BYTES);
    for (let at = 0; at < kept; at += 4) halves[row + NAME + at / 4] = quadAt(view, at, kept);
    this.#services.push(service);
    this.#table.add(this.#hash(tenant.number, view, 0, bytes.length), window);
    serviceBehaviour.fill(this.#context.at(window), context);
  }

  /** The window of the tenant's service whose name stands from `start` to `end`, or undefined. */
  find(tenant: TenantRef, view: DataView, start: number, end: number): Window | undefined {
    const hash = this.#hash(tenant.number, view, start, end);
    for (let place = this.#table.first(hash); place >= 0; place = this.#table.next(hash, place)) {
      const window = this.#table.rowAt(place) as Window;
      if (this.#isOf(window, tenant, view, start, end)) return window;
    }
    return undefined;
  }

  /** The actor's, as it is now. */
  contextOf(window: Window): ServiceContext {
    const { agent, lastEventAtMs, updatedAtMs } = this.#context.at(window);
    return { agent, lastEventAtMs, updatedAtMs };
  }

  /** The actor handles an event. */
  advance(window: Window, event: ServiceEvent): void {
    serviceBehaviour.advance(this.#context.at(window), event);
  }

  nameNumberOf(window: Window): number {
    return this.#rows.half(window, NAME_NUMBER);
  }

  #isOf(window: Window, tenant: TenantRef, view: DataView, start: number, end: number): boolean {
    const { halves } = this.#rows.spanOf(window);
    const row = 2 * this.#rows.wordOf(window);
    if (halves[row + TENANT] !== tenant.number || halves[row + NAME_BYTES] !== end - start) return false;
    const keptEnd = Math.min(end, start + NAME_ROOM_BYTES);
    let half = row + NAME;
    for (let at = start; at < keptEnd; at += 4) {
      if (halves[half] !== quadAt(view, at, keptEnd)) return false;
      half += 1;
    }
    if (keptEnd === end) return true;
    const name = Buffer.from(view.buffer, view.byteOffset + start, end - start).toString();
    return this.#services[halves[row + PLACE] ?? 0]?.name === name;
  }
}

/** A service's context, read from its row and written to it. */
class RowContext extends RowView<Window> implements Mutable<ServiceContext> {
  get agent(): AgentNumber {
    return this.half(AGENT) as AgentNumber;
  }

  set agent(agent: AgentNumber) {
    this.setHalf(AGENT, agent);
  }

  get lastEventAtMs(): number {
    return this.get(LAST_EVENT_AT);
  }

  set lastEventAtMs(atMs: number) {
    this.set(LAST_EVENT_AT, atMs);
  }

  get updatedAtMs(): number {
    return this.get(UPDATED_AT);
  }

  set updatedAtMs(atMs: number) {
    this.set(UPDATED_AT, atMs);
  }
}

const seededHash: NameHash = (tenantNumber, view, start, end) => {
  let hash = SEED ^ Math.imul(tenantNumber, FIRST_MULTIPLIER) ^ (end - start);
  for (let at = start; at < end; at += 4) {
    // Twice: with one multiplication, texts that differ in the highest bits alone would come together whatever it is by.
    hash = Math.imul(hash ^ quadAt(view, at, end), FIRST_MULTIPLIER);
    hash = Math.imul(hash ^ (hash >>> 15), SECOND_MULTIPLIER);
  }
  return hash ^ (hash >>> 16) || 1;
};

/** Four bytes as a number, or what is left of them before `end`. */
function quadAt(view: DataView, at: number, end: number): number {
  if (at + 4 <= end) return view.getUint32(at, true);
  let quad = 0;
  for (let last = end - 1; last >= at; last -= 1) quad = quad * 256 + view.getUint8(last);
  return quad;
}
