import { expect, it } from 'vitest';
import { Duel } from '../../bench/measure/duel.ts';
import { inTurns, type Task } from '../../bench/turns.ts';

const soon = () => new Promise((done) => setImmediate(done));

it('lets all others go first where a task rests, and goes on in the same order', async () => {
  const seen: string[] = [];
  const task =
    (name: string, rests: number): Task =>
    async (rest) => {
      for (let turn = 0; ; turn += 1) {
        seen.push(`${name}${turn}`);
        await soon();
        seen.push(`${name}${turn} over`);
        if (turn === rests) return;
        await rest();
      }
    };
  await inTurns([task('a', 2), task('b', 0), task('c', 1)]);
  const turns = ['a0', 'b0', 'c0', 'a1', 'c1', 'a2'];
  expect(seen).toEqual(turns.flatMap((turn) => [turn, `${turn} over`]));
});

it('goes on at once where there is nobody else', async () => {
  let turns = 0;
  await inTurns([
    async (rest) => {
      for (; turns < 3; turns += 1) await rest();
    },
  ]);
  expect(turns).toBe(3);
});

it.each([0, 1])('throws what a task throws after %i rests', async (rests) => {
  const failing: Task = async (rest) => {
    for (let n = 0; n < rests; n += 1) await rest();
    throw new Error('no room');
  };
  await expect(inTurns([failing, soon as Task])).rejects.toThrow('no room');
});

it('takes the best of all rounds of a duel, also of those of an earlier spell', async () => {
  const rates = [10, 30, 20];
  const duel = new Duel<'only'>();
  const only = { pid: process.pid, run: async () => ({ requests: 1, perSecond: rates.shift() ?? 0 }) };
  await duel.fight({ only }, 2);
  expect(duel.figures.only.perSecond).toBe(30);
  await duel.fight({ only }, 1);
  expect(duel.figures.only.perSecond).toBe(30);
});
