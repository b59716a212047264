/** What is known of agents whether they are heard or not, and of services whose names are no clean UTF-8. */
import { Packr } from 'msgpackr';
import { expect, it } from 'vitest';
import { apply } from '../../src/commands/apply.ts';
import { State } from '../../src/commands/state.ts';
import { dumpState, StateRestorer } from '../../src/commands/state-rows.ts';
import { agentId, keyId, tenantId } from '../../src/domain/ids.ts';
import { idBytes } from '../../src/events/encoding.ts';
import { eventsIn } from '../../src/log/command-codec.ts';
import type { LogPosition } from '../../src/log/position.ts';

const LIMITS = { retentionMs: 3_600_000, windowMaxEvents: 100, windowMaxBytes: 100_000 };
const START_MS = 1_760_000_000_000;
const TENANT = tenantId('00000000-0000-4000-8000-000000000001');

function stateWithAgents(count: number) {
  const state = new State(LIMITS, { changed: () => {} });
  const tenant = state.addTenant(TENANT, 'acme', START_MS);
  const agents = Array.from({ length: count }, (_, n) => {
    const id = agentId(`00000000-0000-5000-8000-00000000000${n}`);
    const identity = { id, keyId: keyId(id), registeredAtMs: START_MS };
    const registration = { hostname: `host-${n}`, givenName: null, version: null };
    return state.addAgent(tenant, identity, registration, { lastSeenAtMs: START_MS + n, stale: null });
  });
  return { state, tenant, agents };
}

it('tells of each agent whether it is silent, and since when, through every change of that', () => {
  const { state, agents } = stateWithAgents(3);
  const [first, second] = agents;
  if (first === undefined || second === undefined) throw new Error('two agents were made');
  const silent = (atMs: number) =>
    ({ type: 'became-stale', atMs, name: 'ours', hostname: 'host-1' }) as const;
  const spell = { sinceMs: START_MS + 10, name: 'ours', hostname: 'host-1', lastSeenAtMs: START_MS + 1 };
  state.agents.advance(second.number, silent(START_MS + 10));
  // Nothing new: it has been silent since then.
  state.agents.advance(second.number, silent(START_MS + 20));
  expect(agents.map(({ context }) => context.stale)).toEqual([null, spell, null]);
  expect(agents.map(({ number }) => state.agents.isStale(number))).toEqual([false, true, false]);

  const restored = new State(LIMITS, { changed: () => {} });
  const restorer = new StateRestorer(restored);
  for (const row of dumpState(state, START_MS + 30)) restorer.take(row);
  const again = [...(restored.tenants.get(TENANT)?.agents.values() ?? [])];
  expect(again.map(({ context }) => context)).toEqual(agents.map(({ context }) => context));

  state.agents.advance(second.number, { type: 'seen', atMs: START_MS + 40 });
  state.agents.advance(first.number, silent(START_MS + 50));
  expect(second.context).toMatchObject({ lastSeenAtMs: START_MS + 40, stale: null });
  expect(first.context.stale).toMatchObject({ sinceMs: START_MS + 50, lastSeenAtMs: START_MS });
});

it('knows an agent by its ids as text too, as logs of earlier versions have them', () => {
  const { state, tenant, agents } = stateWithAgents(2);
  const packr = new Packr({ useRecords: false });
  const event = ['api', 0, 1, 60, null, null, 'v', 'e', null, null, null, null];
  for (const [n, id] of [agents[1]?.identity.id, agentId('00000000-0000-5000-8000-00000000000f')].entries()) {
    const bytes = packr.pack([1, TENANT, id, [event]]);
    const stamp = { sequence: n + 1, atMs: START_MS + n };
    const record = { stamp, position: (n + 1) as LogPosition, bytes, start: 0, end: bytes.length };
    expect(apply(state, record)).toMatchObject({ type: n === 0 ? 'applied' : 'rejection' });
    expect(eventsIn(bytes, 0)).toMatchObject({ tenantId: TENANT, agentId: id });
  }
  expect(agents.map(({ history }) => history.countWithin(1000, START_MS + 10))).toEqual([0, 1]);
  expect(tenant.services.size).toBe(1);
});

it('takes a name that is no clean UTF-8 for what it reads as, every time', () => {
  const { state, tenant, agents } = stateWithAgents(1);
  const name = Buffer.from([0xff, 0x61]);
  for (let sequence = 1; sequence <= 3; sequence += 1) {
    const event = [0x9c, 0xa2, ...name, 0, 1, 60, 0xc0, 0xc0, 0xa1, 0x76, 0xa1, 0x65, 0xc0, 0xc0, 0xc0, 0xc0];
    const ids = idBytes(TENANT, agents[0]?.identity.id ?? agentId(''));
    const bytes = Buffer.from([0x94, 1, ...ids, 0x91, ...event]);
    const stamp = { sequence, atMs: START_MS + sequence };
    const record = { stamp, position: sequence as LogPosition, bytes, start: 0, end: bytes.length };
    expect(apply(state, record)).toEqual({ type: 'applied' });
  }
  const [service, ...others] = tenant.services.values();
  expect([service?.name, others]).toEqual(['\ufffda', []]);
  expect(service && state.live.sizeOf(service.window)).toBe(3);
});
