/**
 * The agent: who reports, and whether it is heard. What it does is come and go silent; what it says of itself when it
 * registers is data beside that.
 */
import { fromTransition } from 'xstate';
import type { AgentId, KeyId } from '../domain/ids.ts';
import type { Mutable } from '../lib/mutable.ts';
import { Behaviour } from './behaviour.ts';

/** What never changes of an agent. */
export interface AgentIdentity {
  readonly id: AgentId;
  readonly keyId: KeyId;
  readonly registeredAtMs: number;
}

/** What an agent says of itself. */
export interface Registration {
  readonly hostname: string;
  /** What the agent calls itself; null while its name follows its hostname. */
  readonly givenName: string | null;
  readonly version: string | null;
}

/** The actor's context. */
export interface Presence {
  readonly lastSeenAtMs: number;
  /** Not heard of for too long, and how it was called when that was found; null while it is live. */
  readonly stale: StaleSpell | null;
}

export interface AgentContext extends AgentIdentity, Registration, Presence {}

export interface StaleSpell {
  readonly sinceMs: number;
  readonly name: string;
  readonly hostname: string;
  readonly lastSeenAtMs: number;
}

export type PresenceEvent =
  /** A registration, a heartbeat, or events. */
  | { readonly type: 'seen'; readonly atMs: number }
  | {
      readonly type: 'became-stale';
      readonly atMs: number;
      readonly name: string;
      readonly hostname: string;
    };

function transition(presence: Presence, event: PresenceEvent): Presence {
  switch (event.type) {
    case 'seen':
      return { lastSeenAtMs: event.atMs, stale: null };
    case 'became-stale': {
      if (presence.stale !== null) return presence;
      const { lastSeenAtMs } = presence;
      const { atMs: sinceMs, name, hostname } = event;
      return { lastSeenAtMs, stale: { sinceMs, name, hostname, lastSeenAtMs } };
    }
  }
}

function justSeen({ input }: { input: { readonly atMs: number } }): Presence {
  return { lastSeenAtMs: input.atMs, stale: null };
}

function keep(held: Mutable<Presence>, next: Presence): void {
  held.lastSeenAtMs = next.lastSeenAtMs;
  held.stale = next.stale;
}

export const presenceBehaviour = new Behaviour<Presence, PresenceEvent, { readonly atMs: number }>(
  fromTransition(transition, justSeen),
  keep,
  { atMs: 0 },
);

/** What is known of an agent after it has registered, for the first time or again. */
export function registered(
  before: Registration | undefined,
  said: { readonly hostname: string; readonly name: string | null; readonly version: string | null },
): Registration {
  return {
    hostname: said.hostname,
    givenName: said.name ?? before?.givenName ?? null,
    version: said.version ?? before?.version ?? null,
  };
}

export function nameOf({ givenName, hostname }: Registration): string {
  return givenName ?? hostname;
}
