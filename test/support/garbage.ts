import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all that nobody refers to any more. What a WeakRef was made to in this turn would stay to its end. */
export async function collectGarbage(): Promise<void> {
  await nextTurn();
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}
