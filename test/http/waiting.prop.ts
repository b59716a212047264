import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Waiting } from '../../src/http/waiting.ts';
import { collectGarbage } from '../support/garbage.ts';

interface Request {
  readonly number: number;
  readonly deadlineMs: number;
  open: boolean;
}

const TIME_LEFT_MS = 50;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('ask' as const), count: fc.integer({ min: 1, max: 300 }) }),
  },
  /** So many of those that are open are answered, from this part of them on. */
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('answer' as const),
      count: fc.nat(400),
      from: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.99, noNaN: true })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.nat(40) }) },
);

describe('requests that wait for their answers', () => {
  it('are counted while they are open, and each is called back once, when its time is over and it is open still', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const waiting = new Waiting<Request>();
        const all: Request[] = [];
        let nowMs = 0;
        const open = () => all.filter((request) => request.open);
        for (const each of steps) {
          if (each.type === 'ask') {
            for (let n = 0; n < each.count; n += 1) {
              const request = { number: all.length, deadlineMs: nowMs + TIME_LEFT_MS, open: true };
              all.push(request);
              waiting.add(request, request.deadlineMs);
            }
          } else if (each.type === 'answer') {
            const those = open();
            const from = Math.floor(each.from * those.length);
            for (const request of those.slice(from, from + each.count)) request.open = false;
          } else {
            nowMs += each.ms;
            const expected = open().filter(({ deadlineMs }) => deadlineMs <= nowMs);
            const overdue: Request[] = [];
            waiting.takeOverdue(nowMs, (request) => {
              overdue.push(request);
              request.open = false;
            });
            expect(overdue).toEqual(expected);
          }
          expect(waiting.countOpen()).toBe(open().length);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are let go of as they are answered, without anybody having looked for those that are overdue', async () => {
    const waiting = new Waiting<Request>();
    const held: WeakRef<Request>[] = [];
    const askAndAnswer = () => {
      const request = { number: held.length, deadlineMs: 1000, open: true };
      waiting.add(request, request.deadlineMs);
      request.open = false;
      held.push(new WeakRef(request));
    };
    for (let n = 0; n < 10_000; n += 1) askAndAnswer();
    await collectGarbage();
    expect(held.filter((request) => request.deref() !== undefined).length).toBeLessThan(1000);
    expect(waiting.countOpen()).toBe(0);
  });
});
