/** The list of services, and the window of what is live in one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { type AgentBody, type ServiceBody, UTC_TIME, UUID, type WindowBody } from './bodies.ts';
import { eventLog, register, sendEvent, serviceNamed, services, windowOf } from './operations.ts';

const WINDOW_MAX_EVENTS = 20;
const TYPES = [
  'deploy',
  'restart',
  'saturation',
  'flag_change',
  'circuit_open',
  'dependency_failure',
] as const;

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;
let otherKey: string;
let other: AgentBody;

beforeAll(async () => {
  server = await TestServer.start('--window-max-events', String(WINDOW_MAX_EVENTS));
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  const [row] = await server.newKeys(tenant.name, 'ingest');
  otherKey = row?.key ?? '';
  other = await register(server, otherKey);
});
afterAll(() => server.stop());

const send = (fields: Readonly<Record<string, unknown>>) => sendEvent(server, tenant.ingest, fields);
const window = (name: string) => windowOf(server, tenant.readOnly, name);

describe('GET /v1/services', () => {
  it('lists a service from its first event on, to either kind of key', async () => {
    const name = 'listed';
    expect((await services(server, tenant.readOnly)).some((service) => service.name === name)).toBe(false);
    await send({ service_name: name, timestamp: '2026-08-22T10:00:00.5Z' });
    for (const key of [tenant.readOnly, tenant.ingest]) {
      expect(await serviceNamed(server, key, name)).toEqual({
        id: expect.stringMatching(UUID),
        tenant_id: agent.tenant_id,
        agent_id: agent.id,
        name,
        last_event_at: '2026-08-22T10:00:00.500Z',
      });
    }
  });

  it('names the agent of the latest event, and the greatest time of any', async () => {
    const service_name = 'two-agents';
    await send({ service_name, timestamp: '2026-08-22T10:00:00Z' });
    const first = await serviceNamed(server, tenant.readOnly, service_name);
    await sendEvent(server, otherKey, { service_name, timestamp: '2026-08-22T09:00:00Z' });
    const second = await serviceNamed(server, tenant.readOnly, service_name);
    expect(second).toEqual({ ...first, agent_id: other.id });
    await send({ service_name, timestamp: '2026-08-22T11:00:00Z' });
    const third = await serviceNamed(server, tenant.readOnly, service_name);
    expect(third).toEqual({ ...first, last_event_at: '2026-08-22T11:00:00.000Z' });
  });

  it('makes one service of many first events at once', async () => {
    const fields = { service_name: 'all-at-once' };
    const keys = Array.from({ length: 16 }, (_, n) => (n % 2 === 0 ? tenant.ingest : otherKey));
    await Promise.all(keys.map((key) => sendEvent(server, key, fields)));
    await serviceNamed(server, tenant.readOnly, 'all-at-once');
    expect((await window('all-at-once')).deploy_events).toHaveLength(16);
  });

  it('tells names apart by case, accents, spaces and what is invisible', async () => {
    const names = [
      'Case',
      'case',
      'café',
      'cafe\u0301',
      'sp ace',
      'sp  ace',
      'z\u200bz',
      'zz',
      '__proto__',
      '🚢',
    ];
    for (const service_name of names) await send({ service_name });
    const all = (await services(server, tenant.readOnly)).map(({ name }) => name);
    expect(all.filter((name) => names.includes(name)).sort()).toEqual([...names].sort());
    for (const name of names) expect((await window(name)).service).toBe(name);
  });

  it('is empty where no event was taken', async () => {
    const empty = await server.newTenant('without-services');
    await register(server, empty.ingest);
    expect((await server.http.post('/v1/events', empty.ingest, eventBody({ vendor: '' }))).status).toBe(400);
    expect(await services(server, empty.readOnly)).toEqual([]);
  });
});

describe('GET /v1/services/{id}/context', () => {
  it('holds every type of event in a list of its own', async () => {
    const service_name = 'every-type';
    for (const event_type of TYPES) await send({ service_name, event_type, entity: `e-${event_type}` });
    const shown = await window(service_name);
    expect(Object.keys(shown).sort()).toEqual(
      ['service', 'updated_at', ...TYPES.map((type) => `${type}_events`)].sort(),
    );
    expect(shown).toMatchObject({ service: service_name, updated_at: expect.stringMatching(UTC_TIME) });
    for (const event_type of TYPES) {
      expect(shown[`${event_type}_events`]).toMatchObject([{ event_type, entity: `e-${event_type}` }]);
    }
  });

  it('shows of an event what explains it, and never its raw line', async () => {
    const values = { old_value: 'v1', new_value: 'v2', actor: 'ci', sha: 'abc', confidence: 0.25 };
    const times = { timestamp: '2026-08-22T10:00:00+05:30', ttl_seconds: 90 };
    await send({
      service_name: 'shown',
      vendor: 'helm',
      entity: 'web',
      ...values,
      ...times,
      raw_line: 'raw',
    });
    const { events } = await eventLog(server, tenant.readOnly, agent.id, '?service=shown');
    expect((await window('shown')).deploy_events).toEqual([
      {
        event_type: 'deploy',
        vendor: 'helm',
        entity: 'web',
        ...values,
        timestamp: '2026-08-22T04:30:00.000Z',
        expires_at: events[0]?.expires_at,
      },
    ]);
  });

  it('shows the newest time first, whatever came in first, and null for what was not given', async () => {
    const service_name = 'ordered';
    const hours = ['08', '11', '09', '10'];
    for (const hour of hours) await send({ service_name, timestamp: `2026-08-22T${hour}:00:00Z` });
    const { deploy_events } = await window(service_name);
    expect(deploy_events.map(({ timestamp }) => timestamp.slice(11, 13))).toEqual(['11', '10', '09', '08']);
    const nothing = { old_value: null, new_value: null, actor: null, sha: null };
    for (const event of deploy_events) expect(event).toMatchObject(nothing);
  });

  it('drops an event the moment it expires, which the event log keeps', async () => {
    const service_name = 'short-lived';
    await send({ service_name, ttl_seconds: 3, entity: 'short' });
    const { deploy_events: live, updated_at } = await window(service_name);
    await send({ service_name, ttl_seconds: 3600, event_type: 'restart' });
    expect(live).toHaveLength(1);
    const expiresAtMs = Date.parse(live[0]?.expires_at ?? '');
    expect(expiresAtMs - Date.parse(updated_at)).toBe(3000);

    let shown: WindowBody;
    do {
      const askedAtMs = Date.now();
      shown = await window(service_name);
      const answeredAtMs = Date.now();
      if (answeredAtMs < expiresAtMs) expect(shown.deploy_events).toHaveLength(1);
      if (askedAtMs >= expiresAtMs) expect(shown.deploy_events).toEqual([]);
      await new Promise((done) => setTimeout(done, 5));
    } while (shown.deploy_events.length > 0);
    expect(shown.restart_events).toHaveLength(1);
    const log = await eventLog(server, tenant.readOnly, agent.id, `?service=${service_name}`);
    expect(log).toMatchObject({ total: 2, events: [{}, { entity: 'short' }] });
  });

  it('stays, empty and of its last update, when all has expired', async () => {
    await send({ service_name: 'over', ttl_seconds: 1 });
    const { updated_at } = await window('over');
    await expect.poll(async () => (await window('over')).deploy_events, { timeout: 10_000 }).toEqual([]);
    expect(await window('over')).toMatchObject({ service: 'over', updated_at });
  });

  it('was updated when the newest event came in, not at its time', async () => {
    await send({ service_name: 'updated', timestamp: '2001-01-01T00:00:00Z' });
    const { events } = await eventLog(server, tenant.readOnly, agent.id, '?service=updated');
    expect((await window('updated')).updated_at).toBe(events[0]?.received_at);
  });

  it(`holds ${WINDOW_MAX_EVENTS} events at most, the newest, and says where it left some out`, async () => {
    const service_name = 'crowded';
    for (let n = 0; n < WINDOW_MAX_EVENTS; n += 1) await send({ service_name, entity: `e-${n}` });
    expect(await window(service_name)).not.toHaveProperty('truncated');
    for (let n = 0; n < 3; n += 1) await send({ service_name, entity: `more-${n}`, event_type: 'restart' });
    const shown = await window(service_name);
    expect(shown.truncated).toBe(true);
    const entities = [...shown.deploy_events, ...shown.restart_events].map(({ entity }) => entity);
    expect(entities.sort()).toEqual(
      [
        ...Array.from({ length: WINDOW_MAX_EVENTS - 3 }, (_, n) => `e-${n + 3}`),
        'more-0',
        'more-1',
        'more-2',
      ].sort(),
    );
  });

  it('is found by the id in capitals, and not by what is no id of a service', async () => {
    await send({ service_name: 'found' });
    const { id } = await serviceNamed(server, tenant.readOnly, 'found');
    const get = (wanted: string) => server.http.get(`/v1/services/${wanted}/context`, tenant.ingest);
    expect(bodyOf<WindowBody>(await get(id.toUpperCase())).service).toBe('found');
    const wrong = ['found', '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11', agent.id, `${id}0`, '%00', '0', '-1'];
    for (const none of wrong) expectRefusal(await get(none), 404, 'not found');
  });

  it('has nothing to do with a service of the same name in another tenant', async () => {
    const theirs = await server.newTenant('same-names');
    await register(server, theirs.ingest);
    await send({ service_name: 'same', entity: 'ours' });
    await sendEvent(server, theirs.ingest, { service_name: 'same', entity: 'theirs' });
    const [service]: readonly ServiceBody[] = await services(server, theirs.readOnly);
    expect(service?.id).not.toBe((await serviceNamed(server, tenant.readOnly, 'same')).id);
    expect((await window('same')).deploy_events).toMatchObject([{ entity: 'ours' }]);
    const foreign = await windowOf(server, theirs.readOnly, 'same');
    expect(foreign.deploy_events).toMatchObject([{ entity: 'theirs' }]);
  });
});

describe('GET /v1/services/{id}/events', () => {
  interface Logged {
    readonly id: string;
    readonly agent_id: string;
    readonly entity: string;
    readonly event_type: string;
  }
  interface Log {
    readonly events: readonly Logged[];
    readonly next_before: string | null;
  }
  const log = async (name: string, query = ''): Promise<Log> => {
    const { id } = await serviceNamed(server, tenant.readOnly, name);
    return bodyOf(await server.http.get(`/v1/services/${id}/events${query}`, tenant.readOnly));
  };

  it('has what every agent told of a service, newest first, expired events too', async () => {
    const service_name = 'told-by-two';
    await send({ service_name, entity: 'first', ttl_seconds: 1 });
    await sendEvent(server, otherKey, { service_name, entity: 'second' });
    await send({ service_name: 'another', entity: 'elsewhere' });
    await send({ service_name, entity: 'third', event_type: 'restart' });
    await expect
      .poll(async () => (await window(service_name)).deploy_events.length, { timeout: 5000 })
      .toBe(1);
    const { events, next_before } = await log(service_name);
    expect(events.map(({ entity, agent_id }) => [entity, agent_id])).toEqual([
      ['third', agent.id],
      ['second', other.id],
      ['first', agent.id],
    ]);
    expect(next_before).toBeNull();
    // The same events, under the same ids, as in their agents' logs.
    const known = await Promise.all(
      [agent, other].map(async ({ id }) => eventLog(server, tenant.readOnly, id, `?service=${service_name}`)),
    );
    const ids = known.flatMap((page) => page.events.map(({ id }) => id));
    expect(events.map(({ id }) => id).sort()).toEqual(ids.sort());
    const restarts = await log(service_name, '?event_type=restart');
    expect(restarts.events.map(({ entity }) => entity)).toEqual(['third']);
  });

  it('is read page by page, none twice and none left out, also while events come in', async () => {
    const service_name = 'paged';
    const batch = (from: number, key: string) =>
      server.http.post(
        '/v1/events/batch',
        key,
        Array.from({ length: 12 }, (_, n) => eventBody({ service_name, entity: `e-${from + n}` })),
      );
    await batch(0, tenant.ingest);
    await batch(12, otherKey);
    const seen: string[] = [];
    let query = '?per_page=10';
    for (let pages = 0; pages < 3; pages += 1) {
      const { events, next_before } = await log(service_name, query);
      seen.push(...events.map(({ entity }) => entity));
      await sendEvent(server, otherKey, { service_name, entity: 'meanwhile' });
      query = `?per_page=10&before=${next_before}`;
      expect(next_before === null).toBe(pages === 2);
    }
    expect(seen).toEqual(Array.from({ length: 24 }, (_, n) => `e-${23 - n}`));
  });

  it('refuses what is no page, and knows no service of another tenant', async () => {
    const service_name = 'refused';
    await send({ service_name });
    const { id } = await serviceNamed(server, tenant.readOnly, service_name);
    const refusals = {
      '?per_page=7': 'per_page must be one of 10, 20, 50, 100',
      '?before=yesterday': 'before must be the id of an event',
      '?event_type=party': 'event_type must be one of the event types',
    };
    for (const [query, sentence] of Object.entries(refusals)) {
      const answer = await server.http.get(`/v1/services/${id}/events${query}`, tenant.readOnly);
      expectRefusal(answer, 400, sentence);
    }
    const stranger = await server.newTenant('stranger');
    expectRefusal(await server.http.get(`/v1/services/${id}/events`, stranger.readOnly), 404, 'not found');
    expectRefusal(await server.http.get(`/v1/services/${id}/events`, tenant.ingest), 403, /key/);
  });
});
