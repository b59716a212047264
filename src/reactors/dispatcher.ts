/**
 * Sends what the outboxes hold, a few at a time. That an attempt begins is logged before a byte goes out, so that
 * after a crash it is known what may have been sent; what has become of it is logged when it is known.
 */
import type { DeliveryActor } from '../actors/delivery.ts';
import { staleFacts } from '../commands/apply-alerts.ts';
import type { Pipeline } from '../commands/pipeline.ts';
import type { State, Tenant } from '../commands/state.ts';
import type { OutboundId } from '../domain/ids.ts';
import { type AttemptResult, alarmIdOf, type OutboundDelivery } from '../domain/outbound.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scheduler } from '../lib/scheduler.ts';
import { nextAttempt } from '../outbound/backoff.ts';
import { DEFAULT_CALL_LIMITS } from '../outbound/http-call.ts';
import type { Verdict } from '../outbound/verdict.ts';
import { RAISED_FOR_MS, requestFor, type SendingOptions, send } from './sending.ts';

export interface DispatcherOptions {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly time: Pick<Clock, 'now'>;
  readonly scheduler: Scheduler;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  readonly sending: SendingOptions;
  readonly onTrouble: (error: unknown) => void;
}

const LOOK_INTERVAL_MS = 100;
/** Attempts under way at once, in all and to an endpoint of an integration: a slow one keeps no other waiting. */
const MAX_UNDER_WAY = 16;
const MAX_UNDER_WAY_OF_ONE = 2;
/** An attempt that a dead process began may still be on its way to its peer for as long as a call takes. */
const ABANDONED_AFTER_MS = DEFAULT_CALL_LIMITS.deadlineMs + 5000;
/** What Alertmanager is to keep is raised again well before it would forget it. */
const RENEW_INTERVAL_MS = RAISED_FOR_MS / 3;

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #underWay = new Map<OutboundId, Promise<void>>();
  /** Attempts that ended so, since the process began. */
  readonly outcomes = { delivered: 0, retry: 0, gone: 0, dead: 0 };
  #renewAtMs: number;
  #renewing: Promise<void> | undefined;
  #stopped = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#renewAtMs = options.time.now();
  }

  start(): void {
    this.#options.scheduler.after(LOOK_INTERVAL_MS, () => {
      if (this.#stopped) return;
      this.#look();
      this.start();
    });
  }

  /** Waits for what is under way, which the caller has told to end. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#underWay.values(), this.#renewing]);
  }

  #look(): void {
    const nowMs = this.#options.time.now();
    for (const tenant of this.#options.state.tenants.values()) {
      for (const id of tenant.outbox.waiting) {
        if (this.#underWay.size >= MAX_UNDER_WAY) break;
        const delivery = tenant.outbox.deliveries.get(id);
        if (delivery !== undefined && !this.#underWay.has(id)) this.#consider(tenant, delivery, nowMs);
      }
    }
    if (nowMs < this.#renewAtMs) return;
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    this.#renewing = this.#renewAlarms(nowMs)
      .catch(this.#options.onTrouble)
      .finally(() => {
        this.#renewAtMs = nowMs + RENEW_INTERVAL_MS;
      });
  }

  #consider(tenant: Tenant, { state, context }: DeliveryActor, nowMs: number): void {
    if (state === 'sending') {
      if (nowMs < context.updatedAtMs + ABANDONED_AFTER_MS) return;
      const detail = 'the server stopped while it was sent';
      const verdict = { type: 'retry', afterMs: null, inDoubt: true, detail } as const;
      this.#begin(context.id, () => this.#finish(tenant, context, verdict, nowMs));
    } else if (
      nowMs >= context.notBeforeMs &&
      !mustWait(tenant, context) &&
      this.#underWayOf(tenant, context) < MAX_UNDER_WAY_OF_ONE
    ) {
      this.#begin(context.id, () => this.#attempt(tenant, context.id));
    }
  }

  #underWayOf({ outbox }: Tenant, delivery: OutboundDelivery): number {
    let count = 0;
    for (const id of this.#underWay.keys()) {
      const other = outbox.deliveries.get(id)?.context;
      if (other !== undefined && haveOneEndpoint(other, delivery)) count += 1;
    }
    return count;
  }

  #begin(id: OutboundId, step: () => Promise<void>): void {
    const done = step()
      .catch(this.#options.onTrouble)
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, done);
  }

  async #attempt(tenant: Tenant, outboundId: OutboundId): Promise<void> {
    const { time, sending } = this.#options;
    const isBegun = await this.#submit({ type: 'start-attempt', tenantId: tenant.id, outboundId });
    const delivery = tenant.outbox.deliveries.get(outboundId)?.context;
    if (!isBegun || delivery === undefined) return;
    const integration = tenant.integrations.get(delivery.integrationId);
    if (integration === undefined) return;
    const verdict = await send(tenant, integration, delivery, time.now(), sending);
    await this.#finish(tenant, delivery, verdict, time.now());
  }

  async #finish(tenant: Tenant, delivery: OutboundDelivery, verdict: Verdict, nowMs: number): Promise<void> {
    const result = this.#resultOf(delivery, verdict, nowMs);
    this.outcomes[result.type] += 1;
    await this.#submit({ type: 'finish-attempt', tenantId: tenant.id, outboundId: delivery.id, result });
  }

  #resultOf(delivery: OutboundDelivery, verdict: Verdict, nowMs: number): AttemptResult {
    switch (verdict.type) {
      case 'delivered':
        return { type: 'delivered', noteId: verdict.noteId, detail: `answered ${verdict.status}` };
      case 'gone':
      case 'dead':
        return { type: verdict.type, detail: verdict.detail };
      case 'retry': {
        const { afterMs, inDoubt: isInDoubt, detail } = verdict;
        const firstAtMs = delivery.firstAttemptAtMs ?? nowMs;
        const number = delivery.attempts;
        const next = nextAttempt({ number, firstAtMs, nowMs, afterMs, random: this.#options.random() });
        if (next.type === 'given-up') return { type: 'dead', detail: `given up after a day: ${detail}` };
        return { type: 'retry', notBeforeMs: next.atMs, isInDoubt, detail };
      }
    }
  }

  /**
   * Alertmanager forgets an alarm in time, and all of them when it restarts. What is lost here comes with the next
   * round, so nothing of it is logged.
   */
  async #renewAlarms(nowMs: number): Promise<void> {
    const { state, sending } = this.#options;
    for (const tenant of state.tenants.values()) {
      const listeners = [...tenant.integrations.values()].filter(({ sends }) => sends.staleAgents);
      if (listeners.length === 0) continue;
      for (const { context } of tenant.agents.values()) {
        const { id, stale } = context;
        if (stale === null || nowMs < stale.sinceMs + RENEW_INTERVAL_MS / 2) continue;
        const subject = { type: 'agent-stale', agent: staleFacts(id, stale) } as const;
        for (const { config } of listeners) {
          if (this.#stopped) return;
          const request = requestFor(tenant, config, subject, nowMs, sending);
          if (request.type === 'request') await sending.call(request);
        }
      }
    }
  }

  /** False where there is nothing to be done any more, or the log takes nothing. */
  #submit(command: Parameters<Pipeline['submit']>[0]): Promise<boolean> {
    return new Promise((resolve) => {
      this.#options.pipeline.submit(command, (outcome) => resolve(outcome.type === 'applied'));
    });
  }
}

/** PagerDuty takes notes and change events at two hosts: that one of them hangs must not hold up the other. */
function haveOneEndpoint(a: OutboundDelivery, b: OutboundDelivery): boolean {
  return a.integrationId === b.integrationId && (a.subject.type === 'note') === (b.subject.type === 'note');
}

/** The end of an alarm, while the alarm itself is on its way: whichever came in last would stand. */
function mustWait({ outbox }: Tenant, { integrationId, subject }: OutboundDelivery): boolean {
  if (subject.type !== 'agent-returned') return false;
  return outbox.deliveries.get(alarmIdOf(integrationId, 'stale', subject.agent))?.state === 'sending';
}
