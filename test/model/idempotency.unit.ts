/** Requests that are sent again, decided by the log: at once, after a restart, from a checkpoint, and in one group. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCheckpoint } from '../../src/commands/checkpointer.ts';
import type { Settings } from '../../src/config.ts';
import type { Idempotency } from '../../src/domain/command.ts';
import type { AgentId, TenantId } from '../../src/domain/ids.ts';
import { EventTranscoder } from '../../src/events/transcoder.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { segmentFileName } from '../../src/log/segment.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';

const DAY_MS = 24 * 3600 * 1000;

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

interface Sender {
  readonly engine: TestEngine;
  readonly tenantId: TenantId;
  readonly agentId: AgentId;
}

const idempotency = (key: string, payloadHash = 'p'): Idempotency => ({ key, payloadHash });

/** As HTTP submits it. */
function send({ engine, tenantId, agentId }: Sender, entity: string, keyed?: Idempotency) {
  const transcoder = new EventTranscoder();
  transcoder.take(anEvent({ entity, ttlSeconds: 7 * 24 * 3600 }));
  const keys = [...(engine.state.tenants.get(tenantId)?.keys.values() ?? [])];
  const key = keys.find((each) => each.agentId === agentId);
  if (key === undefined) throw new Error('an agent without a key');
  const command = { type: 'record-encoded-events', key, events: transcoder.encoded } as const;
  return new Promise<unknown>((resolve) => {
    engine.pipeline.submit(keyed === undefined ? command : { ...command, idempotency: keyed }, resolve);
  });
}

const APPLIED = { type: 'applied' };
const REPLAY = { type: 'applied', isReplay: true };
const REUSED = { type: 'rejection', kind: 'key-reused' };

const recorded = ({ engine, tenantId }: Sender) => engine.state.tenants.get(tenantId)?.eventCount;

async function open(
  settings: Partial<Settings> = {},
  clock = new ManualClock(START_MS),
): Promise<TestEngine> {
  return openTestEngine(directory, { retentionSeconds: 7 * 24 * 3600, ...settings }, clock);
}

describe('a request with an Idempotency-Key', () => {
  it('is carried out once within a day, and costs no record after', async () => {
    const engine = await open();
    const sender = { engine, ...(await engine.newTenant('acme')) };
    expect(await send(sender, 'a', idempotency('k'))).toEqual(APPLIED);
    const { sequence } = engine.log.lastStamp;
    engine.clock.step(DAY_MS - 1);
    expect(await send(sender, 'a', idempotency('k'))).toEqual(REPLAY);
    expect(await send(sender, 'b', idempotency('k', 'other'))).toMatchObject(REUSED);
    expect([recorded(sender), engine.log.lastStamp.sequence]).toEqual([1, sequence]);
    engine.clock.step(1);
    expect(await send(sender, 'b', idempotency('k', 'other'))).toEqual(APPLIED);
    expect(recorded(sender)).toBe(2);
    await engine.close();
  });

  it('is nothing to another agent, or to one without', async () => {
    const engine = await open();
    const sender = { engine, ...(await engine.newTenant('acme')) };
    const other = { engine, ...(await engine.newTenant('globex')) };
    for (const who of [sender, other]) expect(await send(who, 'a', idempotency('k'))).toEqual(APPLIED);
    for (const n of [1, 2]) expect([n, await send(sender, 'a')]).toEqual([n, APPLIED]);
    expect([recorded(sender), recorded(other)]).toEqual([3, 1]);
    await engine.close();
  });

  it('is known after a restart, from the log alone', async () => {
    const engine = await open();
    const { tenantId, agentId } = await engine.newTenant('acme');
    await send({ engine, tenantId, agentId }, 'a', idempotency('k'));
    await engine.close();

    const again = await open({}, new ManualClock(START_MS + 1000));
    const sender = { engine: again, tenantId, agentId };
    expect(await send(sender, 'a', idempotency('k'))).toEqual(REPLAY);
    expect(await send(sender, 'a', idempotency('k', 'other'))).toMatchObject(REUSED);
    expect(recorded(sender)).toBe(1);
    await again.close();
  });

  it('is known from a checkpoint, for what is left of its day', async () => {
    const settings = { segmentBytes: 4096 };
    const engine = await open(settings);
    const { tenantId, agentId } = await engine.newTenant('acme');
    const sender = { engine, tenantId, agentId };
    await send(sender, 'a', idempotency('k'));
    for (let n = 0; n < 60; n += 1) await send(sender, `filler ${n}`, idempotency(`filler-${n}`));
    await engine.close();
    const throughOrdinal = 2;
    const limits = { retentionMs: 7 * DAY_MS, windowMaxEvents: 1000, windowMaxBytes: 8 * 1024 * 1024 };
    await makeCheckpoint({ disk: nodeDisk, dataDirectory: directory, limits, throughOrdinal });
    // What the checkpoint covers is not read again: were it not in the checkpoint, it would be gone.
    nodeDisk.remove(join(directory, 'log', segmentFileName(1)));

    const clock = new ManualClock(START_MS + 1000);
    const again = await open(settings, clock);
    const later = { engine: again, tenantId, agentId };
    expect(again.replayed).toBeLessThan(61);
    expect(await send(later, 'a', idempotency('k'))).toEqual(REPLAY);
    expect(await send(later, 'a', idempotency('k', 'other'))).toMatchObject(REUSED);
    clock.step(DAY_MS);
    expect(await send(later, 'a', idempotency('k'))).toEqual(APPLIED);
    await again.close();
  });

  it('sent at once with itself, in one group of syncs, is carried out once, and so it is replayed', async () => {
    const engine = await open({ durability: 'fsync' });
    const { tenantId, agentId } = await engine.newTenant('acme');
    const sender = { engine, tenantId, agentId };
    const before = engine.log.lastStamp.sequence;
    const outcomes = await Promise.all([
      send(sender, 'a', idempotency('k')),
      send(sender, 'a', idempotency('k')),
      send(sender, 'b', idempotency('k', 'other')),
      send(sender, 'a', idempotency('k')),
      send(sender, 'c', idempotency('another')),
    ]);
    expect(outcomes).toMatchObject([APPLIED, REPLAY, REUSED, REPLAY, APPLIED]);
    // All were logged, for when they were admitted none was known: it is apply that decides.
    expect(engine.log.lastStamp.sequence).toBe(before + 5);
    expect(recorded(sender)).toBe(2);
    await engine.close();

    const again = await open({}, new ManualClock(START_MS + 1000));
    expect(recorded({ engine: again, tenantId, agentId })).toBe(2);
    expect(again.state.idempotencyKeys.size).toBe(2);
    await again.close();
  });
});
