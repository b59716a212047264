/** Making a checkpoint on a thread of its own. */
import { Worker } from 'node:worker_threads';
import type { CheckpointTask } from './commands/checkpointer.ts';

/** As this file is called: `.ts` in the repository, `.js` in a package. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Rejects with what went wrong there. */
export function makeCheckpointOnThread(task: CheckpointTask): Promise<void> {
  const worker = new Worker(new URL(`./checkpoint-worker${EXTENSION}`, import.meta.url), {
    workerData: task,
  });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the checkpoint thread ended with ${code}`));
    });
  });
}
