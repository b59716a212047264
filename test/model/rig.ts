/** The engine and its model side by side on one directory, driven through the same script. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Outcome } from '../../src/commands/apply.ts';
import { makeCheckpoint } from '../../src/commands/checkpointer.ts';
import { checkpointDirectory, logDirectory } from '../../src/commands/load.ts';
import { DEFAULTS, type Settings } from '../../src/config.ts';
import type { Command } from '../../src/domain/command.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { type Engine, openEngine } from '../../src/engine.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { sizeOf } from '../../src/lib/disk.ts';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { eventLoop, type Scheduler } from '../../src/lib/scheduler.ts';
import { checkpointFileName, checkpointOrdinals, readCheckpointEnd } from '../../src/log/checkpoint.ts';
import { segmentOrdinals } from '../../src/log/replay.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { FaultyDisk } from '../log/faulty-disk.ts';
import { BASE_URL, START_MS } from '../support/engine.ts';
import { Model, type ModelOutcome } from './model.ts';
import { detailQuestions, listQuestions, type Question } from './questions.ts';
import { type Deed, Scribe, type Step, tenantIdOf } from './script.ts';

export type RigSettings = Pick<
  Settings,
  | 'windowMaxEvents'
  | 'windowMaxBytes'
  | 'retentionSeconds'
  | 'agentStaleAfterSeconds'
  | 'segmentBytes'
  | 'checkpointSegments'
  | 'durability'
>;

/** What the engine does by itself happens when a script says so. */
class StepScheduler implements Scheduler {
  #waiting: { readonly delayMs: number; readonly task: () => void }[] = [];

  after(delayMs: number, task: () => void): () => void {
    const entry = { delayMs, task };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((waiting) => waiting !== entry);
    };
  }

  soon(task: () => void): void {
    eventLoop.soon(task);
  }

  /** Runs what waits for no longer than this. */
  run(delayMs: number): void {
    const due = this.#waiting.filter((waiting) => waiting.delayMs <= delayMs);
    this.#waiting = this.#waiting.filter((waiting) => waiting.delayMs > delayMs);
    for (const { task } of due) task();
  }
}

const HOUSEKEEPING_MS = 100;

export class Rig {
  readonly model: Model;
  /** Its syncs take no time: these tests make no power cuts. */
  readonly #disk = new FaultyDisk();
  readonly #directory = mkdtempSync(join(tmpdir(), 'foreshock-model-'));
  readonly #settings: RigSettings;
  readonly #clock = new ManualClock(START_MS);
  readonly #scribes: readonly Scribe[];
  #engine: Engine | undefined;
  #scheduler = new StepScheduler();
  /** Which filters are asked for; moves on with every check. */
  #salt = 0;

  private constructor(settings: RigSettings, tenants: number) {
    this.#settings = settings;
    this.#scribes = Array.from({ length: tenants }, (_, tenant) => new Scribe(tenant));
    const { windowMaxEvents, windowMaxBytes, retentionSeconds, agentStaleAfterSeconds } = settings;
    this.model = new Model(
      {
        windowMaxEvents,
        windowMaxBytes,
        retentionMs: retentionSeconds * 1000,
        agentStaleAfterMs: agentStaleAfterSeconds * 1000,
        baseUrl: BASE_URL,
      },
      START_MS,
    );
  }

  /** Runs `script` on a new rig whose tenants of these numbers exist, and clears away whatever becomes of it. */
  static async run(
    settings: RigSettings,
    tenants: readonly number[],
    script: (rig: Rig) => Promise<void>,
  ): Promise<void> {
    const rig = new Rig(settings, Math.max(...tenants) + 1);
    try {
      await rig.#open();
      for (const tenant of tenants) {
        const command = rig.#scribe(tenant).createTenant();
        expect(await rig.#outcome(command)).toEqual(rig.model.submit(command));
      }
      await script(rig);
    } finally {
      await rig.#engine?.close();
      rmSync(rig.#directory, { recursive: true, force: true });
    }
  }

  get engine(): Engine {
    if (this.#engine === undefined) throw new Error('the engine is not open');
    return this.#engine;
  }

  async take(step: Step): Promise<void> {
    switch (step.type) {
      case 'act':
        return this.#submit(step.tenant, [step.deed]);
      case 'together':
        return this.#submit(step.tenant, step.deeds);
      case 'clock':
        this.#clock.step(step.stepMs);
        this.#lookAtClock();
        return;
      case 'catch-up':
        this.#clock.set(Math.max(this.model.nowMs, this.#clock.now()));
        this.#lookAtClock();
        return;
      case 'reclaim':
        this.engine.state.reclaim(this.model.nowMs, step.limit);
        return;
      case 'housekeep':
        this.#scheduler.run(HOUSEKEEPING_MS);
        return;
      case 'checkpoint':
        return this.#checkpoint();
      case 'restart':
        return this.restart();
    }
  }

  /** Closes the engine and opens it again: every answer must come back to the byte. */
  async restart(): Promise<void> {
    const before = this.#allTexts();
    this.#lookAtClock();
    await this.engine.close();
    this.model.restart();
    await this.#open();
    expect(this.#allTexts()).toEqual(before);
    this.checkAll();
  }

  /** Asks for the lists, and compares. */
  checkLists(): void {
    for (const tenantId of this.tenantIds) this.#compare(listQuestions(this.model, tenantId));
  }

  /** Asks for single things, and compares. */
  checkDetails(): void {
    for (const tenantId of this.tenantIds) this.#compare(this.#details(tenantId));
    this.#salt += 3;
  }

  checkAll(): void {
    this.checkDetails();
    this.checkLists();
    const keys = [...this.engine.state.keysByHash].map(([hash, { id: keyId, kind, tenantId, agentId }]) => {
      return { hash, keyId, kind, tenantId, agentId };
    });
    expect(new Set(keys)).toEqual(new Set(this.model.goodKeys()));
    expect(new Set(this.engine.state.integrationsByToken.keys())).toEqual(
      new Set(this.model.webhookTokens()),
    );
  }

  /** Everything that can be asked for a tenant, and what the engine answers, as text. */
  texts(tenantId: TenantId): string[] {
    return [...listQuestions(this.model, tenantId), ...this.#details(tenantId)].map(
      ({ text, ask }) => `${text}: ${JSON.stringify(ask(this.engine.queries))}`,
    );
  }

  get tenantIds(): TenantId[] {
    return this.#scribes.map((_, tenant) => tenantIdOf(tenant));
  }

  async #open(): Promise<void> {
    const settings: Settings = { ...DEFAULTS, ...this.#settings, dataDirectory: this.#directory };
    const fail = (error: unknown): never => {
      throw error;
    };
    this.#engine = undefined;
    this.#scheduler = new StepScheduler();
    this.#engine = await openEngine({
      settings,
      disk: this.#disk,
      clock: this.#clock,
      scheduler: this.#scheduler,
      entropy: systemEntropy,
      baseUrl: () => BASE_URL,
      makeCheckpoint: (task) => makeCheckpoint({ ...task, disk: this.#disk }),
      onFatal: fail,
      onTrouble: fail,
      onWriteTrouble: fail,
    });
    this.#lookAtClock();
    const { behindMs } = this.model.time;
    expect(this.#engine.notices).toEqual(
      behindMs > 1000
        ? [expect.stringContaining(`the clock is ${Math.round(behindMs / 1000)} s behind`)]
        : [],
    );
  }

  async #checkpoint(): Promise<void> {
    const sealed = this.#segments().slice(0, -1);
    const before = this.#checkpoints();
    const newest = before[0] ?? 0;
    const isDue = this.#isDue(newest, sealed);
    await this.engine.checkpointNow();
    const made = isDue ? [sealed.at(-1), ...before] : before;
    expect(this.#checkpoints()).toEqual(made.slice(0, 2));
  }

  #isDue(newest: number, sealed: readonly number[]): boolean {
    if ((sealed.at(-1) ?? 0) - newest < this.#settings.checkpointSegments) return false;
    if (newest === 0) return true;
    const sealedBytes = sealed
      .filter((ordinal) => ordinal > newest)
      .reduce((sum, ordinal) => sum + this.#bytesOf(logDirectory, segmentFileName(ordinal)), 0);
    if (sealedBytes >= this.#bytesOf(checkpointDirectory, checkpointFileName(newest))) return true;
    const { lastStamp } = readCheckpointEnd(this.#disk, checkpointDirectory(this.#directory), newest);
    return this.engine.time.now() - lastStamp.atMs >= (this.#settings.retentionSeconds * 1000) / 4;
  }

  #bytesOf(folderOf: (dataDirectory: string) => string, name: string): number {
    return sizeOf(this.#disk, join(folderOf(this.#directory), name));
  }

  #segments(): number[] {
    return segmentOrdinals(this.#disk, logDirectory(this.#directory));
  }

  #checkpoints(): number[] {
    return checkpointOrdinals(this.#disk, checkpointDirectory(this.#directory));
  }

  async #outcome(command: Command): Promise<Outcome> {
    return new Promise((settle) => this.engine.pipeline.submit(command, settle));
  }

  async #submit(tenant: number, deeds: readonly Deed[]): Promise<void> {
    const commands = deeds.map((deed) => this.#scribe(tenant).command(deed));
    const isGrouped = this.#settings.durability === 'fsync';
    const outcomes = commands.map((command) => this.#outcome(command));
    // Nobody is told, and nobody sees, what is not durable.
    if (isGrouped) this.#compare(listQuestions(this.model, tenantIdOf(tenant)));
    const expected = isGrouped
      ? this.model.submitTogether(commands)
      : commands.map((command) => this.model.submit(command));
    expect((await Promise.all(outcomes)).map(outcomeOf)).toEqual(expected);
  }

  #scribe(tenant: number): Scribe {
    const scribe = this.#scribes[tenant];
    if (scribe === undefined) throw new Error(`no tenant ${tenant}`);
    return scribe;
  }

  /** Time runs on when it is looked at: a jump and a jump back that nobody saw between were none. */
  #lookAtClock(): void {
    this.model.time.look(this.#clock.now(), this.#clock.monotonic());
    this.engine.queries.agents(tenantIdOf(-1)).whole();
  }

  #allTexts(): string[] {
    return this.tenantIds.flatMap((tenantId) => this.texts(tenantId));
  }

  #details(tenantId: TenantId): Question[] {
    return detailQuestions(this.model, tenantId, this.#salt);
  }

  #compare(questions: readonly Question[]): void {
    for (const { text, ask, answer } of questions) {
      const given = ask(this.engine.queries);
      const expected = answer();
      if (expected === undefined) {
        if (given.type !== 'rejection' || given.kind !== 'not-found') expect.fail(`${text} was found`);
        continue;
      }
      const value: unknown = given.type === 'found' ? JSON.parse(String(given.json)) : given;
      if (!isDeepStrictEqual(value, expected)) {
        // Members named `__proto__` are beyond `toEqual`: it prints the difference where it sees one.
        expect(value, text).toEqual(expected);
        expect(JSON.stringify(value), text).toBe(JSON.stringify(expected));
      }
    }
  }
}

function outcomeOf(outcome: Outcome): ModelOutcome {
  if (outcome.type === 'applied') return { type: 'applied' };
  return { type: 'rejection', kind: outcome.kind, detail: outcome.detail };
}
