/**
 * Looking at a log that is not being served, and mending one that a start refuses. Verifying changes nothing;
 * a repair is planned first, so that its price can be told, and keeps all that it cuts.
 */
import { join } from 'node:path';
import { type Disk, sizeOf } from '../lib/disk.ts';
import { CheckpointBroken, checkpointFileName, checkpointOrdinals, readCheckpoint } from './checkpoint.ts';
import { LogDamaged } from './errors.ts';
import { cutTail, replayJudged, setAside } from './recovery.ts';
import { type ReplayProgress, readHeader, type SegmentEnd, segmentOrdinals, type Visit } from './replay.ts';
import { recordsAfter, SegmentScan } from './scan.ts';
import { ordinalOf, segmentFileName } from './segment.ts';
import { readMark, removeMark } from './shutdown-mark.ts';

export interface InspectOptions {
  readonly disk: Disk;
  readonly logDirectory: string;
  readonly checkpointDirectory: string;
  readonly onProgress?: (progress: ReplayProgress) => void;
}

export interface Damage {
  readonly segment: string;
  readonly offset: number;
  readonly message: string;
}

export interface Verdict {
  /** Of everything that could be read. */
  readonly commands: number;
  readonly end: SegmentEnd | undefined;
  /** Newest first. */
  readonly checkpoints: readonly { readonly name: string; readonly problem: string | undefined }[];
  /** An unfinished write at the end: a start cuts it off by itself. */
  readonly tornTail: string | undefined;
  /** What a start refuses; undefined where the log is whole. */
  readonly damage: Damage | undefined;
}

/** Reads everything there is: every segment from the first, and every checkpoint. */
export async function verify(options: InspectOptions, visit: Visit = () => {}): Promise<Verdict> {
  const { disk, logDirectory, onProgress = () => {} } = options;
  const checkpoints = verifyCheckpoints(options);
  let commands = 0;
  let end: SegmentEnd | undefined;
  const count: Visit = (record) => {
    commands += 1;
    visit(record);
  };
  try {
    const after = firstEnd(options);
    const read = await replayJudged({ disk, directory: logDirectory, after, onProgress }, count);
    end = read.end;
    const { tail } = read;
    const tornTail = tail.type === 'bad' ? `${tail.name}: ${tail.reason}` : undefined;
    return { commands, end, checkpoints, tornTail, damage: undefined };
  } catch (error) {
    if (!(error instanceof LogDamaged)) throw error;
    const { segment, offset, message } = error;
    return { commands, end, checkpoints, tornTail: undefined, damage: { segment, offset, message } };
  }
}

export interface RepairPlan {
  readonly damage: Damage;
  /** The segment is cut here; where it is 0, nothing of it is kept. */
  readonly cutAt: number;
  /** Later segments, which have nothing left to follow. */
  readonly setAside: readonly string[];
  /** Commands that can still be read behind the damage, and would be given up. */
  readonly lostCommands: number;
}

/** What it would take to make the log readable to its end, as a start reads it; undefined where nothing. */
export async function planRepair(options: InspectOptions): Promise<RepairPlan | undefined> {
  const { disk, logDirectory } = options;
  const after = newestUsable(options);
  let sequence = after?.lastStamp.sequence ?? 0;
  try {
    await replayJudged({ disk, directory: logDirectory, after }, ({ stamp }) => {
      sequence = stamp.sequence;
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof LogDamaged)) throw error;
    const { segment, offset, message } = error;
    const ordinal = ordinalOf(segment) ?? 0;
    const later = segmentOrdinals(disk, logDirectory).filter((other) => other > ordinal);
    const readable =
      readableAfter(options, ordinal, offset, sequence) +
      later.reduce((sum, other) => sum + recordsIn(options, other), 0);
    // Where the log just ends too early, the mark of its clean shutdown tells how many there were.
    const path = join(logDirectory, segment);
    const endsThere = !disk.list(logDirectory).includes(segment) || sizeOf(disk, path) <= offset;
    const mark = endsThere ? readMark(disk, logDirectory) : undefined;
    const lostCommands = mark === undefined ? readable : Math.max(readable, mark - sequence);
    return {
      damage: { segment, offset, message },
      cutAt: offset,
      setAside: later.map(segmentFileName),
      lostCommands,
    };
  }
}

/** Carries out a plan; answers what was done, a sentence each. */
export function repair({ disk, logDirectory }: InspectOptions, plan: RepairPlan): string[] {
  const done: string[] = [];
  for (const name of [...plan.setAside].reverse()) done.push(setAside(disk, logDirectory, name));
  const { segment } = plan.damage;
  if (disk.list(logDirectory).includes(segment)) {
    if (plan.cutAt === 0) done.push(setAside(disk, logDirectory, segment));
    else if (sizeOf(disk, join(logDirectory, segment)) > plan.cutAt) {
      done.push(cutTail(disk, logDirectory, segment, plan.cutAt));
    }
  }
  removeMark(disk, logDirectory);
  return done;
}

function verifyCheckpoints({ disk, checkpointDirectory }: InspectOptions): Verdict['checkpoints'] {
  if (!exists(disk, checkpointDirectory)) return [];
  return checkpointOrdinals(disk, checkpointDirectory).map((ordinal) => {
    const name = checkpointFileName(ordinal);
    try {
      readCheckpoint(disk, checkpointDirectory, ordinal, () => {});
      return { name, problem: undefined };
    } catch (error) {
      if (!(error instanceof CheckpointBroken)) throw error;
      return { name, problem: error.message };
    }
  });
}

/** Where the segments that are left begin: the log's start, or the checkpoint that allowed the rest to go. */
function firstEnd(options: InspectOptions): SegmentEnd | undefined {
  const { disk, logDirectory } = options;
  const [first] = segmentOrdinals(disk, logDirectory);
  if (first === undefined || first === 1) return undefined;
  const file = disk.open(join(logDirectory, segmentFileName(first)), 'read');
  try {
    const reading = readHeader(file);
    if (reading.type !== 'header') return undefined;
    const { header } = reading;
    // What went before is gone; its end is what the first header that is left says it was.
    return {
      ordinal: first - 1,
      logId: header.logId,
      lengthBytes: header.previousBytes,
      lastCrc: header.previousCrc,
      syncedBytes: header.previousBytes,
      lastStamp: { sequence: header.firstSequence - 1, atMs: 0 },
    };
  } finally {
    file.close();
  }
}

function newestUsable({ disk, checkpointDirectory }: InspectOptions): SegmentEnd | undefined {
  if (!exists(disk, checkpointDirectory)) return undefined;
  for (const ordinal of checkpointOrdinals(disk, checkpointDirectory)) {
    try {
      return readCheckpoint(disk, checkpointDirectory, ordinal, () => {});
    } catch (error) {
      if (!(error instanceof CheckpointBroken)) throw error;
    }
  }
  return undefined;
}

function readableAfter(
  { disk, logDirectory }: InspectOptions,
  ordinal: number,
  offset: number,
  sequence: number,
): number {
  const name = segmentFileName(ordinal);
  if (!disk.list(logDirectory).includes(name)) return 0;
  const file = disk.open(join(logDirectory, name), 'read');
  try {
    const reading = readHeader(file);
    if (reading.type !== 'header') return 0;
    return [...recordsAfter(file, reading.seed, offset, sequence)].length;
  } finally {
    file.close();
  }
}

function recordsIn({ disk, logDirectory }: InspectOptions, ordinal: number): number {
  const file = disk.open(join(logDirectory, segmentFileName(ordinal)), 'read');
  try {
    const reading = readHeader(file);
    if (reading.type !== 'header') return 0;
    let records = 0;
    const scan = new SegmentScan(file, reading.seed);
    while (
      scan.step(() => {
        records += 1;
      }) === undefined
    );
    return records;
  } finally {
    file.close();
  }
}

function exists(disk: Disk, directory: string): boolean {
  try {
    disk.list(directory);
    return true;
  } catch {
    return false;
  }
}
