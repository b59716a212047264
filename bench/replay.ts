/**
 * `npm run bench:replay`: how fast a start replays events, and restores a checkpoint of live ones. Both on one
 * core, with the code that a start uses. `npm run bench:replay -- 200000` takes fewer events.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCheckpoint } from '../src/commands/checkpointer.ts';
import { load, logDirectory } from '../src/commands/load.ts';
import { DEFAULTS } from '../src/config.ts';
import type { Command } from '../src/domain/command.ts';
import { agentIdOf, keyId, tenantId } from '../src/domain/ids.ts';
import { readEvent } from '../src/http/schemas.ts';
import { systemClock } from '../src/lib/clock.ts';
import { nodeDisk } from '../src/lib/disk.ts';
import { CommandLog } from '../src/log/log.ts';
import { replay } from '../src/log/replay.ts';
import { EVENT } from './event.ts';

const EVENTS = Number(process.argv[2] ?? 1_000_000);
const SERVICES = 200;
const ROUNDS = 3;
const LEAST_COMMANDS_PER_SECOND = 500_000;
const MOST_RESTORE_SECONDS = 2;

const limits = { retentionMs: 24 * 3_600_000, windowMaxEvents: EVENTS, windowMaxBytes: 2 ** 40 };
const changes = { changed: () => {} };
const dataDirectory = mkdtempSync(join(tmpdir(), 'foreshock-replay-'));
const options = { disk: nodeDisk, dataDirectory, limits, changes };

try {
  process.stderr.write(`writing ${EVENTS.toLocaleString('en')} events …\n`);
  await write();
  const replayed = await best(async () => (await load(options, replay)).read.commands);
  await makeCheckpoint({ ...options, throughOrdinal: await seal() });
  const restored = await best(async () => (await load(options, replay)).state.live.held);
  const perSecond = EVENTS / replayed.seconds;
  const lines = [
    `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}, best of ${ROUNDS}`,
    '',
    '| what | measured | least |',
    '| --- | --- | --- |',
    `| replay, commands of one event | ${Math.round(perSecond).toLocaleString('en')}/s | ${LEAST_COMMANDS_PER_SECOND.toLocaleString('en')}/s |`,
    `| restore ${restored.result.toLocaleString('en')} live events from a checkpoint | ${restored.seconds.toFixed(2)} s | ${MOST_RESTORE_SECONDS} s |`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (perSecond < LEAST_COMMANDS_PER_SECOND || restored.seconds > MOST_RESTORE_SECONDS) process.exitCode = 1;
} finally {
  rmSync(dataDirectory, { recursive: true, force: true });
}

async function write(): Promise<void> {
  const { log } = await openLog(64 * 1024 * 1024);
  const tenant = tenantId(crypto.randomUUID());
  const key = keyId(crypto.randomUUID());
  const agent = agentIdOf(tenant, key);
  const event = readEvent(JSON.parse(EVENT));
  if ('type' in event) throw new Error(event.detail);
  const startMs = systemClock.now();
  const append = (command: Command, n: number) => log.append(command, startMs + n / 100);
  append({ type: 'create-tenant', tenantId: tenant, name: 'bench' }, 0);
  const registration = { hostname: 'bench', name: null, version: null };
  append({ type: 'register-agent', tenantId: tenant, agentId: agent, keyId: key, ...registration }, 0);
  for (let n = 0; n < EVENTS; n += 1) {
    const serviceName = `service-${n % SERVICES}`;
    const events = [{ ...event, serviceName, entity: `pod-${n}`, ttlSeconds: 86_400 }];
    append({ type: 'record-events', tenantId: tenant, agentId: agent, events }, n);
  }
  log.close();
}

/** Begins a new segment, so that everything before it is sealed; answers the last sealed one. */
async function seal(): Promise<number> {
  const { log } = await openLog(1);
  const { state } = await load(options, replay);
  const [tenant] = state.tenants.values();
  const [agent] = tenant?.agents.keys() ?? [];
  if (tenant === undefined || agent === undefined) throw new Error('nothing was written');
  log.append({ type: 'heartbeat', tenantId: tenant.id, agentId: agent }, log.lastStamp.atMs);
  log.close();
  return log.sealedOrdinal;
}

function openLog(segmentBytes: number): ReturnType<typeof CommandLog.open> {
  const directory = logDirectory(dataDirectory);
  const newLogId = '00'.repeat(16);
  const writing = { writes: 'each', roomBytes: DEFAULTS.logRoomBytes } as const;
  return CommandLog.open({ disk: nodeDisk, directory, segmentBytes, newLogId, ...writing }, () => {});
}

async function best<T>(measure: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  let least: { seconds: number; result: T } | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    const result = await measure();
    const seconds = (performance.now() - started) / 1000;
    if (least === undefined || seconds < least.seconds) least = { seconds, result };
  }
  if (least === undefined) throw new Error('nothing was measured');
  return least;
}
