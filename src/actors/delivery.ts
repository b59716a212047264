/**
 * The outbound delivery: a statechart.
 *
 *     queued ── started ─▶ sending ── delivered ─▶ delivered
 *       ▲                    │  │ ╲                    │
 *       │                 retry │  dead ─▶ dead-lettered
 *       │                    ▼  │                      │
 *       │                 waiting ── started ─▶ …      │
 *       └── gone (the note was deleted), wanted (there is something new to say)
 *
 * A delivery that is being sent when its content changes is sent again afterwards. One that a dead process was
 * sending is told so by `retry`, in doubt.
 */
import { assign, initialTransition, type SnapshotFrom, setup, transition } from 'xstate';
import type { AttemptResult, OutboundDelivery, OutboundState, OutboundSubject } from '../domain/outbound.ts';

export type DeliveryEvent =
  | { readonly type: 'started'; readonly atMs: number }
  | (AttemptResult & { readonly atMs: number })
  /** There is something new to say. */
  | { readonly type: 'wanted'; readonly atMs: number; readonly subject: OutboundSubject };

type Of<T extends DeliveryEvent['type']> = Extract<DeliveryEvent, { readonly type: T }>;

const machine = setup({
  types: { context: {} as OutboundDelivery, events: {} as DeliveryEvent, input: {} as OutboundDelivery },
}).createMachine({
  id: 'delivery',
  context: ({ input }) => input,
  initial: 'queued',
  // What waits is made when it is sent: it will be of the new subject.
  on: { wanted: { actions: assign({ subject: ({ event }) => event.subject }) } },
  states: {
    queued: {
      on: {
        started: { target: 'sending', actions: assign(({ context, event }) => started(context, event)) },
        dead: { target: 'dead-lettered', actions: assign(({ context, event }) => dead(context, event)) },
      },
    },
    waiting: {
      on: {
        started: { target: 'sending', actions: assign(({ context, event }) => started(context, event)) },
        dead: { target: 'dead-lettered', actions: assign(({ context, event }) => dead(context, event)) },
      },
    },
    sending: {
      on: {
        delivered: [
          {
            guard: ({ context }) => context.isOutdated,
            target: 'queued',
            actions: assign(({ context, event }) => requeued(delivered(context, event), event.atMs)),
          },
          { target: 'delivered', actions: assign(({ context, event }) => delivered(context, event)) },
        ],
        retry: { target: 'waiting', actions: assign(({ context, event }) => waiting(context, event)) },
        gone: {
          target: 'queued',
          actions: assign(({ context, event }) => ({
            ...requeued(context, event.atMs),
            noteId: null,
            isInDoubt: false,
            detail: event.detail,
          })),
        },
        dead: {
          target: 'dead-lettered',
          actions: assign(({ context, event }) => dead(context, event)),
        },
        wanted: { actions: assign({ isOutdated: true, subject: ({ event }) => event.subject }) },
      },
    },
    delivered: {
      on: {
        wanted: { target: 'queued', actions: assign(({ context, event }) => wanted(context, event)) },
      },
    },
    'dead-lettered': {
      on: {
        wanted: { target: 'queued', actions: assign(({ context, event }) => wanted(context, event)) },
      },
    },
  },
});

function started(delivery: OutboundDelivery, { atMs }: Of<'started'>): OutboundDelivery {
  return {
    ...delivery,
    attempts: delivery.attempts + 1,
    firstAttemptAtMs: delivery.firstAttemptAtMs ?? atMs,
    updatedAtMs: atMs,
    isOutdated: false,
  };
}

function delivered(delivery: OutboundDelivery, { atMs, noteId, detail }: Of<'delivered'>): OutboundDelivery {
  // A note whose number the answer did not tell has to be looked for when it is to be updated.
  const isInDoubt = delivery.subject.type === 'note' && noteId === null && delivery.noteId === null;
  return { ...delivery, noteId: noteId ?? delivery.noteId, isInDoubt, detail, updatedAtMs: atMs };
}

function waiting(delivery: OutboundDelivery, event: Of<'retry'>): OutboundDelivery {
  const { atMs, notBeforeMs, detail } = event;
  // Once in doubt, always in doubt, until the note is found or made.
  return {
    ...delivery,
    notBeforeMs,
    detail,
    isInDoubt: delivery.isInDoubt || event.isInDoubt,
    updatedAtMs: atMs,
  };
}

function dead(delivery: OutboundDelivery, { atMs, detail }: Of<'dead'>): OutboundDelivery {
  return { ...delivery, detail, updatedAtMs: atMs };
}

function wanted(delivery: OutboundDelivery, { atMs, subject }: Of<'wanted'>): OutboundDelivery {
  return { ...requeued(delivery, atMs), subject };
}

function requeued(delivery: OutboundDelivery, atMs: number): OutboundDelivery {
  return {
    ...delivery,
    attempts: 0,
    firstAttemptAtMs: null,
    notBeforeMs: atMs,
    isOutdated: false,
    queuedAtMs: atMs,
    updatedAtMs: atMs,
  };
}

export class DeliveryActor {
  #snapshot: SnapshotFrom<typeof machine>;

  constructor(delivery: OutboundDelivery, state: OutboundState = 'queued') {
    const [initial] = initialTransition(machine, delivery);
    this.#snapshot = state === 'queued' ? initial : machine.resolveState({ value: state, context: delivery });
  }

  get state(): OutboundState {
    return this.#snapshot.value;
  }

  get context(): OutboundDelivery {
    return this.#snapshot.context;
  }

  /** Nothing more happens to it by itself. */
  get isFinal(): boolean {
    return this.state === 'delivered' || this.state === 'dead-lettered';
  }

  send(event: DeliveryEvent): void {
    [this.#snapshot] = transition(machine, this.#snapshot, event);
  }
}
