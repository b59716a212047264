/** Making a checkpoint on a thread of its own. */
import { Worker } from 'node:worker_threads';
import type { CheckpointTask } from './commands/checkpointer.ts';

/** Rejects with what went wrong there. */
export function makeCheckpointOnThread(task: CheckpointTask): Promise<void> {
  const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), { workerData: task });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the checkpoint thread ended with ${code}`));
    });
  });
}
