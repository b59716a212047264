/** The agent: who reports, since when, and when it was last heard of. */
import { fromTransition } from 'xstate';
import { type AgentId, agentId, type KeyId, keyId } from '../domain/ids.ts';
import { Behaviour, type VirtualActor } from './virtual-actor.ts';

export interface AgentContext {
  readonly id: AgentId;
  readonly keyId: KeyId;
  readonly hostname: string;
  /** What the agent calls itself; null while its name follows its hostname. */
  readonly givenName: string | null;
  readonly version: string | null;
  readonly registeredAtMs: number;
  readonly lastSeenAtMs: number;
}

export interface AgentInput {
  readonly id: AgentId;
  readonly keyId: KeyId;
  readonly atMs: number;
}

export type AgentEvent =
  | {
      readonly type: 'registered';
      readonly hostname: string;
      readonly name: string | null;
      readonly version: string | null;
      readonly atMs: number;
    }
  /** A heartbeat, or events, which count as one. */
  | { readonly type: 'seen'; readonly atMs: number };

export type AgentActor = VirtualActor<AgentContext, AgentEvent, AgentInput>;

function transition(agent: AgentContext, event: AgentEvent): AgentContext {
  switch (event.type) {
    case 'registered':
      return {
        ...agent,
        hostname: event.hostname,
        givenName: event.name ?? agent.givenName,
        version: event.version ?? agent.version,
        lastSeenAtMs: event.atMs,
      };
    case 'seen':
      return { ...agent, lastSeenAtMs: event.atMs };
  }
}

function unregistered({ input }: { input: AgentInput }): AgentContext {
  return {
    id: input.id,
    keyId: input.keyId,
    hostname: '',
    givenName: null,
    version: null,
    registeredAtMs: input.atMs,
    lastSeenAtMs: input.atMs,
  };
}

export const agentBehaviour = new Behaviour<AgentContext, AgentEvent, AgentInput>(
  fromTransition(transition, unregistered),
  { id: agentId(''), keyId: keyId(''), atMs: 0 },
);
