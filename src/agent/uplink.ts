/**
 * An agent's line to its server: registration, events in order, heartbeats. What becomes of an answer:
 *
 *   | answer                                   | then                                                |
 *   | ---------------------------------------- | --------------------------------------------------- |
 *   | 2xx                                      | next event                                          |
 *   | 400, 413, 422 on an event                | counted with its sentence; next event               |
 *   | 403 `agent not registered`               | register, same event again; given up after 3 in a row |
 *   | 403, 404 on a heartbeat                  | register                                            |
 *   | no answer, 408, 429, 5xx                 | the server is away: wait, same event again          |
 *   | anything else (401, 403, 404, 3xx …)     | the run ends with that error                        |
 */
import type { ForeshockClient } from '../client/client.ts';
import { ForeshockError } from '../client/error.ts';
import { type RetryPolicy, waitBeforeRetry } from '../client/retry.ts';
import type { Registration } from '../client/wire.ts';
import { AGENT_NOT_REGISTERED } from '../domain/rejection.ts';
import type { Outbox } from './outbox.ts';
import type { Outgoing, Sender, Verdict } from './sender.ts';

export type AgentClient = Pick<ForeshockClient, 'registerAgent' | 'sendEvent' | 'heartbeat'>;

export interface UplinkOptions {
  readonly client: AgentClient;
  readonly sender: Sender;
  readonly registration: Registration;
  readonly heartbeatMs: number;
  /** How to wait while the server is away; its `attempts` are not counted here. */
  readonly retry: RetryPolicy;
  readonly signal: AbortSignal;
}

export interface UplinkEvents {
  onRegistered(agentId: string): void;
  onVerdict(outgoing: Outgoing, verdict: Verdict): void;
  /** Those that the outbox has no room for while the server is away. */
  onDropped(dropped: readonly Outgoing[]): void;
  onAway(detail: string): void;
  onBack(): void;
}

const MAX_REGISTRATIONS_IN_A_ROW = 3;

export class Uplink {
  readonly #options: UplinkOptions;
  readonly #events: UplinkEvents;
  #agentId = '';
  #isAway = false;
  /** Whether an event was accepted since the last heartbeat was due. */
  #wasHeard = false;

  constructor(options: UplinkOptions, events: UplinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Whether the last thing known of the server is that it does not answer. */
  get isAway(): boolean {
    return this.#isAway;
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

  /** Sends what is put into the outbox, until it is ended and empty, or the signal is aborted. */
  async deliver(outbox: Outbox<Outgoing>): Promise<void> {
    const { sender, signal } = this.#options;
    let failures = 0;
    let registrations = 0;
    while (!signal.aborted) {
      const batch = outbox.take(sender.maxBatch);
      if (batch.length === 0) {
        if (outbox.isEnded) return;
        await outbox.changed();
        continue;
      }
      try {
        this.#report(batch, await sender.send(batch, signal));
        outbox.settle();
        failures = 0;
        registrations = 0;
      } catch (error) {
        if (signal.aborted) return;
        const isForgotten = isNotRegistered(error) && registrations < MAX_REGISTRATIONS_IN_A_ROW;
        const waitMs = isForgotten ? 0 : this.#waitAfter(error, ++failures);
        registrations = isForgotten ? registrations + 1 : 0;
        // A reader that waits for room wakes up here, and finds the server marked as away.
        this.#drop(outbox.putBack(batch));
        await (isForgotten ? this.register({ patient: true }) : this.#pause(waitMs));
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

  #report(batch: readonly Outgoing[], verdicts: readonly Verdict[]): void {
    this.#answered();
    for (const [index, outgoing] of batch.entries()) {
      const verdict = verdicts[index];
      // A refused event does not count as a sign of life on the server.
      if (verdict?.type === 'accepted') this.#wasHeard = true;
      if (verdict !== undefined) this.#events.onVerdict(outgoing, verdict);
    }
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
    if (!(error instanceof ForeshockError) || !(error.transient || (error.status ?? 0) >= 500)) throw error;
    if (!this.#isAway) this.#events.onAway(error.message);
    this.#isAway = true;
    return error;
  }

  #answered(): void {
    if (this.#isAway) this.#events.onBack();
    this.#isAway = false;
  }

  #drop(dropped: readonly Outgoing[]): void {
    if (dropped.length > 0) this.#events.onDropped(dropped);
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
