/** The statechart of a delivery under any sequence of events, also those that nobody should send. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeliveryActor, type DeliveryEvent } from '../../src/actors/delivery.ts';
import { alertId, integrationId, outboundId } from '../../src/domain/ids.ts';
import type { OutboundDelivery, OutboundState, OutboundSubject } from '../../src/domain/outbound.ts';

const note = (n: number): OutboundSubject => ({ type: 'note', alertId: alertId(`a${n}`), incident: 'Q1' });

const FRESH: OutboundDelivery = {
  ...{ id: outboundId('o'), integrationId: integrationId('i'), subject: note(0) },
  ...{ queuedAtMs: 0, updatedAtMs: 0, attempts: 0, firstAttemptAtMs: null, notBeforeMs: 0 },
  ...{ detail: null, noteId: null, isInDoubt: false, isOutdated: false },
};

const event = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: 'started' } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ type: fc.constant('delivered' as const), detail: fc.constant('answered 200') },
      noteId: fc.constantFrom('P1', 'P2', null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ type: fc.constant('retry' as const), detail: fc.constant('answered 503') },
      ...{ notBeforeMs: fc.nat(1000), isInDoubt: fc.boolean() },
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'gone', detail: 'answered 404' } as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'dead', detail: 'answered 401' } as const) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('wanted' as const), subject: fc.nat(9).map(note) }) },
);

/** Where an event leads from where, and nowhere else. */
const NEXT: {
  readonly [S in OutboundState]: Partial<Record<DeliveryEvent['type'], readonly OutboundState[]>>;
} = {
  queued: { started: ['sending'], dead: ['dead-lettered'], wanted: ['queued'] },
  waiting: { started: ['sending'], dead: ['dead-lettered'], wanted: ['waiting'] },
  sending: {
    delivered: ['delivered', 'queued'],
    ...{ retry: ['waiting'], gone: ['queued'], dead: ['dead-lettered'], wanted: ['sending'] },
  },
  delivered: { wanted: ['queued'] },
  'dead-lettered': { wanted: ['queued'] },
};

describe('a delivery', () => {
  it('goes where its statechart says, counts, and forgets neither what is new nor a doubt', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        const delivery = new DeliveryActor(FRESH);
        let attempts = 0;
        /** What the peer may have been told last: to be delivered, it must be what is wanted. */
        let wanted = 0;
        let told = -1;
        for (const [index, each] of events.entries()) {
          const { state, context } = delivery;
          const allowed = NEXT[state][each.type];
          delivery.send({ ...each, atMs: index + 1 });
          const now = delivery.context;
          if (allowed === undefined) {
            expect([delivery.state, now]).toEqual([state, context]);
            continue;
          }
          expect(allowed).toContain(delivery.state);
          if (each.type === 'wanted') wanted = index;
          if (each.type === 'started') told = index;
          if (each.type === 'started') attempts += 1;
          if (delivery.state === 'queued' && each.type !== 'wanted') attempts = 0;
          if (delivery.state === 'queued' && ['delivered', 'dead-lettered'].includes(state)) attempts = 0;
          expect(now.attempts).toBe(attempts);
          expect(delivery.isFinal).toBe(delivery.state === 'delivered' || delivery.state === 'dead-lettered');
          // What was wanted last was sent, or will be.
          if (each.type === 'wanted') expect(now.subject).toBe(each.subject);
          else expect(now.subject).toBe(context.subject);
          if (delivery.state === 'delivered') expect(told).toBeGreaterThanOrEqual(wanted);
          // In doubt until the note is found or made, or is known to be gone.
          if (context.isInDoubt && !now.isInDoubt) {
            expect(['delivered', 'gone']).toContain(each.type);
            if (each.type === 'delivered') expect(now.noteId).not.toBeNull();
          }
          if (each.type === 'retry' && each.isInDoubt) expect(now.isInDoubt).toBe(true);
          if (each.type === 'gone') expect(now).toMatchObject({ noteId: null, isInDoubt: false });
          // A delivered note is one that can be updated: by its number, or by looking for it.
          if (delivery.state === 'delivered') expect(now.noteId === null).toBe(now.isInDoubt);
          if (delivery.state === 'queued') expect(now.isOutdated).toBe(false);
          expect(now.updatedAtMs).toBeGreaterThanOrEqual(context.updatedAtMs);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is after a restart at any moment what it was', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.array(event, { maxLength: 10 }), (events, then) => {
        const delivery = new DeliveryActor(FRESH);
        for (const [index, each] of events.entries()) delivery.send({ ...each, atMs: index + 1 });
        const { state, context } = delivery;
        const restored = new DeliveryActor(JSON.parse(JSON.stringify(context)), state);
        for (const [index, each] of then.entries()) {
          for (const actor of [delivery, restored]) actor.send({ ...each, atMs: 100 + index });
          expect([restored.state, restored.context]).toEqual([delivery.state, delivery.context]);
        }
      }),
    );
  });
});
