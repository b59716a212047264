/** Whatever the disk does, and whenever the process ends: the log holds what it promised to, and nothing else. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogDamaged, LogUnavailable, SyncFailed } from '../../src/log/errors.ts';
import type { CommandLog } from '../../src/log/log.ts';
import { HEADER_BYTES } from '../../src/log/segment.ts';
import type { DiskCall, Fault } from './faulty-disk.ts';
import {
  aCommand,
  appendOne,
  LogDirectory,
  type Logged,
  type OpenLog,
  placeOf,
  type Writes,
} from './log-directory.ts';

/** What happens to the disk calls from here on, one after the other; then the disk works again. */
type Faults = readonly (Fault | undefined)[];

/** Of what was not synced, `keptBytes` are there, of which the pages named are zeros. */
interface PowerCut {
  readonly keptBytes: number;
  readonly zeroedPages: readonly number[];
}

type Step =
  | { readonly type: 'append'; readonly nameLength: number; readonly faults: Faults }
  /** While it is under way, commands of these lengths are appended. */
  | { readonly type: 'sync'; readonly faults: Faults; readonly meanwhile: readonly number[] }
  /** The process ends, or the power goes, so many turns of the event loop after it was begun. */
  | { readonly type: 'cut-short'; readonly turns: number; readonly powerCut: PowerCut | null }
  /** The next start meets these faults first. */
  | { readonly type: 'crash'; readonly faults: Faults }
  | { readonly type: 'power-cut'; readonly powerCut: PowerCut }
  | { readonly type: 'close'; readonly faults: Faults };

const faults: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 4,
    arbitrary: fc.array(
      fc.option(
        fc.oneof(
          fc.record({ bytes: fc.nat(200), code: fc.constantFrom('ENOSPC' as const, 'EIO' as const) }),
          fc.record({ bytes: fc.nat(200) }),
        ),
        { nil: undefined, freq: 2 },
      ),
      { maxLength: 8, size: 'max' },
    ),
  },
);

const nameLength = fc.oneof(fc.nat(60), fc.nat(400));
const powerCut: fc.Arbitrary<PowerCut> = fc.record({
  keptBytes: fc.nat(1000),
  zeroedPages: fc.array(fc.nat(30), { maxLength: 5 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('append' as const), nameLength, faults }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('sync' as const),
      faults,
      meanwhile: fc.array(nameLength, { maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('cut-short' as const),
      turns: fc.nat(9),
      powerCut: fc.option(powerCut),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const), faults }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('power-cut' as const), powerCut }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('close' as const), faults }) },
);

/** Small ones, so that the few bytes of a test are many. */
const PAGE_BYTES = 32;

const nextTurn = () => new Promise<void>((done) => setImmediate(done));

class Session {
  readonly #directory = new LogDirectory();
  readonly #writes: Writes;
  readonly #segmentBytes: number;
  readonly #roomBytes: number;
  /** What append returned for and nobody took back, in order. */
  #logged: Logged[] = [];
  /** How many of them a power cut must leave … */
  #durable = 0;
  /** … and how many the end of the process: those that were written. */
  #written = 0;
  /** Groups that the disk did not take whole, since it last took one: the first of one may be there after a crash. */
  #ghosts: Logged[][] = [];
  #isPowerCut = false;
  #closed: 'no' | 'in order' | 'perhaps' = 'no';
  #log: CommandLog | undefined;
  #openFaults: Faults = [];
  #appended = 0;

  constructor(writes: Writes, segmentBytes: number, roomBytes: number) {
    this.#writes = writes;
    this.#segmentBytes = segmentBytes;
    this.#roomBytes = roomBytes;
  }

  async take(step: Step): Promise<void> {
    this.#log ??= await this.#open();
    const log = this.#log;
    switch (step.type) {
      case 'append':
        return this.#append(log, step.nameLength, step.faults);
      case 'sync':
        return this.#sync(log, step.faults, step.meanwhile);
      case 'cut-short':
        return this.#cutShort(log, step.turns, step.powerCut);
      case 'crash':
        this.#openFaults = step.faults;
        return this.#crash();
      case 'power-cut':
        return this.#powerCut(step.powerCut);
      case 'close':
        return this.#close(log, step.faults);
    }
  }

  async end(): Promise<void> {
    this.#openFaults = [];
    if (this.#log !== undefined) this.#crash();
    this.#directory.close(await this.#open());
    await this.#directory.expectLog(this.#logged);
  }

  discard(): void {
    this.#directory.discard();
  }

  async #open(): Promise<CommandLog> {
    const { log, commands, cleanShutdown } = await this.#opened();
    const whole = this.#logged.slice(0, this.#written);
    if (this.#isPowerCut) {
      expect(commands.length).toBeGreaterThanOrEqual(this.#durable);
      expect(commands.slice(0, whole.length)).toEqual(whole.slice(0, commands.length));
    } else expect(commands.slice(0, whole.length)).toEqual(whole);
    const ghost = commands.slice(whole.length);
    if (ghost.length > 0) {
      expect(this.#ghosts.map((group) => group.slice(0, ghost.length))).toContainEqual(ghost);
    }
    const isSure = this.#openFaults.length === 0 && this.#closed !== 'perhaps';
    if (isSure) expect(cleanShutdown).toBe(this.#closed === 'in order' && ghost.length === 0);
    this.#logged = [...commands];
    // What is shown to readers has been made durable first.
    this.#durable = commands.length;
    this.#written = commands.length;
    this.#ghosts = [];
    this.#openFaults = [];
    this.#isPowerCut = false;
    this.#closed = 'no';
    return log;
  }

  /** A start that the disk fails is tried again. */
  async #opened(): Promise<OpenLog> {
    const { disk } = this.#directory;
    const open = () => this.#directory.open(this.#segmentBytes, this.#writes, this.#roomBytes);
    if (this.#openFaults.length === 0) return open();
    this.#judge(this.#openFaults);
    try {
      return await open();
    } catch (error) {
      expect(error).not.toBeInstanceOf(LogDamaged);
      disk.crash();
      disk.mend();
      return await open();
    } finally {
      disk.mend();
    }
  }

  #append(log: CommandLog, nameLength: number, faults: Faults): void {
    const { disk } = this.#directory;
    const before = log.lastStamp;
    const failedSync = this.#judge(faults);
    try {
      this.#appendOne(log, nameLength);
      expect(failedSync()).toBe(undefined);
    } catch (error) {
      expect(this.#writes).toBe('each');
      expect(error).toBeInstanceOf(failedSync() === undefined ? LogUnavailable : SyncFailed);
      expect(log.lastStamp).toEqual(before);
      if (error instanceof SyncFailed) this.#crash();
    } finally {
      disk.mend();
    }
    if (this.#log !== undefined) this.#readBack(log);
  }

  #appendOne(log: CommandLog, nameLength: number): void {
    this.#appended += 1;
    const appended = appendOne(log, aCommand(this.#appended, nameLength));
    if (this.#writes === 'each') {
      // A segment is synced before the next is begun.
      if (placeOf(appended).offset === HEADER_BYTES) this.#durable = this.#logged.length;
      this.#written = this.#logged.length + 1;
    }
    this.#logged.push(appended);
  }

  async #sync(log: CommandLog, faults: Faults, meanwhile: readonly number[]): Promise<void> {
    const covered = this.#logged.length;
    const group = this.#logged.slice(this.#written);
    const failedSync = this.#judge(this.#writes === 'each' ? faults.slice(0, 1) : faults);
    const durable = log.makeDurable();
    // What a disk that fails does to appends is another step's matter.
    if (this.#writes === 'each') this.#directory.disk.mend();
    for (const nameLength of meanwhile) this.#appendOne(log, nameLength);
    try {
      await durable;
      expect(failedSync()).toBe(undefined);
      this.#durable = Math.max(this.#durable, covered);
      this.#written = Math.max(this.#written, covered);
      if (group.length > 0) this.#ghosts = [];
    } catch (error) {
      this.#ghosts.push(group);
      if (failedSync() === undefined) {
        expect(error).toBeInstanceOf(LogUnavailable);
        expect(this.#writes).toBe('grouped');
        // It is forgotten, and what was appended meanwhile as well.
        this.#logged = this.#logged.slice(0, this.#durable);
        expect(log.lastStamp).toEqual(this.#logged.at(-1)?.stamp ?? { sequence: 0, atMs: 0 });
      } else {
        expect(error).toBeInstanceOf(SyncFailed);
        this.#crash();
      }
    } finally {
      this.#directory.disk.mend();
    }
    if (this.#log !== undefined) this.#readBack(log);
  }

  async #cutShort(log: CommandLog, turns: number, powerCut: PowerCut | null): Promise<void> {
    const covered = this.#logged.length;
    const group = this.#logged.slice(this.#written);
    let isDurable = false;
    log.makeDurable().then(
      () => {
        isDurable = true;
      },
      () => {},
    );
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    if (isDurable) {
      this.#durable = covered;
      this.#written = covered;
      if (group.length > 0) this.#ghosts = [];
    } else this.#ghosts.push(group);
    if (powerCut === null) this.#crash();
    else this.#powerCut(powerCut);
  }

  async #close(log: CommandLog, faults: Faults): Promise<void> {
    // As the pipeline does: nothing waits any more.
    await this.#sync(log, [], []);
    this.#judge(faults);
    try {
      log.close();
      // A disk that fails may keep the mark from being left, which is no failure of the close.
      this.#closed = faults.length === 0 ? 'in order' : 'perhaps';
      // What the disk took of groups has been cut off, if it let itself be cut.
      if (faults.length === 0) this.#ghosts = [];
    } catch {
      this.#directory.disk.crash();
      this.#closed = 'perhaps';
    } finally {
      this.#directory.disk.mend();
      this.#log = undefined;
    }
  }

  #powerCut({ keptBytes, zeroedPages }: PowerCut): void {
    this.#directory.disk.powerCut((unsynced) => {
      const kept = Buffer.from(unsynced.subarray(0, keptBytes));
      for (const page of zeroedPages) kept.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).fill(0);
      return kept;
    });
    this.#log = undefined;
    this.#isPowerCut = true;
  }

  /** Answers what tells whether a sync of records, or of a folder with a new name in it, was made to fail. */
  #judge(faults: Faults): () => DiskCall | undefined {
    const left = [...faults];
    let failedSync: DiskCall | undefined;
    this.#directory.disk.judge = (call) => {
      const fault = left.shift();
      const isFatal = call.name === 'sync-directory' || (call.name === 'sync' && !call.path.endsWith('.tmp'));
      if (isFatal && fault?.code !== undefined) failedSync ??= call;
      return fault;
    };
    return () => failedSync;
  }

  #readBack(log: CommandLog): void {
    for (const { command, stamp, position } of this.#logged.slice(0, this.#written).slice(-5)) {
      expect(log.read(position)).toEqual({ command, stamp });
    }
  }

  #crash(): void {
    this.#directory.disk.crash();
    this.#log = undefined;
  }
}

async function expectPromisesKept(writes: Writes): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(200, 500, 64 * 1024 * 1024),
      // What the file really grows by is 64 KiB more.
      fc.constantFrom(0, 1, 100_000),
      fc.array(step, { maxLength: 60, size: 'max' }),
      async (segmentBytes, roomBytes, steps) => {
        const session = new Session(writes, segmentBytes, roomBytes);
        try {
          for (const each of steps) await session.take(each);
          await session.end();
        } finally {
          session.discard();
        }
      },
    ),
    { numRuns: 120 },
  );
}

describe('whatever disk calls fail or fall short, and whenever the process ends or the power goes', () => {
  const timeout = 120_000;

  it(
    'the log holds exactly what append returned for, and after a power cut what was synced',
    {
      timeout,
    },
    () => expectPromisesKept('each'),
  );

  it(
    'the log of groups holds what was made durable, and at most the first of a group that was not',
    {
      timeout,
    },
    () => expectPromisesKept('grouped'),
  );
});
