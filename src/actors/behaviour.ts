/**
 * Virtual actors (in the sense of Orleans' grains): an actor is its context, and runs only while it handles
 * an event. There is nothing to start and nothing to passivate, so a million known services cost what
 * their contexts cost.
 *
 * The behaviour is xstate's: actor logic whose `transition` is pure. Calling it directly costs about 0.1 µs,
 * where a started xstate actor, with its mailbox, observers and system, costs 1–5 µs a send and 3.5 KB.
 * Commands are applied one after the other, so the mailbox is the log.
 *
 * A context may be a view of numbers that lie off the heap (commands/services.ts, commands/agents.ts). What a
 * transition answers is written into it, field by field, and is garbage at once. Kept instead, the newest context of
 * each of 100 000 services outlived the next collections, which copied it twice: 1.7 of 6.1 µs that an ingest then took.
 */
import { createActor, type EventObject, type NonReducibleUnknown, type TransitionActorLogic } from 'xstate';
import type { Mutable } from '../lib/mutable.ts';

type Logic<Context, Event extends EventObject, Input extends NonReducibleUnknown> = TransitionActorLogic<
  Context,
  Event,
  Input
>;
type Scope<Context, Event extends EventObject> = Parameters<Logic<Context, Event, unknown>['transition']>[2];
type Snapshot<Context> = ReturnType<Logic<Context, EventObject, unknown>['getInitialSnapshot']>;

/** Writes all that a transition may have changed into a context. */
export type Keep<Context> = (held: Mutable<Context>, next: Context) => void;

/** A kind of actor: its logic, and what xstate wants to be handed with every transition. */
export class Behaviour<Context, Event extends EventObject, Input extends NonReducibleUnknown> {
  readonly #logic: Logic<Context, Event, Input>;
  readonly #keep: Keep<Context>;
  readonly #scope: Scope<Context, Event>;
  /** Holds the context of whichever actor handles an event. */
  readonly #snapshot: Mutable<Snapshot<Context>>;

  /** `exampleInput` makes one xstate actor, never started, whose system stands in for all of the kind. */
  constructor(logic: Logic<Context, Event, Input>, keep: Keep<Context>, exampleInput: Input) {
    this.#logic = logic;
    this.#keep = keep;
    const self = createActor(logic, { input: exampleInput });
    this.#scope = {
      self,
      id: self.id,
      sessionId: self.sessionId,
      system: self.system,
      logger: () => {},
      defer: () => {},
      emit: () => {},
      stopChild: () => {},
      actionExecutor: () => {},
    };
    this.#snapshot = logic.getInitialSnapshot(this.#scope, exampleInput);
  }

  /** The context of one that has seen no event. */
  initial(input: Input): Context {
    return this.#logic.getInitialSnapshot(this.#scope, input).context;
  }

  /** Takes the context of an actor to what it is after an event. */
  advance(held: Mutable<Context>, event: Event): void {
    this.#snapshot.context = held;
    this.#keep(held, this.#logic.transition(this.#snapshot, event, this.#scope).context);
  }

  /** Makes what a context is to be held in that of an actor as it is. */
  fill(held: Mutable<Context>, context: Context): void {
    this.#keep(held, context);
  }
}
