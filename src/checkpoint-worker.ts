/** The thread that makes checkpoints, so that the server's own never stops for one. */
import { workerData } from 'node:worker_threads';
import { type CheckpointTask, makeCheckpoint } from './commands/checkpointer.ts';
import { nodeDisk } from './lib/disk.ts';

const task: CheckpointTask = workerData;
await makeCheckpoint({ ...task, disk: nodeDisk });
