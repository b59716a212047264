/**
 * One run: a machine whose disk fails and whose clock jumps, processes on it that serve, crash and start again, and
 * beside them what was promised (ledger.ts) and what must be answered (model.ts). A seed decides everything.
 */
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import type { Outcome } from '../../src/commands/apply.ts';
import { makeCheckpoint } from '../../src/commands/checkpointer.ts';
import { checkpointDirectory, logDirectory } from '../../src/commands/load.ts';
import { DEFAULTS, type Settings } from '../../src/config.ts';
import type { Command, TenantCommand } from '../../src/domain/command.ts';
import { type Engine, type EngineOptions, openEngine } from '../../src/engine.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Entropy } from '../../src/lib/entropy.ts';
import type { Scheduler } from '../../src/lib/scheduler.ts';
import { CheckpointBroken, checkpointFileName, checkpointOrdinals } from '../../src/log/checkpoint.ts';
import { LogDamaged, SyncFailed } from '../../src/log/errors.ts';
import { segmentOrdinals } from '../../src/log/replay.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { DiskFault, type End, NO_FAULTS, ProcessEnded, SimulatedDisk } from './disk.ts';
import { type Entry, Ledger, newEntry } from './ledger.ts';
import { expiresAtMs, Model } from './model.ts';
import { allQuestions, anyQuestion, type Question } from './questions.ts';
import { Random } from './random.ts';
import { recordsOnDisk } from './records.ts';
import { ProcessScheduler, promisesSettle, SimulatedScheduler } from './scheduler.ts';
import { WatchedClock } from './watched-clock.ts';
import { Workload } from './workload.ts';

const DATA_DIRECTORY = '/data';
const BASE_URL = 'http://foreshock.test';
const START_MS = Date.parse('2026-08-22T10:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What durability.ts promises: a sync starts this long after the one before, or after the first command. */
const SYNC_INTERVAL_MS = 100;
const STALL_MS = 2000;
/** Operations that it takes at most to make a group durable, cuts and a new segment included. */
const GROUP_OPERATIONS = 12;
const TRACE_LINES = 400;

export interface Statistics {
  readonly seed: number;
  /** Of everything that happened: the same for the same seed. */
  readonly hash: number;
  readonly commands: number;
  readonly starts: number;
  readonly failedStarts: number;
  readonly crashes: number;
  readonly stops: number;
  readonly checkpoints: number;
  readonly deletedSegments: number;
  readonly refusedForDisk: number;
  /** Refused for the disk, and in the log after a crash all the same. */
  readonly cameBack: number;
  readonly questions: number;
}

export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  readonly seed: number;
  readonly step: number;
  /** The last of what happened, a line each. */
  readonly trace: readonly string[];

  constructor(seed: number, step: number, message: string, trace: readonly string[]) {
    super(message);
    this.seed = seed;
    this.step = step;
    this.trace = trace;
  }
}

/** @throws SimulationFailure */
export function simulate(seed: number): Promise<Statistics> {
  return new Simulation(seed).run();
}

interface Running {
  readonly engine: Engine;
  readonly clock: WatchedClock;
}

class Simulation {
  readonly #seed: number;
  /** Streams of their own, so that a change to one part leaves the others as they were. */
  readonly #random: Random;
  readonly #diskRandom: Random;
  readonly #entropy: Entropy;
  readonly #scheduler = new SimulatedScheduler(START_MS);
  readonly #settings: Settings;
  readonly #workload: Workload;
  readonly #firstCommands: TenantCommand[];
  readonly #ledger = new Ledger();
  #model: Model;
  #disk: SimulatedDisk;
  #process: ProcessScheduler;
  #failure: SimulationFailure | undefined;
  #isClosing = false;
  /** How the process before ended; undefined where nobody can know what it left. */
  #lastEnd: 'stop' | 'crash' | undefined = 'crash';
  /** The time that readers had seen when it was stopped. */
  #shownAtMs = 0;
  /** Since the last process that came to serve was started. */
  #longestLatencyMs = 0;
  #hasBadCheckpoint = false;
  /** Virtual time at which the log forgot a group of commands. */
  #abandonedAtMs = -1;
  #typicalLatencyMs = 1;
  #stallChance = 0;
  #step = 0;
  #hash = 0;
  readonly #trace: string[] = [];
  readonly #count = {
    commands: 0,
    starts: 0,
    failedStarts: 0,
    crashes: 0,
    stops: 0,
    checkpoints: 0,
    deletedSegments: 0,
    refusedForDisk: 0,
    questions: 0,
  };

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed, 'simulation');
    this.#diskRandom = new Random(seed, 'disk');
    const secrets = new Random(seed, 'entropy');
    this.#entropy = {
      bytes: (count) => Uint8Array.from({ length: count }, () => secrets.below(256)),
      uuid: () => {
        throw new Error('nobody here draws ids');
      },
    };
    const random = new Random(seed, 'settings');
    this.#workload = new Workload(new Random(seed, 'workload'), random.between(2, 3));
    this.#firstCommands = this.#workload.firstCommands();
    this.#settings = {
      ...DEFAULTS,
      dataDirectory: DATA_DIRECTORY,
      durability: random.pick(['write', 'fsync']),
      segmentBytes: random.pick([100, 400, 700, 1500, 4000]),
      logRoomBytes: random.pick([0, 150, 600, 2000, 10_000]),
      checkpointSegments: random.between(1, 4),
      retentionSeconds: random.pick([3600, 3600, 7200]),
      windowMaxEvents: random.pick([1, 2, 3, 5, 10_000]),
      windowMaxBytes: random.pick([100, 400, 65_536, 65_536]),
    };
    this.#model = this.#newModel();
    this.#disk = new SimulatedDisk({
      scheduler: this.#scheduler,
      hasRoom: random.chance(0.8),
      random: this.#diskRandom,
      latencyMs: () =>
        this.#diskRandom.chance(this.#stallChance)
          ? this.#diskRandom.between(1500, 9000)
          : this.#diskRandom.below(this.#typicalLatencyMs + 1),
      onOperation: (text) => this.#note(text),
      onSync: (name) => {
        const covered = this.#ledger.taken.length;
        return () => {
          if (/^segment-\d+\.log$/.test(name)) this.#ledger.durable = Math.max(this.#ledger.durable, covered);
        };
      },
    });
    this.#process = new ProcessScheduler(this.#scheduler);
  }

  async run(): Promise<Statistics> {
    const { durability, segmentBytes, logRoomBytes, checkpointSegments } = this.#settings;
    this.#note(`${durability}, segments of ${segmentBytes} bytes, room of ${logRoomBytes}`);
    this.#note(`a checkpoint every ${checkpointSegments} segments`);
    try {
      const lives = this.#random.between(2, 5);
      for (let life = 1; life <= lives; life += 1) await this.#live(life === lives);
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure;
      throw this.#asFailure(`it threw: ${error instanceof Error ? error.stack : String(error)}`);
    }
    return { seed: this.#seed, hash: this.#hash, ...this.#count, cameBack: this.#ledger.cameBack };
  }

  /** A process from its start to its end, or several where the first do not come to serve. */
  async #live(isLast: boolean): Promise<void> {
    const random = this.#random;
    if (!isLast && random.chance(0.75)) this.#disk.endAt = this.#disk.operations + random.ofAnySize(250);
    this.#typicalLatencyMs = random.pick([0, 1, 5, 40, 300]);
    this.#stallChance = random.chance(0.1) ? 0.05 : 0;
    if (!isLast && random.chance(0.15)) this.#misbehave();
    let running = await this.#open();
    for (let attempt = 1; running === undefined; attempt += 1) {
      this.#crash();
      if (attempt < 3 && random.chance(0.5)) this.#disk.endAt = this.#disk.operations + random.ofAnySize(20);
      running = await this.#open();
    }
    await this.#checkStart(running);

    const isFaulty = random.chance(0.5);
    for (let left = random.between(1, 40); left > 0 && !this.#disk.ended; left -= 1) {
      this.#step += 1;
      if (isFaulty && random.chance(0.2)) this.#misbehave();
      if (random.chance(0.3)) this.#behave();
      await this.#act(running);
      this.#throwFailure();
    }
    if (isLast || random.chance(0.8)) this.#behave();
    if (!this.#disk.ended && random.chance(0.5)) this.#checkAll(running);
    if (isLast) this.#disk.endAt = Number.POSITIVE_INFINITY;
    if (isLast && !this.#disk.ended) await this.#checkEnd(running);
    if (!this.#disk.ended && random.chance(0.5)) await this.#stop(running);
    if (!this.#disk.ended) this.#note('end at no operation in particular');
    this.#crash();
    if (!isLast) return;
    // Whatever the last process left behind can be started from.
    const last = await this.#open();
    if (last === undefined) throw this.#asFailure('a start failed on a disk that does not');
    await this.#checkStart(last);
  }

  async #act(running: Running): Promise<void> {
    const random = this.#random;
    const { engine } = running;
    switch (random.weighted({ submit: 12, burst: 3, wait: 5, clock: 3, edge: 2, glitch: 1, check: 1 })) {
      case 'submit':
        this.#submit(running, this.#nextCommand());
        await this.#pass(random.below(30));
        break;
      case 'burst':
        for (let left = random.between(2, 5); left > 0 && !this.#disk.ended; left -= 1) {
          this.#submit(running, this.#nextCommand());
        }
        // While they wait for the disk, much of what they meet expires.
        if (random.chance(0.4)) this.#setClock(random.pick([1000, 60_000, HOUR_MS]));
        await this.#pass(random.below(30));
        break;
      case 'wait':
        await this.#pass(random.chance(0.4) ? random.between(1000, 3000) : random.below(300));
        break;
      case 'clock':
        this.#setClock(
          random.pick([-HOUR_MS, -60_000, 1000, 60_000, HOUR_MS / 2, HOUR_MS, 2 * HOUR_MS, DAY_MS]),
        );
        break;
      case 'edge':
        this.#goToEdge();
        break;
      case 'glitch':
        // The clock is wrong for a while, and nothing is received meanwhile.
        this.#setClock(DAY_MS);
        await this.#pass(random.between(0, 2500));
        this.#setClock(-DAY_MS);
        if (random.chance(0.3)) this.#disk.endAt = this.#disk.operations + 1;
        break;
      case 'check':
        if (!this.#disk.ended) this.#checkAll(running);
        break;
    }
    if (this.#disk.ended || this.#model.tenantIds.length === 0) return;
    const question = anyQuestion(this.#model, random.pick(this.#model.tenantIds), random);
    this.#ask(engine, running, question);
  }

  #nextCommand(): TenantCommand {
    const missing = this.#firstCommands.find((command) =>
      command.type === 'register-agent'
        ? !this.#model.agentIds(command.tenantId).includes(command.agentId)
        : !this.#model.tenantIds.includes(command.tenantId),
    );
    return missing !== undefined && this.#random.chance(0.7) ? missing : this.#workload.next(this.#model);
  }

  #submit(running: Running, command: Command): void {
    this.#count.commands += 1;
    const entry = newEntry(command, this.#disk.failures);
    this.#note(`submit ${command.type}`);
    const refusal = this.#model.refusal(command);
    let isReturned = false;
    let isSettled = false;
    this.#ledger.pending.push(entry);
    const settle = (outcome: Outcome) => {
      if (this.#disk.ended) return;
      if (isSettled) throw this.#asFailure('a command was settled twice');
      isSettled = true;
      const { pending } = this.#ledger;
      if ((isReturned ? pending.shift() : pending.pop()) !== entry)
        throw this.#asFailure('a command was settled out of its turn');
      const kind = outcome.type === 'applied' ? 'applied' : outcome.kind;
      this.#note(`settled: ${kind}`);
      if (outcome.type === 'rejection' && kind === 'unavailable') {
        this.#unavailable(entry, outcome.detail, isReturned);
      } else if (kind === 'applied' || isReturned) {
        entry.atMs ??= running.clock.timeMs;
        entry.acknowledgedAtMs = this.#scheduler.nowMs;
        this.#ledger.take(entry, this.#settings.durability === 'fsync');
        const expected = this.#model.take(command, entry.atMs);
        if (kind !== expected) throw this.#asFailure(`${command.type} was ${kind}, not ${expected}`);
      } else if (kind !== refusal) {
        throw this.#asFailure(`${command.type} was refused: ${kind}, not ${refusal ?? 'taken'}`);
      }
    };
    try {
      running.engine.pipeline.submit(command, settle);
    } catch (error) {
      if (!this.#disk.ended) throw error;
    }
    isReturned = true;
    entry.atMs ??= running.clock.timeMs;
    if (this.#disk.ended) return;
    if (refusal !== undefined && !isSettled) throw this.#asFailure(`${command.type} was not refused`);
    if (this.#settings.durability === 'write' && !isSettled)
      throw this.#asFailure('an answer was kept waiting');
  }

  #unavailable(entry: Entry, detail: string, isLogged: boolean): void {
    // Those that are forgotten together were one group, or came while it failed and stood behind it.
    const group = this.#ledger.abandoned.at(-1);
    const isSameGroup = isLogged && this.#abandonedAtMs === this.#scheduler.nowMs && group !== undefined;
    const failed = this.#disk.failures > entry.failuresBefore || isSameGroup;
    const isJust =
      (detail.includes('log cannot be written') && failed) ||
      (detail.includes('disk does not answer') &&
        GROUP_OPERATIONS * this.#disk.longestLatencyMs >= STALL_MS) ||
      (detail.includes('shutting down') && this.#isClosing);
    if (!isJust) throw this.#asFailure(`a command was not taken though the disk works: ${detail}`);
    this.#count.refusedForDisk += 1;
    if (!isLogged) return;
    if (isSameGroup) group.push(entry);
    else this.#ledger.abandoned.push([entry]);
    this.#abandonedAtMs = this.#scheduler.nowMs;
  }

  async #stop({ engine, clock }: Running): Promise<void> {
    this.#note('stop');
    const shownAtMs = clock.timeMs;
    this.#isClosing = true;
    let isStopped = false;
    const closing = engine.close().then(
      () => {
        isStopped = true;
      },
      (error: unknown) => {
        if (!this.#disk.ended && !isFromDisk(error)) throw error;
        this.#note('it could not be stopped in order');
      },
    );
    await this.#drive(closing);
    this.#isClosing = false;
    if (this.#disk.ended || !isStopped) {
      this.#lastEnd = undefined;
      return;
    }
    if (this.#ledger.pending.length > 0) throw this.#asFailure('commands were left unanswered by a stop');
    // A disk in trouble may keep the mark from being left, and what it refused from being cut off.
    const isTroubled = JSON.stringify(this.#disk.faults) !== JSON.stringify(NO_FAULTS);
    this.#ledger.processStopped(isTroubled);
    this.#count.stops += 1;
    this.#lastEnd = isTroubled ? undefined : 'stop';
    this.#shownAtMs = shownAtMs;
  }

  /** The process ends, if it has not ended already, and the next finds what is left. */
  #crash(): void {
    const random = this.#random;
    const end: End = random.pick(['kill', 'power']);
    this.#note(end);
    this.#count.crashes += 1;
    this.#process.ended = true;
    this.#process = new ProcessScheduler(this.#scheduler);
    this.#longestLatencyMs = Math.max(this.#longestLatencyMs, this.#disk.longestLatencyMs);
    const { disk, isLossless } = this.#disk.after(end);
    this.#disk = disk;
    if (!isLossless) this.#checkWindowOfLoss();
    this.#ledger.processEnded(isLossless);
    if (random.chance(0.3)) this.#setClock(random.pick([-HOUR_MS, -DAY_MS, 60_000, HOUR_MS, DAY_MS]));
    if (random.chance(0.1)) this.#corruptCheckpoint();
  }

  /** In `write` mode a power cut loses what came within the interval of syncs and the time of a sync or two. */
  #checkWindowOfLoss(): void {
    const first = this.#ledger.taken[this.#ledger.durable];
    if (first === undefined) return;
    const ageMs = this.#scheduler.nowMs - first.acknowledgedAtMs;
    const spanMs = (this.#ledger.taken.at(-1)?.acknowledgedAtMs ?? 0) - first.acknowledgedAtMs;
    const isInTime = ageMs <= SYNC_INTERVAL_MS + 2 * this.#longestLatencyMs;
    // Where the disk hangs, nothing more is taken: the sync before may have taken almost as long as is borne.
    if (isInTime && spanMs <= SYNC_INTERVAL_MS + 2 * STALL_MS) return;
    throw this.#asFailure(`a command was still not durable ${ageMs} ms after it was acknowledged`);
  }

  /** A sector of a checkpoint goes bad: there is always another, or the whole log. */
  #corruptCheckpoint(): void {
    let ordinals: number[];
    try {
      ordinals = checkpointOrdinals(this.#disk, checkpointDirectory(DATA_DIRECTORY));
    } catch {
      return;
    }
    const [newest, older] = ordinals;
    if (newest === undefined || older === undefined) return;
    this.#note(`checkpoint ${newest} goes bad`);
    this.#hasBadCheckpoint = true;
    this.#disk.damage(`${checkpointDirectory(DATA_DIRECTORY)}/${checkpointFileName(newest)}`);
  }

  async #open(): Promise<Running | undefined> {
    this.#note('start');
    const disk = this.#disk;
    const clock = new WatchedClock(this.#scheduler.clock);
    const pause = (): Promise<void> =>
      new Promise((resolve) => {
        this.#process.after(this.#diskRandom.below(50), resolve);
      });
    let engine: Engine | undefined;
    const opening = openEngine({
      ...this.#engineOptions(disk, clock, this.#process),
      makeCheckpoint: async (task) => {
        await pause();
        await makeCheckpoint({ ...task, disk });
        this.#count.checkpoints += 1;
        await pause();
      },
    }).then(
      (opened) => {
        engine = opened;
      },
      (error: unknown) => {
        if (disk.ended || isFromDisk(error)) return;
        throw error;
      },
    );
    await this.#drive(opening);
    this.#throwFailure();
    if (engine === undefined || disk.ended) {
      this.#count.failedStarts += 1;
      this.#lastEnd = undefined;
      this.#behave();
      return undefined;
    }
    this.#count.starts += 1;
    this.#longestLatencyMs = 0;
    return { engine, clock };
  }

  #engineOptions(disk: SimulatedDisk, clock: Clock, scheduler: Scheduler): EngineOptions {
    return {
      settings: this.#settings,
      disk,
      clock,
      scheduler,
      entropy: this.#entropy,
      baseUrl: () => BASE_URL,
      onFatal: (error) => {
        if (disk.ended) return;
        this.#note(`fatal: ${error.message}`);
        if (!(error instanceof SyncFailed) || !isFromDisk(error)) this.#asFailure(`fatal: ${error.stack}`);
        disk.ended = true;
        this.#process.ended = true;
      },
      onTrouble: (error) => {
        if (disk.ended || error instanceof SimulationFailure || isFromDisk(error)) return;
        if (error instanceof CheckpointBroken && this.#hasBadCheckpoint) return;
        this.#asFailure(`trouble: ${error instanceof Error ? error.stack : error}`);
      },
      onWriteTrouble: () => {},
    };
  }

  /** Runs the machine until a promise has settled or the process has ended. */
  async #drive(promise: Promise<void>): Promise<void> {
    let isDone = false;
    let thrown: unknown;
    promise.then(
      () => {
        isDone = true;
      },
      (error: unknown) => {
        isDone = true;
        thrown = error;
      },
    );
    const { nowMs } = this.#scheduler;
    await promisesSettle();
    while (!isDone && !this.#disk.ended) {
      if (!(await this.#runNext(nowMs + 60_000))) throw this.#asFailure('it hangs');
    }
    if (thrown !== undefined) throw thrown;
  }

  async #pass(milliseconds: number): Promise<void> {
    try {
      await this.#scheduler.pass(milliseconds, () => this.#disk.ended);
    } catch (error) {
      if (!this.#disk.ended) throw error;
    }
    this.#throwFailure();
  }

  async #runNext(untilMs: number): Promise<boolean> {
    try {
      return await this.#scheduler.runNext(untilMs);
    } catch (error) {
      if (!this.#disk.ended) throw error;
      return true;
    }
  }

  // Checks.

  async #checkStart(running: Running): Promise<void> {
    const { engine, clock } = running;
    if (this.#lastEnd !== undefined && engine.cleanShutdown !== (this.#lastEnd === 'stop')) {
      throw this.#asFailure(
        `after a ${this.#lastEnd} it said that the shutdown was clean: ${engine.cleanShutdown}`,
      );
    }
    const mended = engine.notices.filter((notice) => notice.startsWith('segment-'));
    if (this.#lastEnd === 'stop' && mended.length > 0) {
      throw this.#asFailure(`after a stop in order something was mended: ${mended.join('; ')}`);
    }
    const isAfterStop = this.#lastEnd === 'stop';
    this.#lastEnd = 'crash';
    const wrong = this.#ledger.reconcile(recordsOnDisk(this.#disk, logDirectory(DATA_DIRECTORY)));
    if (wrong !== undefined) throw this.#asFailure(wrong);
    this.#model = this.#newModel();
    for (const { command, atMs } of this.#ledger.taken) this.#model.take(command, atMs ?? 0);
    const startMs = this.#ledger.taken.at(-1)?.atMs ?? 0;
    if (isAfterStop && startMs > 0 && startMs < this.#shownAtMs) {
      throw this.#asFailure(`time goes on from ${startMs}, and readers had seen ${this.#shownAtMs}`);
    }
    clock.startAt(startMs);
    const answers = this.#checkAll(running);
    if (this.#random.chance(0.2)) await this.#checkRefusal();
    if (this.#random.chance(0.3)) await this.#checkCopy(answers, 'again', () => {});
    if (this.#random.chance(0.3)) {
      await this.#checkCopy(answers, 'without checkpoints', (copy) => {
        const directory = checkpointDirectory(DATA_DIRECTORY);
        if (segmentOrdinals(copy, logDirectory(DATA_DIRECTORY))[0] !== 1) return;
        for (const ordinal of checkpointOrdinals(copy, directory)) {
          copy.remove(`${directory}/${checkpointFileName(ordinal)}`);
        }
      });
    }
  }

  /** Another start from the same files gives the same answers, to the byte. */
  async #checkCopy(
    answers: readonly string[],
    how: string,
    prepare: (copy: SimulatedDisk) => void,
  ): Promise<void> {
    const opened = await this.#openCopy(prepare);
    if (opened instanceof Error) throw this.#asFailure(`started ${how}, it threw: ${opened.stack}`);
    const others = this.#allQuestions().map(({ ask }) => textOf(ask(opened.queries)));
    for (const [index, answer] of answers.entries()) {
      if (others[index] === answer) continue;
      const { text } = this.#allQuestions()[index] ?? { text: '' };
      throw this.#asFailure(`started ${how}, ${text}:\n  ${others[index]}\nnot\n  ${answer}`);
    }
  }

  /** A log with a segment gone, or a bit turned in one that a start has to read, is refused. */
  async #checkRefusal(): Promise<void> {
    const random = this.#random;
    const directory = logDirectory(DATA_DIRECTORY);
    const covered = checkpointOrdinals(this.#disk, checkpointDirectory(DATA_DIRECTORY))[0] ?? 0;
    const ordinals = segmentOrdinals(this.#disk, directory);
    const isLoss = random.chance(0.5);
    const candidates = isLoss
      ? ordinals.slice(1, -1)
      : ordinals.slice(0, -1).filter((each) => each > covered);
    if (candidates.length === 0) return;
    const path = `${directory}/${segmentFileName(random.pick(candidates))}`;
    const opened = await this.#openCopy((copy) => {
      if (isLoss) copy.remove(path);
      else copy.damage(path);
    });
    if (opened instanceof LogDamaged) return;
    const text = opened instanceof Error ? opened.stack : 'started';
    throw this.#asFailure(`${path} was ${isLoss ? 'lost' : 'damaged'}, and it was not refused: ${text}`);
  }

  /** Starts from a copy of the disk, on a machine of its own. */
  async #openCopy(prepare: (copy: SimulatedDisk) => void): Promise<Engine | Error> {
    const scheduler = new SimulatedScheduler(this.#scheduler.clock.now());
    const copy = this.#disk.copy({
      scheduler,
      random: this.#diskRandom,
      hasRoom: true,
      latencyMs: () => 0,
      onOperation: () => {},
      onSync: () => () => {},
    });
    prepare(copy);
    let result: Engine | Error | undefined;
    openEngine(this.#engineOptions(copy, scheduler.clock, scheduler)).then(
      (opened) => {
        result = opened;
      },
      (error: unknown) => {
        result = error instanceof Error ? error : new Error(String(error));
      },
    );
    await promisesSettle();
    while (result === undefined) await scheduler.runNext(1000);
    return result;
  }

  #allQuestions(): Question[] {
    return this.#model.tenantIds.flatMap((tenantId) => allQuestions(this.#model, tenantId));
  }

  /** Asks everything, and gives the answers. */
  #checkAll(running: Running): string[] {
    const { keysByHash, integrationsByToken } = running.engine.state;
    const keys = [...keysByHash].map(([hash, { id, kind, tenantId, agentId }]) =>
      [hash, id, kind, tenantId, agentId].join(' '),
    );
    const secrets = [...keys, ...integrationsByToken.keys()].sort();
    if (!isDeepStrictEqual(secrets, this.#model.secrets())) {
      throw this.#asFailure(`secrets that open a door: ${secrets}\nnot\n  ${this.#model.secrets()}`);
    }
    return this.#allQuestions().map((question) => this.#ask(running.engine, running, question));
  }

  #ask({ queries }: Engine, { clock }: Running, { text, ask, answer }: Question): string {
    this.#count.questions += 1;
    const given = textOf(ask(queries));
    this.#model.nowMs = clock.timeMs;
    const expected = answer();
    const expectedText = expected === undefined ? 'not-found' : JSON.stringify(expected);
    if (given !== expectedText && !isSameJson(given, expectedText)) {
      throw this.#asFailure(`${text}:\n  ${given}\nnot\n  ${expectedText}`);
    }
    this.#hash = crc32(given, this.#hash);
    return given;
  }

  /** When all has expired, all its memory has been given back. */
  async #checkEnd(running: Running): Promise<void> {
    const { pending } = this.#ledger;
    do await this.#pass(10_000);
    while (pending.length > 0 && !this.#disk.ended);
    this.#setClock(running.clock.timeMs - this.#scheduler.clock.now() + 401 * DAY_MS);
    await this.#pass(1000);
    if (this.#disk.ended) return;
    const { held } = running.engine.state.live;
    if (held > 0) throw this.#asFailure(`${held} events are held that have expired`);
    this.#checkAll(running);
  }

  // What the world does.

  #setClock(stepMs: number): void {
    this.#note(`the clock is set by ${stepMs} ms`);
    const { clock } = this.#scheduler;
    clock.set(clock.now() + stepMs);
  }

  /** Sets the clock to the moment at which something changes its answer, or to just before. */
  #goToEdge(): void {
    const random = this.#random;
    const { tenantIds } = this.#model;
    const events = tenantIds.length === 0 ? [] : this.#model.events(random.pick(tenantIds));
    if (events.length === 0) return;
    const received = random.pick(events);
    const edges = [
      expiresAtMs(received),
      received.receivedAtMs + HOUR_MS,
      received.receivedAtMs + this.#settings.retentionSeconds * 1000,
      received.receivedAtMs + this.#settings.agentStaleAfterSeconds * 1000,
    ];
    const stepMs = random.pick(edges) - random.below(2) - this.#scheduler.clock.now();
    if (stepMs > 0 && stepMs < 3 * DAY_MS) this.#setClock(stepMs);
  }

  #misbehave(): void {
    const random = this.#random;
    const { faults } = this.#disk;
    switch (random.weighted({ full: 3, write: 2, truncate: 2, sync: 1, entry: 1 })) {
      case 'full':
        faults.spaceBytes = random.ofAnySize(1500) - 1;
        break;
      case 'write':
        faults.writeError = 0.3;
        break;
      case 'truncate':
        faults.truncateError = 0.5;
        faults.writeError = 0.3;
        break;
      case 'sync':
        faults.syncError = 0.2;
        break;
      case 'entry':
        faults.entryError = 0.2;
        break;
    }
    this.#note(`faults: ${JSON.stringify(faults)}`);
  }

  #behave(): void {
    Object.assign(this.#disk.faults, NO_FAULTS);
  }

  #newModel(): Model {
    const { windowMaxEvents, windowMaxBytes, retentionSeconds, agentStaleAfterSeconds } = this.#settings;
    return new Model({
      windowMaxEvents,
      windowMaxBytes,
      retentionMs: retentionSeconds * 1000,
      agentStaleAfterMs: agentStaleAfterSeconds * 1000,
      baseUrl: BASE_URL,
    });
  }

  #note(text: string): void {
    if (text.includes('remove') && text.endsWith('.log')) this.#count.deletedSegments += 1;
    const line = `${this.#step} ${this.#scheduler.nowMs} ${this.#scheduler.clock.now() - START_MS} ${text}`;
    this.#hash = crc32(line, this.#hash);
    this.#trace.push(line);
    if (this.#trace.length > 2 * TRACE_LINES) this.#trace.splice(0, TRACE_LINES);
  }

  /** The first is the one that counts, also where somebody swallows it. */
  #asFailure(message: string): SimulationFailure {
    this.#failure ??= new SimulationFailure(this.#seed, this.#step, message, this.#trace.slice(-TRACE_LINES));
    return this.#failure;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

function textOf(answer: ReturnType<Question['ask']>): string {
  return answer.type === 'found' ? String(answer.json) : answer.kind;
}

/** The order of members is no difference. */
function isSameJson(a: string, b: string): boolean {
  return /^[[{]/.test(a) && /^[[{]/.test(b) && isDeepStrictEqual(JSON.parse(a), JSON.parse(b));
}

/** Whether the disk is at the bottom of it. */
function isFromDisk(error: unknown): boolean {
  if (error instanceof DiskFault || error instanceof ProcessEnded) return true;
  return error instanceof Error && isFromDisk(error.cause);
}
