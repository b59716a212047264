/** The service: known from the first event that names it. Its window stands beside it, in windows/. */
import { fromTransition } from 'xstate';
import type { AgentNumber } from '../domain/ids.ts';
import type { Mutable } from '../lib/mutable.ts';
import { Behaviour } from './behaviour.ts';

export interface ServiceContext {
  /** The agent of the event received last. */
  readonly agent: AgentNumber;
  /** The greatest event time seen. */
  readonly lastEventAtMs: number;
  /** Receipt of the event merged last. */
  readonly updatedAtMs: number;
}

export interface ServiceInput {
  readonly agent: AgentNumber;
}

export interface ServiceEvent {
  readonly type: 'event-recorded';
  readonly agent: AgentNumber;
  readonly timestampMs: number;
  readonly receivedAtMs: number;
}

function transition(service: ServiceContext, event: ServiceEvent): ServiceContext {
  return {
    agent: event.agent,
    lastEventAtMs: Math.max(service.lastEventAtMs, event.timestampMs),
    updatedAtMs: event.receivedAtMs,
  };
}

function unheardOf({ input }: { input: ServiceInput }): ServiceContext {
  return { agent: input.agent, lastEventAtMs: Number.NEGATIVE_INFINITY, updatedAtMs: 0 };
}

function keep(held: Mutable<ServiceContext>, next: ServiceContext): void {
  held.agent = next.agent;
  held.lastEventAtMs = next.lastEventAtMs;
  held.updatedAtMs = next.updatedAtMs;
}

export const serviceBehaviour = new Behaviour<ServiceContext, ServiceEvent, ServiceInput>(
  fromTransition(transition, unheardOf),
  keep,
  { agent: 0 as AgentNumber },
);
