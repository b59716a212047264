/** The alert: firing until its tool says that it is resolved, and again where it comes back. */
import { assign, initialTransition, type SnapshotFrom, setup, transition } from 'xstate';
import type { Alert, AlertMatch, Candidate } from '../domain/alert.ts';

/** What was found out about an alert; a match of null leaves the one there was. */
export interface Finding {
  readonly match: AlertMatch | null;
  readonly candidates: readonly Candidate[];
}

export type AlertEvent =
  | ({ readonly type: 'fired' } & Finding)
  | ({ readonly type: 'correlated' } & Finding)
  | { readonly type: 'resolved'; readonly atMs: number };

const machine = setup({
  types: { context: {} as Alert, events: {} as AlertEvent, input: {} as Alert },
  actions: {
    fire: assign({
      status: 'firing',
      resolvedAtMs: null,
      isSettled: false,
      candidates: ({ context, event }) => (event.type === 'fired' ? event.candidates : context.candidates),
      match: ({ context, event }) => (event.type === 'fired' && event.match) || context.match,
    }),
    resolve: assign({
      status: 'resolved',
      resolvedAtMs: ({ event }) => (event.type === 'resolved' ? event.atMs : null),
    }),
    settle: assign({
      isSettled: true,
      candidates: ({ context, event }) =>
        event.type === 'correlated' ? event.candidates : context.candidates,
      match: ({ context, event }) => (event.type === 'correlated' && event.match) || context.match,
    }),
  },
}).createMachine({
  id: 'alert',
  context: ({ input }) => input,
  initial: 'firing',
  // Causes are looked for also when it has been resolved meanwhile: whoever was paged still wants to know.
  on: { correlated: { actions: 'settle' } },
  states: {
    firing: { on: { resolved: { target: 'resolved', actions: 'resolve' } } },
    resolved: { on: { fired: { target: 'firing', actions: 'fire' } } },
  },
});

export class AlertActor {
  #snapshot: SnapshotFrom<typeof machine>;

  /** An alert as it is, firing or resolved. */
  constructor(alert: Alert) {
    const [initial] = initialTransition(machine, alert);
    this.#snapshot =
      alert.status === 'firing' ? initial : machine.resolveState({ value: 'resolved', context: alert });
  }

  get context(): Alert {
    return this.#snapshot.context;
  }

  send(event: AlertEvent): void {
    [this.#snapshot] = transition(machine, this.#snapshot, event);
  }
}
