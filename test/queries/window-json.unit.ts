/** A window that is written in steps shows what it held when it was begun. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentId, TenantId } from '../../src/domain/ids.ts';
import { ManualClock } from '../../src/lib/clock.ts';
import { WindowJson } from '../../src/queries/window-json.ts';
import { anEvent, openTestEngine, START_MS, type TestEngine } from '../support/engine.ts';
import { removeDirectory, temporaryDirectory } from '../support/server.ts';
import { serviceContext } from '../support/window.ts';

const MAX_EVENTS = 50;
const TYPES = ['restart', 'dependency_failure', 'deploy'] as const;

let directory: string;
let clock: ManualClock;
let engine: TestEngine;
let tenantId: TenantId;
let agentId: AgentId;
beforeEach(async () => {
  directory = temporaryDirectory();
  clock = new ManualClock(START_MS);
  engine = await openTestEngine(directory, { windowMaxEvents: MAX_EVENTS }, clock);
  ({ tenantId, agentId } = await engine.newTenant('payments'));
});
afterEach(async () => {
  await engine.close();
  removeDirectory(directory);
});

async function record(name: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, n) =>
    anEvent({ entity: `${name}-${n}`, eventType: TYPES[n % TYPES.length] ?? 'deploy', ttlSeconds: 60 }),
  );
  await engine.submit({ type: 'record-events', tenantId, agentId, events });
}

function serviceId(): string {
  const [service] = JSON.parse(String(engine.queries.services(tenantId).whole().json));
  return service.id;
}

function inTheMaking(): WindowJson {
  const context = engine.queries.serviceContext(tenantId, serviceId());
  if (!(context instanceof WindowJson)) throw new Error('it is known');
  return context;
}

function inSteps(making: WindowJson, entries: number): { json: string; steps: number } {
  for (let steps = 1; ; steps += 1) {
    const json = making.advance(entries);
    if (json !== undefined) return { json: String(json), steps };
  }
}

function atOnce(): unknown {
  const found = serviceContext(engine.queries, tenantId, serviceId());
  return found.type === 'found' ? JSON.parse(String(found.json)) : found;
}

it.each([1, 7, 16, 17, 18, 49, 50])('in steps of %i events', async (entries) => {
  await record('before', MAX_EVENTS + 1);
  const [making, other] = [inTheMaking(), inTheMaking()];
  const { json, steps } = inSteps(making, entries);
  expect(steps).toBe(Math.ceil(MAX_EVENTS / entries));
  expect(json).toBe(String(other.advance(Number.POSITIVE_INFINITY)));
  const { restart_events, truncated, ...others } = JSON.parse(json);
  expect([restart_events.length, truncated]).toEqual([16, true]);
  const types = ['deploy', 'saturation', 'flag_change', 'circuit_open', 'dependency_failure'];
  expect(Object.keys(others).sort()).toEqual(
    ['service', 'updated_at', ...types.map((type) => `${type}_events`)].sort(),
  );
});

it('and is known from then on, until an event comes', async () => {
  await record('before', MAX_EVENTS);
  const { json } = inSteps(inTheMaking(), 10);
  expect(engine.queries.serviceContext(tenantId, serviceId())).toEqual({
    type: 'found',
    json: Buffer.from(json),
  });
  await record('after', 1);
  expect(inTheMaking()).toBeInstanceOf(WindowJson);
});

it('whatever comes, leaves and expires between two steps', async () => {
  await record('before', MAX_EVENTS);
  const making = inTheMaking();
  making.advance(0);
  const expected = atOnce();
  // All that it showed leaves the window, and the memory of what comes then is given back too.
  await record('pushing', MAX_EVENTS);
  clock.step(61_000);
  engine.state.reclaim(clock.now(), Number.POSITIVE_INFINITY);
  await record('over it', MAX_EVENTS);
  const { json } = inSteps(making, 8);
  expect(JSON.parse(json)).toEqual(expected);
  // It is no answer to who asks now.
  expect(atOnce()).not.toEqual(expected);
});

it('shows what was recorded before it was begun, though it was asked for before that', async () => {
  await record('before', 5);
  const making = inTheMaking();
  await record('then', 1);
  const { json } = inSteps(making, 2);
  expect(json).toContain('then-0');
});
