/**
 * From a data directory to a state: the newest checkpoint that can be read, then the log after it. The same
 * at a start, for the next checkpoint, and for looking at a directory that nobody serves.
 */
import { basename, join } from 'node:path';
import type { Disk } from '../lib/disk.ts';
import { CheckpointBroken, checkpointOrdinals, readCheckpoint } from '../log/checkpoint.ts';
import type { ReplayOptions, SegmentEnd, Visit } from '../log/replay.ts';
import { apply } from './apply.ts';
import { type ChangeListener, State, type StateLimits } from './state.ts';
import { StateRestorer } from './state-rows.ts';

export const logDirectory = (dataDirectory: string): string => join(dataDirectory, 'log');

/** Whether a server has written to a directory. @throws the system's error where there is none */
export function holdsData(disk: Disk, dataDirectory: string): boolean {
  return disk.list(dataDirectory).includes(basename(logDirectory(dataDirectory)));
}
export const checkpointDirectory = (dataDirectory: string): string => join(dataDirectory, 'checkpoints');

export interface LoadOptions extends Omit<ReplayOptions, 'directory' | 'after'> {
  readonly dataDirectory: string;
  readonly limits: StateLimits;
  readonly changes: ChangeListener;
}

/** How many commands are replayed between two looks at what has expired in the log's own time. */
const RECLAIM_EVERY = 4096;

/** @param read replays the log, changing what it must on disk or nothing: `recover`, `replay` or `CommandLog.open` */
export async function load<End extends { readonly commands: number }>(
  options: LoadOptions,
  read: (options: ReplayOptions, visit: Visit) => Promise<End>,
): Promise<Restored & { readonly read: End }> {
  const { dataDirectory, disk, limits, changes, ...rest } = options;
  const restored = restore(disk, checkpointDirectory(dataDirectory), limits, changes);
  const { state, after } = restored;
  const replayOptions = { ...rest, disk, directory: logDirectory(dataDirectory), after };
  const end = await read(replayOptions, (record) => {
    apply(state, record);
    const { sequence, atMs } = record.stamp;
    // A step a command keeps pace: a command brings one event, as a rule, and a step takes out many.
    if (sequence % RECLAIM_EVERY === 0) state.reclaim(atMs, RECLAIM_EVERY);
  });
  return { ...restored, read: end };
}

interface Restored {
  readonly state: State;
  /** What the checkpoint that was taken covers; undefined where none was. */
  readonly after: SegmentEnd | undefined;
  readonly passedOver: readonly string[];
}

function restore(disk: Disk, directory: string, limits: StateLimits, changes: ChangeListener): Restored {
  disk.makeDirectory(directory);
  const passedOver: string[] = [];
  for (const ordinal of checkpointOrdinals(disk, directory)) {
    const state = new State(limits, changes);
    try {
      const after = readCheckpoint(disk, directory, ordinal, new StateRestorer(state).take);
      return { state, after, passedOver };
    } catch (error) {
      if (!(error instanceof CheckpointBroken)) throw error;
      passedOver.push(error.message);
    }
  }
  return { state: new State(limits, changes), after: undefined, passedOver };
}
