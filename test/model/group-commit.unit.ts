import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type CommitQueue, commitQueue } from '../../src/commands/durability.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { eventLoop } from '../../src/lib/scheduler.ts';

/** A log that takes a few turns to make durable what was appended, and says how often it was asked at once. */
class SlowLog {
  appended: string[] = [];
  durable: string[] = [];
  underWay = 0;
  mostUnderWay = 0;

  async makeDurable(): Promise<void> {
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    const group = this.appended.splice(0);
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    this.durable.push(...group);
    this.underWay -= 1;
  }
}

describe('group commit', () => {
  it('commits what is appended while a group is committed, once and with a sync of its own', async () => {
    const log = new SlowLog();
    const committed: string[] = [];
    const failures: unknown[] = [];
    const append = (entry: string) => {
      log.appended.push(entry);
      queue.appended(entry);
    };
    const queue: CommitQueue<string> = commitQueue('fsync', {
      log,
      scheduler: eventLoop,
      clock: systemClock,
      commit: (entry) => {
        if (!log.durable.includes(entry)) failures.push(`${entry} is not durable`);
        committed.push(entry);
        if (entry.length < 4) append(`${entry}'`);
        // It comes while their sync is under way, and before the turn in which a group would be started.
        if (entry === 'b') queueMicrotask(() => append('late'));
      },
      abandon: (entry) => failures.push(`${entry} was abandoned`),
      onSync: () => {},
      onFatal: (error) => failures.push(error),
    });
    append('a');
    append('b');
    for (let turn = 0; turn < 500 && committed.length < 9; turn += 1) await nextTurn();
    await new Promise<void>((resolve) => queue.whenIdle(resolve));
    expect(failures).toEqual([]);
    expect(committed).toEqual(['a', 'b', "a'", "b'", 'late', "a''", "b''", "a'''", "b'''"]);
    expect(log.mostUnderWay).toBe(1);
    expect(queue.waiting).toBe(0);
  });
});
