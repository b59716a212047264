/**
 * Services, found by their names where these stand in a record, and what an ingest has to know of one. All of that lies in
 * the row of its window (windows/list-rows.ts): no string is made of a name, and no object looked at. As objects (the
 * service, its name, its context, the two times, which are objects too) that was six cache misses of an ingest into one
 * of 100 000 services; and the table of services that it was looked up in, which had one place for each name and a Map
 * behind it, cost half a microsecond for the sixth that shared theirs.
 *
 *   word  what
 *   6     f64 the greatest event time seen
 *   7     f64 receipt of the event merged last
 *   8     u32 number of the tenant; u32 number of the agent of the event received last
 *   9     u32 number of the name; u32 place among all services
 *   10    u32 length of the name in bytes; from here on its bytes, as many as fit
 *
 * Open addressing with linear probing, at most half full; beside each place the hash. The hash is seeded: who chooses
 * names cannot choose those that stand one behind the other.
 */

import type { Mutable } from '../actors/behaviour.ts';
import { type ServiceContext, serviceBehaviour } from '../actors/service.ts';
import type { AgentNumber, ServiceId, TenantId } from '../domain/ids.ts';
import { systemEntropy } from '../lib/entropy.ts';
import { type ListRows, OWNER, ROW_BYTES } from '../windows/list-rows.ts';
import type { Window } from '../windows/live-events.ts';
import { NOWHERE, type Span } from '../windows/slabs.ts';

/** Of a row, in words … */
const LAST_EVENT_AT = OWNER;
const UPDATED_AT = OWNER + 1;
/** … and in halves of words. */
const TENANT = 2 * (OWNER + 2);
const AGENT = TENANT + 1;
const NAME_NUMBER = TENANT + 2;
const PLACE = TENANT + 3;
const NAME_BYTES = TENANT + 4;
const NAME = TENANT + 5;
/** Of a longer name the rest is compared as text. */
const NAME_ROOM_BYTES = ROW_BYTES - 4 * NAME;

const FIRST_PLACES = 1024;
/** Of a place: the hash, never 0 but where it is free, and the row. */
const FIELDS = 2;

const SEED = Buffer.from(systemEntropy.bytes(4)).readInt32LE();
const FIRST_MULTIPLIER = Buffer.from(systemEntropy.bytes(4)).readInt32LE() | 1;
const SECOND_MULTIPLIER = Buffer.from(systemEntropy.bytes(4)).readInt32LE() | 1;

/** The tenant of a service. */
export interface Owner {
  readonly id: TenantId;
  /** No other has it. */
  readonly number: number;
}

/** Of the bytes from `start` to `end`: 32 bits, signed; never 0, which stands for a free place. */
export type NameHash = (tenantNumber: number, view: DataView, start: number, end: number) => number;

/** What there is to tell of a service. */
export class Service {
  readonly tenant: Owner;
  readonly id: ServiceId;
  readonly name: string;
  readonly window: Window;
  readonly #services: Services;

  constructor(services: Services, tenant: Owner, id: ServiceId, name: string, window: Window) {
    this.#services = services;
    this.tenant = tenant;
    this.id = id;
    this.name = name;
    this.window = window;
  }

  /** Its actor's, as it is now. */
  get context(): ServiceContext {
    const { agent, lastEventAtMs, updatedAtMs } = this.#services.contextOf(this.window);
    return { agent, lastEventAtMs, updatedAtMs };
  }
}

export class Services {
  readonly #rows: ListRows;
  /** Both of a place in one cache line. */
  #places = new Int32Array(FIELDS * FIRST_PLACES);
  /** Less one, the number of places. */
  #mask = FIRST_PLACES - 1;
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
    if (2 * this.#services.length > this.#mask + 1) this.#grow();
    this.#occupy(this.#hash(tenant.number, view, 0, bytes.length), window);
    serviceBehaviour.restore(this.contextOf(window), context);
  }

  /** The window of the tenant's service whose name stands from `start` to `end`, or undefined. */
  find(tenant: Owner, view: DataView, start: number, end: number): Window | undefined {
    const hash = this.#hash(tenant.number, view, start, end);
    const places = this.#places;
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const known = places[FIELDS * place];
      if (known === 0) return undefined;
      if (known !== hash) continue;
      const window = places[FIELDS * place + 1] as Window;
      if (this.#isOf(window, tenant, view, start, end)) return window;
    }
  }

  /** The actor's context of a service, which is its row: good until another is asked for. */
  contextOf(window: Window): Mutable<ServiceContext> {
    return this.#context.at(window);
  }

  nameNumberOf(window: Window): number {
    return this.#rows.spanOf(window).halves[2 * this.#rows.wordOf(window) + NAME_NUMBER] ?? 0;
  }

  #isOf(window: Window, tenant: Owner, view: DataView, start: number, end: number): boolean {
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

  #occupy(hash: number, window: Window): void {
    let place = hash & this.#mask;
    while (this.#places[FIELDS * place] !== 0) place = (place + 1) & this.#mask;
    this.#places[FIELDS * place] = hash;
    this.#places[FIELDS * place + 1] = window;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Int32Array(2 * before.length);
    this.#mask = this.#places.length / FIELDS - 1;
    for (let at = 0; at < before.length; at += FIELDS) {
      if (before[at] !== 0) this.#occupy(before[at] ?? 0, before[at + 1] as Window);
    }
  }
}

/** A service's context, read from its row and written to it. */
class RowContext implements Mutable<ServiceContext> {
  readonly #rows: ListRows;
  #span: Span = NOWHERE;
  #word = 0;

  constructor(rows: ListRows) {
    this.#rows = rows;
  }

  at(window: Window): this {
    this.#span = this.#rows.spanOf(window);
    this.#word = this.#rows.wordOf(window);
    return this;
  }

  get agent(): AgentNumber {
    return (this.#span.halves[2 * this.#word + AGENT] ?? 0) as AgentNumber;
  }

  set agent(agent: AgentNumber) {
    this.#span.halves[2 * this.#word + AGENT] = agent;
  }

  get lastEventAtMs(): number {
    return this.#span.words[this.#word + LAST_EVENT_AT] ?? 0;
  }

  set lastEventAtMs(atMs: number) {
    this.#span.words[this.#word + LAST_EVENT_AT] = atMs;
  }

  get updatedAtMs(): number {
    return this.#span.words[this.#word + UPDATED_AT] ?? 0;
  }

  set updatedAtMs(atMs: number) {
    this.#span.words[this.#word + UPDATED_AT] = atMs;
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
