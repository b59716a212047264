/** Checkpoints and retention, on real files: a shortcut that changes no answer, and a disk that stays bounded. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CheckpointTask, makeCheckpoint } from '../../src/commands/checkpointer.ts';
import { checkpointDirectory, load } from '../../src/commands/load.ts';
import { dumpState } from '../../src/commands/state-rows.ts';
import type { Settings } from '../../src/config.ts';
import { integrationId } from '../../src/domain/ids.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { writeCheckpoint } from '../../src/log/checkpoint.ts';
import { replay } from '../../src/log/replay.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { serviceContext } from '../support/window.ts';

const directories: string[] = [];
afterAll(() => directories.forEach(removeDirectory));

function freshDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory;
}

function copyOf(directory: string): string {
  const copy = freshDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

const SETTINGS = {
  segmentBytes: 4096,
  retentionSeconds: 2 * 3600,
  windowMaxEvents: 20,
} satisfies Partial<Settings>;
const LIMITS = { retentionMs: 2 * 3_600_000, windowMaxEvents: 20, windowMaxBytes: 8 * 1024 * 1024 };

const make = (task: CheckpointTask) => makeCheckpoint({ ...task, disk: nodeDisk });
const segments = (directory: string) =>
  readdirSync(join(directory, 'log')).filter((name) => name.endsWith('.log'));
const checkpoints = (directory: string) =>
  existsSync(join(directory, 'checkpoints')) ? readdirSync(join(directory, 'checkpoints')).sort() : [];
const sealed = (directory: string) =>
  Math.max(...segments(directory).map((name) => Number(name.slice(8, 16)))) - 1;

/** Everything that anybody of any tenant can read. */
function everyAnswer({ state, queries }: TestEngine): string[] {
  const page = { page: 1, perPage: 100, service: null, vendor: null, eventType: null } as const;
  return [...state.tenants.values()].flatMap((tenant) => [
    queries.agents(tenant.id).whole().json,
    queries.services(tenant.id).whole().json,
    queries.integrations(tenant.id).whole().json,
    ...[...tenant.agents.keys()].map((id) => JSON.stringify(queries.agent(tenant.id, id, page))),
    ...[...tenant.services.keys()].map((id) => JSON.stringify(serviceContext(queries, tenant.id, id))),
    JSON.stringify([...tenant.keys.values()]),
  ]);
}

/** Commands of every kind, over two tenants, with the clock moving. */
async function live(engine: TestEngine, rounds: number): Promise<void> {
  for (const [index, name] of ['payments', 'search'].entries()) {
    const known = engine.state.tenantsByName.has(name);
    const { tenantId, agentId } = known ? knownAgent(engine, name) : await engine.newTenant(name);
    for (let n = 0; n < rounds; n += 1) {
      engine.clock.step(1000 * (1 + (n % 7)));
      const events = Array.from({ length: 1 + (n % 3) }, (_, part) =>
        anEvent({
          serviceName: `service-${(n + part) % 5}`,
          entity: `😀-${index}-${n}-${part}`,
          eventType: part === 1 ? 'saturation' : 'deploy',
          vendor: n % 2 === 0 ? 'argocd' : 'kubernetes',
          ttlSeconds: [5, 600, 86_400][n % 3] ?? 60,
          timestampMs: n % 4 === 0 ? null : START_MS + n * 500,
          oldValue: n % 5 === 0 ? null : '__proto__',
        }),
      );
      await engine.submit({ type: 'record-events', tenantId, agentId, events });
      if (n % 20 !== 0) continue;
      await engine.submit({ type: 'heartbeat', tenantId, agentId });
      const id = integrationId(crypto.randomUUID());
      const integration = { integrationType: 'pagerduty', direction: 'inbound', token: `t-${id}` } as const;
      await engine.submit({ type: 'create-integration', tenantId, integrationId: id, ...integration });
      const configJson = '{"pagerduty_token":"s3cret","__proto__":1}';
      await engine.submit({ type: 'configure-integration', tenantId, integrationId: id, configJson });
      if (n % 40 === 0) await engine.submit({ type: 'delete-integration', tenantId, integrationId: id });
      const [key] = await engine.admin({
        operation: 'keys.create',
        tenant: name,
        kind: 'read-only',
        name,
        count: 1,
      });
      if (n % 40 === 0) await engine.admin({ operation: 'keys.revoke', id: String(key?.['id']) });
    }
  }
}

function knownAgent({ state }: TestEngine, name: string) {
  const tenant = state.tenantsByName.get(name);
  const [agentId] = tenant?.agents.keys() ?? [];
  if (tenant === undefined || agentId === undefined) throw new Error(`no agent of ${name}`);
  return { tenantId: tenant.id, agentId };
}

async function answersOf(
  directory: string,
  clock: ManualClock,
): Promise<{ answers: string[]; engine: TestEngine }> {
  const engine = await openTestEngine(directory, SETTINGS, clock);
  const answers = everyAnswer(engine);
  await engine.close();
  return { answers, engine };
}

/** The data of an engine that has lived for so many steps and was closed, and what it answered before. */
async function lived(steps: number) {
  const clock = new ManualClock(START_MS);
  const directory = freshDirectory();
  const engine = await openTestEngine(directory, SETTINGS, clock);
  await live(engine, steps);
  const before = everyAnswer(engine);
  await engine.close();
  return { clock, directory, engine, before };
}

describe('a start from a checkpoint', () => {
  it('answers byte for byte as a full replay does, wherever the checkpoint was made', async () => {
    const { clock, directory, engine, before } = await lived(60);
    expect((await answersOf(copyOf(directory), clock)).answers).toEqual(before);
    const last = sealed(directory);
    expect(last).toBeGreaterThan(4);
    for (const throughOrdinal of [1, Math.floor(last / 2), last]) {
      const copy = copyOf(directory);
      await make({ dataDirectory: copy, limits: LIMITS, throughOrdinal });
      const { answers, engine: restarted } = await answersOf(copy, clock);
      expect(answers).toEqual(before);
      expect(restarted.replayed).toBeLessThan(engine.replayed || Number.POSITIVE_INFINITY);
    }
  });

  it('goes on from there: what is appended afterwards, and the next checkpoint, answer alike too', async () => {
    const clock = new ManualClock(START_MS);
    const directory = freshDirectory();
    let engine = await openTestEngine(directory, SETTINGS, clock);
    await live(engine, 30);
    await engine.close();
    await make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: sealed(directory) });
    engine = await openTestEngine(directory, SETTINGS, clock);
    await live(engine, 30);
    const before = everyAnswer(engine);
    await engine.close();
    await make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: sealed(directory) });
    expect((await answersOf(directory, clock)).answers).toEqual(before);
    rmSync(join(directory, 'checkpoints'), { recursive: true });
    expect((await answersOf(directory, clock)).answers).toEqual(before);
  });

  it('falls back to the older checkpoint, and then to the log, where one is damaged at any byte', async () => {
    const { clock, directory, before } = await lived(25);
    const last = sealed(directory);
    await make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: 1 });
    await make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: last });
    const newest = join('checkpoints', checkpoints(directory).at(-1) ?? '');
    const size = statSync(join(directory, newest)).size;
    for (let step = 0; step < 25; step += 1) {
      const copy = copyOf(directory);
      const bytes = readFileSync(join(copy, newest));
      const at = Math.floor((size * step) / 25);
      if (step % 2 === 0) bytes[at] = (bytes[at] ?? 0) ^ 0x40;
      writeFileSync(join(copy, newest), step % 2 === 0 ? bytes : bytes.subarray(0, at));
      const { answers, engine: restarted } = await answersOf(copy, clock);
      expect(answers).toEqual(before);
      expect(restarted.notices[0]).toMatch(/checkpoint-\d+\.ckpt cannot be used/);
    }
  });

  it('passes over one that a newer version has written, with rows that this one does not understand', async () => {
    const { clock, directory, before } = await lived(25);
    const options = {
      disk: nodeDisk,
      dataDirectory: directory,
      limits: LIMITS,
      changes: { changed: () => {} },
    };
    const { state, read } = await load({ ...options, throughOrdinal: sealed(directory) }, replay);
    if (read.end === undefined) throw new Error('nothing was read');
    const rows = [...dumpState(state, clock.now()), ['not known yet', 1]];
    writeCheckpoint(nodeDisk, checkpointDirectory(directory), read.end, rows);
    const { answers, engine: restarted } = await answersOf(directory, clock);
    expect(answers).toEqual(before);
    expect(restarted.notices[0]).toMatch(/checkpoint-\d+\.ckpt cannot be used: .*not known yet/);
  });

  it('refuses a log that lacks segments which the checkpoint does not cover', async () => {
    const clock = new ManualClock(START_MS);
    const directory = freshDirectory();
    const engine = await openTestEngine(directory, SETTINGS, clock);
    await live(engine, 30);
    await engine.close();
    await make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: 2 });
    rmSync(join(directory, 'log', 'segment-00000003.log'));
    await expect(openTestEngine(directory, SETTINGS, clock)).rejects.toThrow(
      /segment-00000003\.log.*missing/,
    );
  });

  it('is never made of a damaged segment', async () => {
    const directory = freshDirectory();
    const engine = await openTestEngine(directory, SETTINGS, new ManualClock(START_MS));
    await live(engine, 30);
    await engine.close();
    const path = join(directory, 'log', 'segment-00000002.log');
    const bytes = readFileSync(path);
    bytes[500] = (bytes[500] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const made = make({ dataDirectory: directory, limits: LIMITS, throughOrdinal: sealed(directory) });
    await expect(made).rejects.toThrow(/segment-00000002\.log is damaged/);
    expect(checkpoints(directory)).toEqual([]);
  });
});

describe('a checkpoint', () => {
  const settings = { ...SETTINGS, checkpointSegments: 2, windowMaxEvents: 10_000 };

  /** A directory whose checkpoint is many segments large, and what has been sealed since. */
  async function withLargeCheckpoint() {
    const directory = freshDirectory();
    const clock = new ManualClock(START_MS);
    const engine = await openTestEngine(directory, settings, clock, make);
    const { tenantId, agentId } = await engine.newTenant('payments');
    const event = anEvent({ entity: 'e'.repeat(500), ttlSeconds: 86_400 });
    const append = (count: number) => {
      const events = new Array<typeof event>(count).fill(event);
      return engine.submit({ type: 'record-events', tenantId, agentId, events });
    };
    for (let n = 0; n < 5; n += 1) await append(100);
    await engine.checkpointNow();
    const [name = ''] = checkpoints(directory);
    const { size } = statSync(join(directory, 'checkpoints', name));
    expect(size).toBeGreaterThan(20 * settings.segmentBytes);
    const covered = segments(directory).length - 1;
    const sealedBytes = () =>
      segments(directory)
        .sort()
        .slice(covered, -1)
        .reduce((sum, segment) => sum + statSync(join(directory, 'log', segment)).size, 0);
    return { directory, clock, engine, append, size, sealedBytes };
  }

  it('is made again when the log has grown by as much as it is large, and not before', async () => {
    const { directory, engine, append, size, sealedBytes } = await withLargeCheckpoint();
    while (checkpoints(directory).length < 2) {
      expect(sealedBytes()).toBeLessThan(size);
      await append(5);
      await engine.checkpointNow();
    }
    expect(sealedBytes()).toBeGreaterThanOrEqual(size);
    await engine.close();
  });

  it('is made again, where less comes than came before, when a part of retention has passed', async () => {
    const { directory, clock, engine, append } = await withLargeCheckpoint();
    for (let n = 0; n < 3; n += 1) await append(5);
    clock.step((settings.retentionSeconds * 1000) / 4 - 1);
    await engine.checkpointNow();
    expect(checkpoints(directory)).toHaveLength(1);
    clock.step(1);
    await engine.checkpointNow();
    expect(checkpoints(directory)).toHaveLength(2);
    // Not of what is too little to be worth it.
    clock.step(settings.retentionSeconds * 1000);
    await engine.checkpointNow();
    expect(checkpoints(directory)).toHaveLength(2);
    await engine.close();
  });

  it('that could not be read at the start is not waited for', async () => {
    const { directory, clock, engine, append } = await withLargeCheckpoint();
    for (let n = 0; n < 3; n += 1) await append(5);
    await engine.close();
    const [name = ''] = checkpoints(directory);
    const bytes = readFileSync(join(directory, 'checkpoints', name));
    const rest = bytes.subarray(0, -1);
    for (const damaged of [rest, Buffer.alloc(10), Buffer.alloc(0)]) {
      const copy = copyOf(directory);
      writeFileSync(join(copy, 'checkpoints', name), damaged);
      const again = await openTestEngine(copy, settings, clock, make);
      await again.checkpointNow();
      expect(again.checkpoints?.failures).toBe(0);
      expect(checkpoints(copy)).toEqual([expect.not.stringMatching(name)]);
      await again.close();
    }
  });
});

describe('retention', () => {
  it('levels the disk off under endless load, and keeps what it must', { tags: ['slow'] }, async () => {
    const clock = new ManualClock(START_MS);
    const directory = freshDirectory();
    const settings = { ...SETTINGS, checkpointSegments: 2 };
    const engine = await openTestEngine(directory, settings, clock, make);
    const { tenantId, agentId } = await engine.newTenant('payments');
    const diskBytes = () =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(directory, name)))
        .filter((stats) => stats.isFile())
        .reduce((sum, stats) => sum + stats.size, 0);

    const sizes: number[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      for (let n = 0; n < 120; n += 1) {
        clock.step(30_000);
        const event = anEvent({ entity: `e-${hour}-${n}`, ttlSeconds: 600 });
        await engine.submit({ type: 'record-events', tenantId, agentId, events: [event] });
      }
      await engine.checkpointNow();
      sizes.push(diskBytes());
    }
    const settled = sizes.slice(8);
    expect(Math.max(...settled)).toBeLessThan(1.5 * Math.min(...settled));
    expect(checkpoints(directory)).toHaveLength(2);
    expect(segments(directory)).not.toContain('segment-00000001.log');

    // Two hours at two a minute are in the event log, to the event, and readable from what is left.
    const request = { page: 3, perPage: 100, service: null, vendor: null, eventType: null } as const;
    const before = engine.queries.agent(tenantId, agentId, request);
    expect(JSON.stringify(before).includes(String.raw`\"total\":240`)).toBe(true);
    await engine.close();
    const again = await openTestEngine(directory, settings, clock, make);
    expect(again.queries.agent(tenantId, agentId, request)).toEqual(before);
    await again.close();
  });
});
