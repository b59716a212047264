/**
 * The thread that makes checkpoints, so that the server's own never stops for one. It gives way to all others at the
 * machine: on two cores, one of them busy, p99 of an ingest beside a checkpoint came to 9 ms without that, and to 4
 * with it. Where no core is ever idle it takes up to seventy times as long, and nothing waits for it.
 */
import { constants, setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { type CheckpointTask, makeCheckpoint } from './commands/checkpointer.ts';
import { nodeDisk } from './lib/disk.ts';

// Elsewhere it would be the whole process.
if (process.platform === 'linux') {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // A sandbox that forbids it: then it is a thread like others.
  }
}

const task: CheckpointTask = workerData;
await makeCheckpoint({ ...task, disk: nodeDisk });
