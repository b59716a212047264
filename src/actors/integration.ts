/**
 * The integration: a statechart of two states. It is active until it is deleted; deleted is final, and an
 * event that comes later changes nothing.
 *
 * Run through xstate's pure `transition`, which answers the next snapshot and starts nothing: what an
 * integration is to do in the world will come out of it as data.
 */
import { assign, initialTransition, type SnapshotFrom, setup, transition } from 'xstate';
import type { Integration } from '../domain/integration.ts';
import { type IntegrationConfig, readConfig, type Sends, sendsOf } from '../domain/integration-config.ts';

export type IntegrationInput = Omit<Integration, 'configJson' | 'deliveries'>;

export type IntegrationEvent =
  | { readonly type: 'configured'; readonly configJson: string }
  | { readonly type: 'token-rotated'; readonly token: string }
  | { readonly type: 'delivery-received' }
  | { readonly type: 'deleted' };

const machine = setup({
  types: {
    context: {} as Integration,
    events: {} as IntegrationEvent,
    input: {} as IntegrationInput,
  },
}).createMachine({
  id: 'integration',
  context: ({ input }) => ({ ...input, configJson: '{}', deliveries: 0 }),
  initial: 'active',
  states: {
    active: {
      on: {
        configured: { actions: assign({ configJson: ({ event }) => event.configJson }) },
        'token-rotated': { actions: assign({ token: ({ event }) => event.token }) },
        'delivery-received': { actions: assign({ deliveries: ({ context }) => context.deliveries + 1 }) },
        deleted: 'deleted',
      },
    },
    deleted: { type: 'final' },
  },
});

export class IntegrationActor {
  #snapshot: SnapshotFrom<typeof machine>;
  #read: { readonly configJson: string; readonly config: IntegrationConfig } | undefined;

  constructor(input: IntegrationInput) {
    [this.#snapshot] = initialTransition(machine, input);
  }

  /** An active integration as it was. */
  static restore(context: Integration): IntegrationActor {
    const actor = new IntegrationActor(context);
    actor.#snapshot = machine.resolveState({ value: 'active', context });
    return actor;
  }

  get context(): Integration {
    return this.#snapshot.context;
  }

  /** Read once for every text that it has been: alerts and agents ask for it by the thousand. */
  get config(): IntegrationConfig {
    const { configJson } = this.context;
    if (this.#read?.configJson !== configJson) this.#read = { configJson, config: readConfig(configJson) };
    return this.#read.config;
  }

  /** What it sends of its own accord. */
  get sends(): Sends {
    return sendsOf(this.context, this.config);
  }

  send(event: IntegrationEvent): void {
    [this.#snapshot] = transition(machine, this.#snapshot, event);
  }
}
