/**
 * Agents, found by their ids where these stand in a record, and what an ingest has to know of one. All of that lies in
 * the row of its history (windows/history-rows.ts), and no object is looked at: of 50 000 agents each is in no cache, and
 * was 0.1 to 0.2 µs of an ingest.
 *
 *   word  what
 *   2     f64 when it was last seen
 *   3     u32 number of the tenant; u32 place among all agents
 *   4     u32 1 while it is stale; u32 free
 */
import {
  type AgentContext,
  type AgentIdentity,
  type Presence,
  type PresenceEvent,
  presenceBehaviour,
  type Registration,
  type StaleSpell,
} from '../actors/agent.ts';
import type { EncodedCommand, RecordEncodedEvents } from '../domain/encoded-events.ts';
import type { AgentNumber } from '../domain/ids.ts';
import type { EventCursor } from '../events/cursor.ts';
import { encodeAround, idBytes } from '../events/encoding.ts';
import { IdIndex } from '../lib/id-index.ts';
import type { Mutable } from '../lib/mutable.ts';
import { AgentHistory } from '../windows/history.ts';
import { type BlockEntry, HistoryBlocks } from '../windows/history-blocks.ts';
import { FIRST_FREE_WORD, HistoryRows } from '../windows/history-rows.ts';
import type { Names } from '../windows/names.ts';
import { RowView } from '../windows/rows.ts';
import type { TenantRef } from './tenant-ref.ts';

/** Of a row, in words … */
const LAST_SEEN_AT = FIRST_FREE_WORD;
/** … and in halves of words. */
const TENANT = 2 * (FIRST_FREE_WORD + 1);
const PLACE = TENANT + 1;
const IS_STALE = TENANT + 2;

/** A look at a history that has nothing to let go of; all of 50 000 are looked at within 20 s. */
const STEPS_PER_HISTORY = 4;

/** What there is to tell of an agent. */
export class Agent {
  readonly number: AgentNumber;
  /** Where its ids stand as bytes, see `ApiKey`. */
  readonly idsRow: number;
  readonly identity: AgentIdentity;
  registration: Registration;
  readonly history: AgentHistory;
  readonly #agents: Agents;

  constructor(
    agents: Agents,
    idsRow: number,
    identity: AgentIdentity,
    registration: Registration,
    history: AgentHistory,
  ) {
    this.#agents = agents;
    this.number = history.row;
    this.idsRow = idsRow;
    this.identity = identity;
    this.registration = registration;
    this.history = history;
  }

  /** As it is now. */
  get context(): AgentContext {
    return { ...this.identity, ...this.registration, ...this.#agents.presenceOf(this.number) };
  }
}

export class Agents {
  readonly #retentionMs: number;
  /** By their tenant's id and their own as a record of events has them. */
  readonly #ids = new IdIndex();
  readonly #rows = new HistoryRows(new HistoryBlocks());
  readonly #agents: Agent[] = [];
  readonly #presence = new RowPresence(this.#rows);
  /** The history that is trimmed next: of an agent that sends no more, nobody else would. */
  #next = 0;

  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  /** Takes one in that its tenant does not have yet. */
  add(
    tenant: TenantRef & { readonly names: Names },
    identity: AgentIdentity,
    registration: Registration,
    presence: Presence,
  ): Agent {
    const history = new AgentHistory(this.#retentionMs, this.#rows, tenant.names);
    const number = history.row;
    const idsRow = this.#ids.add(idBytes(tenant.id, identity.id), number);
    const agent = new Agent(this, idsRow, identity, registration, history);
    this.#rows.setHalf(number, TENANT, tenant.number);
    this.#rows.setHalf(number, PLACE, this.#agents.length);
    this.#agents.push(agent);
    presenceBehaviour.fill(this.#presence.at(number), presence);
    return agent;
  }

  /** Whose events a record holds, or undefined. */
  find(cursor: EventCursor): AgentNumber | undefined {
    const { view, idsStart, idsEnd } = cursor;
    const number = this.#ids.get(view, idsStart, idsEnd) ?? this.#findByText(cursor);
    return number as AgentNumber | undefined;
  }

  /** In logs of earlier versions. */
  #findByText({ tenantId, agentId }: EventCursor): number | undefined {
    const ids = idBytes(tenantId, agentId);
    return this.#ids.get(new DataView(ids.buffer, ids.byteOffset, ids.length), 0, ids.length);
  }

  /** Events as the log takes them, of an agent that has registered. */
  encode({ key, events, idempotency }: RecordEncodedEvents): EncodedCommand {
    return encodeAround(events, this.#ids, key.idsRow, idempotency);
  }

  at(number: AgentNumber): Agent {
    const agent = this.#agents[this.#rows.half(number, PLACE)];
    if (agent === undefined) throw new Error(`no agent ${number}`);
    return agent;
  }

  tenantNumberOf(number: AgentNumber): number {
    return this.#rows.half(number, TENANT);
  }

  isStale(number: AgentNumber): boolean {
    return this.#rows.half(number, IS_STALE) === 1;
  }

  /** The actor's context, as it is now. */
  presenceOf(number: AgentNumber): Presence {
    const { lastSeenAtMs, stale } = this.#presence.at(number);
    return { lastSeenAtMs, stale };
  }

  /** The actor handles an event. */
  advance(number: AgentNumber, event: PresenceEvent): void {
    presenceBehaviour.advance(this.#presence.at(number), event);
  }

  /** Appends to an agent's history; who does has held the names. */
  record(number: AgentNumber, entry: BlockEntry): void {
    if (!this.#rows.append(number, entry)) this.at(number).history.appendToNewBlock(entry);
  }

  /** Looks at some of the histories, or at what is left of one that has much to let go of; true where that is all. */
  trim(nowMs: number, limit: number): boolean {
    const histories = Math.min(this.#agents.length, Math.ceil(limit / STEPS_PER_HISTORY));
    for (let left = histories; left > 0; left -= 1) {
      if (this.#next >= this.#agents.length) this.#next = 0;
      if (this.#agents[this.#next]?.history.trim(nowMs, limit) === false) return false;
      this.#next += 1;
    }
    return true;
  }
}

/** An agent's presence, read from its row and written to it. */
class RowPresence extends RowView<AgentNumber> implements Mutable<Presence> {
  /** Of those that are stale, which are few: the rest is in the row. */
  readonly #spells = new Map<AgentNumber, StaleSpell>();
  #number = 0 as AgentNumber;

  override at(number: AgentNumber): this {
    this.#number = number;
    return super.at(number);
  }

  get lastSeenAtMs(): number {
    return this.get(LAST_SEEN_AT);
  }

  set lastSeenAtMs(atMs: number) {
    this.set(LAST_SEEN_AT, atMs);
  }

  get stale(): StaleSpell | null {
    return this.half(IS_STALE) === 1 ? (this.#spells.get(this.#number) ?? null) : null;
  }

  set stale(stale: StaleSpell | null) {
    if (stale !== null) this.#spells.set(this.#number, stale);
    else if (this.half(IS_STALE) === 1) this.#spells.delete(this.#number);
    this.setHalf(IS_STALE, stale === null ? 0 : 1);
  }
}
