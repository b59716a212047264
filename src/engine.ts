/**
 * The engine: Foreshock without its sockets. Opens the log of a data directory, replays it, and puts
 * pipeline and queries on top. The server serves it; the admin commands open it themselves when none runs.
 */
import { Checkpointer, type CheckpointTask } from './commands/checkpointer.ts';
import { Housekeeping } from './commands/housekeeping.ts';
import { load } from './commands/load.ts';
import { LogTime } from './commands/log-time.ts';
import { Pipeline } from './commands/pipeline.ts';
import type { State } from './commands/state.ts';
import type { Settings } from './config.ts';
import type { Clock } from './lib/clock.ts';
import type { Disk } from './lib/disk.ts';
import type { Entropy } from './lib/entropy.ts';
import { busyShareMeter } from './lib/event-loop.ts';
import { Histogram } from './lib/histogram.ts';
import type { Scheduler } from './lib/scheduler.ts';
import { StopStack } from './lib/stop-stack.ts';
import { LogUnavailable } from './log/errors.ts';
import { CommandLog } from './log/log.ts';
import type { ReplayProgress } from './log/replay.ts';
import { LOG_ID_BYTES } from './log/segment.ts';
import type { ReadEvents } from './queries/event-log.ts';
import { describe, Queries } from './queries/queries.ts';
import { Snapshots } from './snapshots/snapshots.ts';
import { StreamHub } from './stream/hub.ts';

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
  /** Makes a checkpoint, on another thread where there is one. Without it none is made and nothing deleted. */
  readonly makeCheckpoint?: (task: CheckpointTask, nobodyWaits: AbortSignal) => Promise<void>;
  /** Something went wrong that stops nothing: a checkpoint that could not be made, a caller that threw. */
  readonly onTrouble: (error: unknown) => void;
  /** Writes are not taken any more, for this reason; or, undefined, are taken again. */
  readonly onWriteTrouble: (reason: string | undefined) => void;
  readonly onProgress?: (progress: ReplayProgress) => void;
}

export interface Engine {
  readonly log: Pick<CommandLog, 'lastStamp' | 'sizeBytes'>;
  /** How long syncs of the log took. */
  readonly syncs: Histogram;
  /** Undefined where none are made. */
  readonly checkpoints: Pick<Checkpointer, 'newestAtMs' | 'failures'> | undefined;
  /** How long restoring the newest checkpoint and replaying what came after it took. */
  readonly loadMs: number;
  readonly state: State;
  readonly pipeline: Pipeline;
  readonly queries: Queries;
  readonly streams: StreamHub;
  readonly time: Pick<Clock, 'now'>;
  readonly readEvents: ReadEvents;
  /** The log was closed in order before. */
  readonly cleanShutdown: boolean;
  /** Commands replayed from the log. */
  readonly replayed: number;
  /** What was passed over or mended on the way, a sentence each, for the operator. */
  readonly notices: readonly string[];
  /** Makes a checkpoint if one is due, and deletes what is superfluous, without waiting for the next look. */
  checkpointNow(): Promise<void>;
  /** Settles what waits, makes the log durable, and lets go of it. */
  close(): Promise<void>;
}

function clockNotice(time: LogTime): string[] {
  time.now();
  const seconds = Math.round(time.behindMs / 1000);
  if (seconds === 0) return [];
  return [
    `the clock is ${seconds} s behind the last command of the log: time goes on from there until it has caught up`,
  ];
}

/** What readers have seen expire stays expired, also where the clock is set back before the next start. */
async function keepTime(log: CommandLog, time: LogTime): Promise<void> {
  const { sequence, atMs } = log.lastStamp;
  if (sequence === 0 || time.now() <= atMs) return;
  try {
    log.append({ type: 'pass-time' }, time.now());
    await log.makeDurable();
  } catch (error) {
    // A disk that takes nothing keeps nobody from stopping: the next start goes on from the last command.
    if (!(error instanceof LogUnavailable)) throw error;
  }
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { settings, disk, clock, scheduler, entropy, baseUrl, onFatal } = options;
  const stops = new StopStack();

  const limits = {
    retentionMs: settings.retentionSeconds * 1000,
    windowMaxEvents: settings.windowMaxEvents,
    windowMaxBytes: settings.windowMaxBytes,
  };
  const snapshots: Snapshots = new Snapshots((tenantId, table, id) => describe(state, tenantId, table, id));
  const { dataDirectory, segmentBytes, logRoomBytes: roomBytes } = settings;
  const writes = settings.durability === 'write' ? 'each' : 'grouped';
  const newLogId = Buffer.from(entropy.bytes(LOG_ID_BYTES)).toString('hex');
  const pause = () => new Promise<void>((resolve) => scheduler.soon(resolve));
  const startedMs = clock.monotonic();
  const { state, after, read, passedOver } = await load(
    { disk, dataDirectory, limits, changes: snapshots, pause, onProgress: options.onProgress ?? (() => {}) },
    (replayOptions, visit) =>
      CommandLog.open({ ...replayOptions, segmentBytes, writes, roomBytes, newLogId }, visit),
  );
  const { log, commands: replayed } = read;
  const loadMs = clock.monotonic() - startedMs;
  const time = new LogTime(clock, log.lastStamp.atMs);
  stops.push(async () => {
    await keepTime(log, time);
    log.close();
  });

  const syncs = new Histogram();
  const pipeline = new Pipeline({
    state,
    log,
    time,
    scheduler,
    clock,
    onSync: (milliseconds) => syncs.observe(milliseconds),
    durability: settings.durability,
    caps: settings,
    onFatal,
    onTrouble: options.onWriteTrouble,
    onSettleError: options.onTrouble,
  });
  stops.push(() => pipeline.close());

  const readEvents: ReadEvents = (entries) => log.readEvents(entries);
  const queries = new Queries({
    state,
    snapshots,
    time,
    readEvents,
    baseUrl,
    agentStaleAfterMs: settings.agentStaleAfterSeconds * 1000,
  });

  const streams = new StreamHub({
    state,
    pipeline,
    walk: (fromSequence) => log.walk(fromSequence),
    time,
    clock,
    scheduler,
    busyShare: busyShareMeter(),
    agentStaleAfterMs: settings.agentStaleAfterSeconds * 1000,
    maxStreams: settings.maxStreams,
    maxStreamsTenant: settings.maxStreamsTenant,
    onTrouble: options.onTrouble,
  });
  stops.push(() => streams.stop());

  const { makeCheckpoint } = options;
  const checkpointer =
    makeCheckpoint &&
    new Checkpointer({
      disk,
      dataDirectory,
      log,
      time,
      scheduler,
      retentionMs: limits.retentionMs,
      everySegments: settings.checkpointSegments,
      restoredOrdinal: after?.ordinal ?? 0,
      make: (throughOrdinal, nobodyWaits) =>
        makeCheckpoint({ dataDirectory, limits, throughOrdinal }, nobodyWaits),
      onTrouble: options.onTrouble,
    });
  checkpointer?.start();
  stops.push(() => checkpointer?.stop());

  const housekeeping = new Housekeeping({ state, snapshots, time, pipeline, scheduler });
  housekeeping.start();
  stops.push(() => housekeeping.stop());

  return {
    log,
    syncs,
    checkpoints: checkpointer,
    loadMs,
    state,
    pipeline,
    queries,
    streams,
    time,
    readEvents,
    replayed,
    cleanShutdown: read.cleanShutdown,
    notices: [...passedOver, ...read.mended, ...clockNotice(time)],
    checkpointNow: async () => checkpointer?.look(),
    close: () => stops.run(),
  };
}
