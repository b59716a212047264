/** Registering, heartbeats, and the list of agents. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentIdOf, keyId, tenantId } from '../../src/domain/ids.ts';
import { bodyOf, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { type AgentBody, type AgentEntry, UTC_TIME, UUID } from './bodies.ts';
import { eventLog, register, sendEvent } from './operations.ts';

const UNKNOWN_ID = '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11';

let server: TestServer;
let tenant: Tenant;
let theirs: Tenant;
let spareKeys: string[];

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  theirs = await server.newTenant('theirs');
  spareKeys = (await server.newKeys(tenant.name, 'ingest', 30)).map(({ key }) => key);
});
afterAll(() => server.stop());

/** The key of an agent that nothing has been heard of. */
function newKey(): string {
  const key = spareKeys.pop();
  if (key === undefined) throw new Error('make more keys in beforeAll');
  return key;
}

async function listed(id: string): Promise<AgentEntry> {
  const list = bodyOf<readonly AgentEntry[]>(await server.http.get('/v1/agents', tenant.readOnly));
  const [entry, ...more] = list.filter((agent) => agent.id === id);
  if (entry === undefined || more.length > 0) throw new Error(`agent ${id} is not listed once`);
  return entry;
}

function lastSeen(agent: { readonly last_seen_at: string }): number {
  return Date.parse(agent.last_seen_at);
}

describe('POST /v1/agents/register', () => {
  it('answers 201 with the agent, named after its host, of no version', async () => {
    const agent = await register(server, newKey(), { hostname: 'db-1.example' });
    expect(agent).toEqual({
      id: expect.stringMatching(UUID),
      tenant_id: expect.stringMatching(UUID),
      api_key_id: expect.stringMatching(UUID),
      hostname: 'db-1.example',
      name: 'db-1.example',
      agent_version: null,
      registered_at: expect.stringMatching(UTC_TIME),
      last_seen_at: agent.registered_at,
      status: 'live',
    });
  });

  it('takes a name and a version', async () => {
    const body = { hostname: 'db-2', name: 'the second database', version: 'v1.4.0-rc.1' };
    expect(await register(server, newKey(), body)).toMatchObject({
      hostname: 'db-2',
      name: 'the second database',
      agent_version: 'v1.4.0-rc.1',
    });
  });

  it('is the same agent when it registers again, with the hostname and version of now', async () => {
    const key = newKey();
    const first = await register(server, key, { hostname: 'before', version: '1' });
    const second = await register(server, key, { hostname: 'after', version: '2' });
    expect(second).toEqual({
      ...first,
      hostname: 'after',
      name: 'after',
      agent_version: '2',
      last_seen_at: second.last_seen_at,
    });
    expect(lastSeen(second)).toBeGreaterThanOrEqual(lastSeen(first));
    expect(await listed(first.id)).toMatchObject({ hostname: 'after', name: 'after', agent_version: '2' });
  });

  it('lets the name follow the hostname until a name is given, and keeps that', async () => {
    const key = newKey();
    expect(await register(server, key, { hostname: 'a' })).toMatchObject({ name: 'a' });
    expect(await register(server, key, { hostname: 'b', name: null })).toMatchObject({ name: 'b' });
    expect(await register(server, key, { hostname: 'c', name: 'given' })).toMatchObject({ name: 'given' });
    expect(await register(server, key, { hostname: 'd' })).toMatchObject({ hostname: 'd', name: 'given' });
    expect(await register(server, key, { hostname: 'e', name: 'new' })).toMatchObject({ name: 'new' });
  });

  it('keeps the version where none is given', async () => {
    const key = newKey();
    await register(server, key, { hostname: 'a', version: '1.0' });
    expect(await register(server, key, { hostname: 'a' })).toMatchObject({ agent_version: '1.0' });
    expect(await register(server, key, { hostname: 'a', version: null })).toMatchObject({
      agent_version: '1.0',
    });
  });

  it('makes one agent of many registrations at once', async () => {
    const key = newKey();
    const bodies = Array.from({ length: 20 }, (_, n) => ({ hostname: `host-${n}` }));
    const agents = await Promise.all(bodies.map((body) => register(server, key, body)));
    expect(new Set(agents.map(({ id }) => id)).size).toBe(1);
    expect((await listed(agents[0]?.id ?? '')).hostname).toMatch(/^host-\d+$/);
  });

  it('makes two agents of two keys on one host', async () => {
    const body = { hostname: 'shared', name: 'shared' };
    const [one, two] = [await register(server, newKey(), body), await register(server, newKey(), body)];
    expect(one.id).not.toBe(two.id);
    expect(one.api_key_id).not.toBe(two.api_key_id);
    expect(one.tenant_id).toBe(two.tenant_id);
  });

  it('lets fields be that it does not know', async () => {
    const body = { hostname: 'h', id: UNKNOWN_ID, tenant_id: UNKNOWN_ID, registered_at: 'never', os: {} };
    const agent = await register(server, newKey(), body);
    expect(agent.id).not.toBe(UNKNOWN_ID);
    expect(agent.tenant_id).not.toBe(UNKNOWN_ID);
    expect(agent).not.toHaveProperty('os');
  });

  it.each([
    ['no hostname', {}, /hostname/],
    ['an empty hostname', { hostname: '' }, /hostname/],
    ['a hostname that is null', { hostname: null }, /hostname/],
    ['a hostname that is no text', { hostname: 5 }, /hostname/],
    ['a hostname that is too long', { hostname: 'h'.repeat(100_000 / 2) }, /hostname/],
    ['a name that is no text', { hostname: 'h', name: ['n'] }, /name/],
    ['a version that is no text', { hostname: 'h', version: 1.5 }, /version/],
    ['a version that is too long', { hostname: 'h', version: 'v'.repeat(50_000) }, /version/],
    ['an array', [{ hostname: 'h' }], /object/],
    ['null', 'null', /object/],
  ])('answers %s with 400, and registers nothing', async (_, body, sentence) => {
    const before = await server.everything(tenant);
    expectRefusal(await server.http.post('/v1/agents/register', newKey(), body), 400, sentence);
    expect(await server.everything(tenant)).toEqual(before);
  });
});

describe('POST /v1/agents/{id}/heartbeat', () => {
  let key: string;
  let agent: AgentBody;
  beforeAll(async () => {
    key = newKey();
    agent = await register(server, key);
  });

  const beat = (id: string, by = key) => server.http.post(`/v1/agents/${id}/heartbeat`, by);

  it('answers 204 without a body, and moves last_seen_at on and nothing else', async () => {
    const before = await listed(agent.id);
    await new Promise((done) => setTimeout(done, 20));
    const answer = await beat(agent.id);
    expect(answer).toEqual({
      status: 204,
      headers: { 'x-request-id': expect.any(String) },
      text: '',
    });
    const after = await listed(agent.id);
    expect(lastSeen(after)).toBeGreaterThan(lastSeen(before));
    expect(after).toEqual({ ...before, last_seen_at: after.last_seen_at });
    expect(await eventLog(server, tenant.readOnly, agent.id)).toMatchObject({ total: 0, events: [] });
  });

  it('takes the id in capitals', async () => {
    expect((await beat(agent.id.toUpperCase())).status).toBe(204);
  });

  it('does not mind a body, of whatever kind', async () => {
    const path = `/v1/agents/${agent.id}/heartbeat`;
    for (const body of ['{}', '{', 'x'.repeat(200_000)]) {
      const answer = await server.http.post(path, key, body, { 'Content-Type': 'text/plain' });
      expect(answer.status).toBe(204);
    }
  });

  it('answers 403 for another agent of the same tenant, which is not seen by it', async () => {
    const other = await register(server, newKey());
    const before = await listed(other.id);
    expectRefusal(await beat(other.id), 403, /agent/);
    expect(await listed(other.id)).toEqual(before);
  });

  it('answers 404 for an id that nobody has, that another tenant has, or that is none', async () => {
    const foreign = await register(server, theirs.ingest);
    for (const id of [UNKNOWN_ID, foreign.id, 'me', `${agent.id}0`, agent.id.replaceAll('-', ''), '%20']) {
      expectRefusal(await beat(id), 404, 'not found');
    }
  });

  it('answers 403 while its agent is not registered, and registers nothing', async () => {
    const [row] = await server.newKeys(tenant.name, 'ingest');
    if (row === undefined) throw new Error('no key was made');
    const own = agentIdOf(tenantId(row.tenant_id), keyId(row.id));
    const before = await server.everything(tenant);
    expectRefusal(await beat(own, row.key), 403, 'agent not registered');
    expectRefusal(await beat(own), 404, 'not found');
    expect(await server.everything(tenant)).toEqual(before);
    expect((await register(server, row.key)).id).toBe(own);
    expect((await beat(own, row.key)).status).toBe(204);
  });
});

describe('GET /v1/agents', () => {
  it('lists every registered agent, with the events of its last hour', async () => {
    const key = newKey();
    const agent = await register(server, key, { hostname: 'busy', name: 'busy one', version: '3' });
    expect(await listed(agent.id)).toMatchObject({ events_last_hour: 0 });
    for (let n = 0; n < 3; n += 1) await sendEvent(server, key, { ttl_seconds: 1 });
    expect(await listed(agent.id)).toEqual({
      id: agent.id,
      hostname: 'busy',
      name: 'busy one',
      agent_version: '3',
      registered_at: agent.registered_at,
      last_seen_at: expect.stringMatching(UTC_TIME),
      events_last_hour: 3,
      status: 'live',
    });
    const { events_by_minute } = await eventLog(server, tenant.readOnly, agent.id);
    expect(events_by_minute).toEqual([...new Array(59).fill(0), 3]);
  });

  it('lists no agent of a key that was never registered, and none of a tenant without agents', async () => {
    const empty = await server.newTenant('without-agents');
    expect(bodyOf(await server.http.get('/v1/agents', empty.readOnly))).toEqual([]);
    await server.http.post('/v1/events', empty.ingest, {});
    expect(bodyOf(await server.http.get('/v1/agents', empty.readOnly))).toEqual([]);
  });

  it('calls an agent stale that was not seen for as long as the operator said, until it is seen', async () => {
    const brief = await TestServer.start('--agent-stale-after', '2s');
    try {
      const { ingest, readOnly } = brief.tenant;
      const agent = await register(brief, ingest);
      const status = async () => (await eventLog(brief, readOnly, agent.id)).agent.status;
      await expect.poll(status, { timeout: 10_000 }).toBe('stale');
      await brief.http.post(`/v1/agents/${agent.id}/heartbeat`, ingest);
      expect(await status()).toBe('live');
      await expect.poll(status, { timeout: 10_000 }).toBe('stale');
      await sendEvent(brief, ingest);
      expect(await status()).toBe('live');
    } finally {
      await brief.stop();
    }
  });
});
