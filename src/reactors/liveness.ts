/**
 * Finds agents that have not been heard of for too long. An agent's silence begins with its last sign of life, but
 * not before this process listened: while it was down, nobody could be heard.
 */

import type { Agent } from '../commands/agents.ts';
import type { Pipeline } from '../commands/pipeline.ts';
import type { State } from '../commands/state.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import { TimerWheel } from '../timers/wheel.ts';

export interface LivenessOptions {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly time: Pick<Clock, 'now'>;
  readonly scheduler: Scheduler;
  readonly staleAfterMs: number;
}

interface Watched {
  readonly tenantId: TenantId;
  readonly agent: Agent;
}

const LOOK_INTERVAL_MS = 250;
/** Timers looked at between two looks at the sockets. */
const SLICE = 500;
const RETRY_MS = 5000;

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #wheel: TimerWheel<Watched>;
  readonly #listeningSinceMs: number;
  readonly #watched = new Map<TenantId, number>();
  #stopped = false;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#listeningSinceMs = options.time.now();
    this.#wheel = new TimerWheel(this.#listeningSinceMs);
  }

  start(): void {
    this.#rest();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Agents never leave, and those that are new stand behind those that were known. */
  #watchNew(): void {
    for (const tenant of this.#options.state.tenants.values()) {
      const known = this.#watched.get(tenant.id) ?? 0;
      if (tenant.agents.size === known) continue;
      this.#watched.set(tenant.id, tenant.agents.size);
      for (const agent of [...tenant.agents.values()].slice(known)) {
        this.#wheel.schedule(this.#dueMs(agent), { tenantId: tenant.id, agent });
      }
    }
  }

  #dueMs({ context }: Agent): number {
    const { lastSeenAtMs } = context;
    return Math.max(lastSeenAtMs, this.#listeningSinceMs) + this.#options.staleAfterMs;
  }

  #rest(): void {
    this.#options.scheduler.after(LOOK_INTERVAL_MS, () => this.#look());
  }

  #look(): void {
    if (this.#stopped) return;
    this.#watchNew();
    const nowMs = this.#options.time.now();
    if (this.#wheel.advance(nowMs, (watched) => this.#due(watched, nowMs), SLICE)) this.#rest();
    else this.#options.scheduler.soon(() => this.#look());
  }

  /** One timer an agent, set once and moved on when it fires: a sign of life costs nothing. */
  #due(watched: Watched, nowMs: number): void {
    const { agent, tenantId } = watched;
    const { id: agentId, lastSeenAtMs, stale } = agent.context;
    const dueMs = this.#dueMs(agent);
    if (stale !== null || dueMs > nowMs) {
      // One that is stale is looked at again as though it had just been seen: it may come back and go again.
      this.#wheel.schedule(stale === null ? dueMs : nowMs + this.#options.staleAfterMs, watched);
      return;
    }
    this.#options.pipeline.submit(
      { type: 'mark-agent-stale', tenantId, agentId, lastSeenAtMs },
      (outcome) => {
        const waitMs = outcome.type === 'applied' ? this.#options.staleAfterMs : RETRY_MS;
        this.#wheel.schedule(nowMs + waitMs, watched);
      },
    );
  }
}
