/** Tasks that run one at a time, in turns of a length that each chooses itself. */

/** Lets all others go first; resolves when it is one's turn again. */
export type Rest = () => Promise<void>;

export type Task = (rest: Rest) => Promise<void>;

/**
 * Runs each until it rests or is over, then the next; and those that rested again, in the same order, until all are over.
 *
 * @throws what a task throws; the others are left where they are
 */
export async function inTurns(tasks: readonly Task[]): Promise<void> {
  const queue = tasks.map((task) => () => start(task));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next();

  function start(task: Task): Promise<void> {
    let turn = Promise.withResolvers<void>();
    const rest: Rest = () =>
      new Promise((goOn) => {
        const before = turn;
        queue.push(() => {
          turn = Promise.withResolvers();
          goOn();
          return turn.promise;
        });
        before.resolve();
      });
    task(rest).then(
      () => turn.resolve(),
      (error) => turn.reject(error),
    );
    return turn.promise;
  }
}
