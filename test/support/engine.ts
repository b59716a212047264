/** The engine in this process: real log on a real directory, a clock that stands still until told otherwise. */
import {
  type AdminOptions,
  type AdminRequest,
  type AdminRow,
  administer,
} from '../../src/admin/operations.ts';
import type { Outcome } from '../../src/commands/apply.ts';
import type { CheckpointTask } from '../../src/commands/checkpointer.ts';
import { DEFAULTS, type Settings } from '../../src/config.ts';
import type { Command } from '../../src/domain/command.ts';
import type { ContextEvent } from '../../src/domain/event.ts';
import { type AgentId, type KeyId, keyId, type TenantId, tenantId } from '../../src/domain/ids.ts';
import type { ApiKey } from '../../src/domain/key.ts';
import { type Engine, openEngine } from '../../src/engine.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { nodeDisk } from '../../src/lib/disk.ts';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { eventLoop, type Scheduler } from '../../src/lib/scheduler.ts';

export const START_MS = Date.parse('2026-08-22T10:00:00Z');
export const BASE_URL = 'http://foreshock.test';

export interface TestEngine extends Engine {
  readonly clock: ManualClock;
  submit(command: Command): Promise<Outcome>;
  admin(request: AdminRequest): Promise<readonly AdminRow[]>;
  /** A new tenant, with one registered agent and its ingest key. */
  newTenant(name: string): Promise<{ tenantId: TenantId; agentId: AgentId; key: ApiKey }>;
}

export async function openTestEngine(
  dataDirectory: string,
  settings: Partial<Settings> = {},
  clock: ManualClock = new ManualClock(START_MS),
  makeCheckpoint?: (task: CheckpointTask) => Promise<void>,
  scheduler: Scheduler = eventLoop,
): Promise<TestEngine> {
  const engine = await openEngine({
    settings: { ...DEFAULTS, ...settings, dataDirectory },
    disk: nodeDisk,
    clock,
    scheduler,
    entropy: systemEntropy,
    baseUrl: () => BASE_URL,
    onFatal: (error) => {
      throw error;
    },
    onTrouble: (error) => {
      throw error;
    },
    onWriteTrouble: () => {},
    ...(makeCheckpoint === undefined ? {} : { makeCheckpoint }),
  });
  const { state, pipeline } = engine;
  const adminOptions: AdminOptions = { state, pipeline, entropy: systemEntropy };
  const submit = (command: Command) => new Promise<Outcome>((done) => pipeline.submit(command, done));
  const admin = async (request: AdminRequest) => {
    const answer = await administer(adminOptions, request);
    if (answer.type === 'refused') throw new Error(answer.reason);
    return answer.rows;
  };
  const newTenant = async (name: string) => {
    const [tenant] = await admin({ operation: 'tenants.create', name });
    const id = tenantId(String(tenant?.['id']));
    const [row] = await admin({
      operation: 'keys.create',
      tenant: name,
      kind: 'ingest',
      name: null,
      count: 1,
    });
    const ingest: KeyId = keyId(String(row?.['id']));
    const key = state.tenants.get(id)?.keys.get(ingest);
    if (key === undefined) throw new Error('a key that was made is not there');
    const { agentId } = key;
    await submit({
      type: 'register-agent',
      tenantId: id,
      agentId,
      keyId: ingest,
      hostname: 'db-1',
      name: null,
      version: null,
    });
    return { tenantId: id, agentId, key };
  };
  return { ...engine, clock, submit, admin, newTenant };
}

/** An event with everything that does not matter filled in. */
export function anEvent(fields: Partial<ContextEvent> = {}): ContextEvent {
  return {
    serviceName: 'checkout-api',
    vendor: 'argocd',
    entity: 'checkout-api',
    eventType: 'deploy',
    oldValue: null,
    newValue: null,
    actor: null,
    sha: null,
    confidence: 0.95,
    ttlSeconds: 3600,
    timestampMs: null,
    rawLine: null,
    ...fields,
  };
}
