/** Making a checkpoint on a thread of its own. */
import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { CheckpointTask } from './commands/checkpointer.ts';
import { giveBackFreedMemory } from './lib/freed-memory.ts';

/** As this file is called: `.ts` in the repository, `.js` in a package. */
const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Rejects with what went wrong there, or where nobody waits for it any more: it is left undone then. */
export async function makeCheckpointOnThread(task: CheckpointTask, nobodyWaits: AbortSignal): Promise<void> {
  // The threads that sync the log are made when one is first needed, with the priority of the thread that needs it.
  await stat(task.dataDirectory);
  nobodyWaits.throwIfAborted();
  const worker = new Worker(new URL(`./checkpoint-worker${EXTENSION}`, import.meta.url), {
    workerData: task,
  });
  // As if the process had ended then: what it has written so far, the next look at the directory removes.
  const giveUp = () => void worker.terminate();
  nobodyWaits.addEventListener('abort', giveUp);
  try {
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', (code) => {
        if (code === 0) resolve();
        else reject(new Error(`the checkpoint thread ended with ${code}`));
      });
    });
  } finally {
    nobodyWaits.removeEventListener('abort', giveUp);
    // The heaps that the thread allocated from outlive it.
    await giveBackFreedMemory();
  }
  // One that is ended before it has begun may say that all is well.
  nobodyWaits.throwIfAborted();
}
