/**
 * An agent's line to its server: registration, events in order, heartbeats. What becomes of an answer:
 *
 *   | answer                                   | then                                                |
 *   | ---------------------------------------- | --------------------------------------------------- |
 *   | 200 to a batch                           | each event was accepted, or is counted with its sentence |
 *   | 403 `agent not registered`               | register, same batch again; given up after 3 in a row |
 *   | 403, 404 on a heartbeat                  | register                                            |
 *   | no answer, 408, 429, 5xx                 | the server is away: wait, same batch again          |
 *   | anything else (401, 403, 404, 3xx …)     | the run ends with that error                        |
 */
import type { Batcher } from '../client/batcher.ts';
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import { type RetryPolicy, waitBeforeRetry } from '../client/retry.ts';
import type { Registration } from '../client/wire.ts';
import { AGENT_NOT_REGISTERED } from '../domain/rejection.ts';
import type { AgentEvent } from './plugin.ts';

export type AgentClient = Pick<ForeshockClient, 'registerAgent' | 'batcher' | 'heartbeat'>;

export interface UplinkOptions {
  readonly client: AgentClient;
  readonly registration: Registration;
  readonly heartbeatMs: number;
  /** Events that wait, beside those on their way. */
  readonly maxBuffered: number;
  /** Of one request. */
  readonly maxBatchEvents: number;
  /** How long an event waits for others to go with. */
  readonly maxDelayMs: number;
  /**
   * Whether the reader must go on while the server is away: then the oldest events make room. Else it waits, and nothing
   * is dropped.
   */
  readonly mayDrop: boolean;
  /** How to wait while the server is away; its `attempts` are not counted here. */
  readonly retry: RetryPolicy;
  readonly signal: AbortSignal;
}

export interface UplinkEvents {
  onRegistered(agentId: string): void;
  onAccepted(event: AgentEvent): void;
  onRejected(event: AgentEvent, detail: string): void;
  /** Those that there is no room for while the server is away. */
  onDropped(event: AgentEvent): void;
  onAway(detail: string): void;
  onBack(): void;
}

const MAX_REGISTRATIONS_IN_A_ROW = 3;

export class Uplink {
  readonly #options: UplinkOptions;
  readonly #events: UplinkEvents;
  readonly #batcher: Batcher;
  readonly #refusal = Promise.withResolvers<never>();
  #agentId = '';
  #isAway = false;
  /** Whether an event was accepted since the last heartbeat was due. */
  #wasHeard = false;
  #registrations = 0;

  constructor(options: UplinkOptions, events: UplinkEvents) {
    this.#options = options;
    this.#events = events;
    const { client, maxBuffered, maxBatchEvents, maxDelayMs, signal } = options;
    this.#batcher = client.batcher({
      maxBuffered,
      maxEvents: maxBatchEvents,
      maxDelayMs,
      signal,
      onAccepted: (accepted) => {
        this.#heard();
        // A refused event does not count as a sign of life on the server.
        this.#wasHeard = true;
        for (const event of accepted) events.onAccepted(event);
      },
      onRejected: (event, detail) => {
        this.#heard();
        events.onRejected(event, detail);
      },
      onDropped: (event) => events.onDropped(event),
      onRetry: (error) => this.#away(error),
      onRefused: (error) => this.#refused(error),
    });
    // Whoever does not wait for it is not to be told.
    this.#refusal.promise.catch(() => {});
  }

  /** Rejects where the server refuses the agent. */
  get refusal(): Promise<never> {
    return this.#refusal.promise;
  }

  /** Resolves once the event has its place. */
  add(event: AgentEvent): Promise<void> {
    return this.#batcher.add(event);
  }

  /** Resolves once it is known what became of everything. */
  finish(): Promise<void> {
    return this.#batcher.close();
  }

  /** @param patient whether to wait for a server that is away, or to reject once the client has given up */
  async register({ patient }: { readonly patient: boolean }): Promise<void> {
    const { client, registration, signal } = this.#options;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const { id } = await client.registerAgent(registration, { signal });
        this.#agentId = id;
        this.#answered();
        this.#events.onRegistered(id);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!patient) throw error;
        await this.#pause(this.#waitAfter(error, failures));
      }
    }
  }

  /** A heartbeat for every interval in which no event was accepted, until the signal is aborted. */
  async beat(): Promise<void> {
    const { client, heartbeatMs, signal } = this.#options;
    while (!signal.aborted) {
      await this.#pause(heartbeatMs);
      if (signal.aborted) return;
      const isDue = !this.#wasHeard;
      this.#wasHeard = false;
      if (!isDue) continue;
      try {
        await client.heartbeat(this.#agentId, { signal });
        this.#answered();
      } catch (error) {
        if (signal.aborted) return;
        if (isUnknownAgent(error)) await this.register({ patient: true });
        else this.#markAway(error);
      }
    }
  }

  /** Events were refused because of who sends them. */
  async #refused(error: ForeshockError): Promise<'again' | 'fail'> {
    try {
      if (!isNotRegistered(error) || this.#registrations >= MAX_REGISTRATIONS_IN_A_ROW) throw error;
      this.#registrations += 1;
      await this.register({ patient: true });
      return 'again';
    } catch (reason) {
      this.#refusal.reject(reason);
      return 'fail';
    }
  }

  #heard(): void {
    this.#registrations = 0;
    this.#answered();
  }

  /** Milliseconds; marks the server as away. */
  #waitAfter(error: unknown, failures: number): number {
    return waitBeforeRetry(this.#options.retry, failures, this.#markAway(error).retryAfterMs);
  }

  /** Returns early when the signal is aborted. */
  async #pause(milliseconds: number): Promise<void> {
    const { retry, signal } = this.#options;
    try {
      await retry.sleep(milliseconds, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** @throws the error itself where it does not mean that the server is away */
  #markAway(error: unknown): ForeshockError {
    if (!(error instanceof ForeshockError && error.isServerAway)) throw error;
    this.#away(error);
    return error;
  }

  #away(error: ForeshockError): void {
    if (!this.#isAway) this.#events.onAway(error.message);
    this.#isAway = true;
    if (this.#options.mayDrop) this.#batcher.onFull = 'drop-oldest';
  }

  #answered(): void {
    if (this.#isAway) this.#events.onBack();
    this.#isAway = false;
    this.#batcher.onFull = 'wait';
  }
}

function isNotRegistered(error: unknown): boolean {
  return (
    error instanceof ForeshockError && error.status === 403 && error.detail === AGENT_NOT_REGISTERED.detail
  );
}

function isUnknownAgent(error: unknown): boolean {
  return error instanceof ForeshockError && (error.status === 403 || error.status === 404);
}
