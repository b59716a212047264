/**
 * The engine: Foreshock without its sockets. Opens the log of a data directory, replays it, and puts
 * pipeline and queries on top. The server serves it; the admin commands open it themselves when none runs.
 */
import { join } from 'node:path';
import { apply } from './commands/apply.ts';
import { Housekeeping } from './commands/housekeeping.ts';
import { LogTime } from './commands/log-time.ts';
import { Pipeline } from './commands/pipeline.ts';
import { State } from './commands/state.ts';
import type { Settings } from './config.ts';
import type { Clock } from './lib/clock.ts';
import type { Disk } from './lib/disk.ts';
import type { Entropy } from './lib/entropy.ts';
import type { Scheduler } from './lib/scheduler.ts';
import { StopStack } from './lib/stop-stack.ts';
import { CommandLog } from './log/log.ts';
import type { LogPosition } from './log/position.ts';
import { LOG_ID_BYTES } from './log/segment.ts';
import { describe, Queries } from './queries/queries.ts';
import { Snapshots } from './snapshots/snapshots.ts';

export interface EngineOptions {
  readonly settings: Settings;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly entropy: Entropy;
  /** What webhook URLs start with. */
  readonly baseUrl: () => string;
  /** A broken invariant or a failed sync: the process must end. */
  readonly onFatal: (error: Error) => void;
}

export interface Engine {
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly queries: Queries;
  /** Commands that were in the log. */
  readonly replayed: number;
  /** What recovery mended, a sentence each. */
  readonly mended: readonly string[];
  /** Settles what waits, makes the log durable, and lets go of it. */
  close(): Promise<void>;
}

/** How many commands are replayed between two looks at what has expired in the log's own time. */
const RECLAIM_EVERY = 4096;

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { settings, disk, clock, scheduler, entropy, baseUrl, onFatal } = options;
  const stops = new StopStack();

  const snapshots: Snapshots = new Snapshots((tenantId, table, id) => describe(state, tenantId, table, id));
  const state = new State(
    { retentionMs: settings.retentionSeconds * 1000, windowMaxEvents: settings.windowMaxEvents },
    snapshots,
  );

  const { log, commands, mended } = await CommandLog.open(
    {
      disk,
      directory: join(settings.dataDirectory, 'log'),
      segmentBytes: settings.segmentBytes,
      newLogId: Buffer.from(entropy.bytes(LOG_ID_BYTES)).toString('hex'),
      writes: settings.durability === 'write' ? 'each' : 'grouped',
      pause: () => new Promise((resolve) => scheduler.soon(resolve)),
    },
    (command, stamp, position) => {
      apply(state, command, stamp, position);
      if (stamp.sequence % RECLAIM_EVERY === 0) state.reclaim(stamp.atMs, Number.POSITIVE_INFINITY);
    },
  );
  stops.push(() => log.close());
  const replayed = commands;

  const time = new LogTime(clock, log.lastStamp.atMs);
  const pipeline = new Pipeline({
    state,
    log,
    time,
    scheduler,
    durability: settings.durability,
    onFatal,
  });
  stops.push(() => pipeline.close());

  const queries = new Queries({
    state,
    snapshots,
    time,
    readRecord: (position) => log.read(position as LogPosition),
    baseUrl,
    agentStaleAfterMs: settings.agentStaleAfterSeconds * 1000,
  });

  const housekeeping = new Housekeeping({ state, snapshots, time, scheduler });
  housekeeping.start();
  stops.push(() => housekeeping.stop());

  return { state, pipeline, queries, replayed, mended, close: () => stops.run() };
}
