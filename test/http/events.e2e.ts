/** POST /v1/events: what an event does, what is said to a wrong one, and in which order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  eventBody,
  expectRefusal,
  type Headers,
  type Tenant,
  TestServer,
} from '../support/http.ts';
import type { AgentBody } from './bodies.ts';
import { eventLog, register, sendEvent, serviceNamed, windowOf } from './operations.ts';

const REQUIRED = 'service_name, vendor, and entity are required';
const CONFIDENCE = 'confidence must be between 0 and 1';
const TTL = 'ttl_seconds must be positive';
const NOT_REGISTERED = 'agent not registered';

type Fields = Readonly<Record<string, unknown>>;

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;
let unregistered: string;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  const [row] = await server.newKeys(tenant.name, 'ingest');
  unregistered = row?.key ?? '';
});
afterAll(() => server.stop());

const post = (body: object | string | Buffer, key = tenant.ingest, headers: Headers = {}): Promise<Answer> =>
  server.http.post('/v1/events', key, body, headers);

async function expectUnchanged(refused: () => Promise<void>): Promise<void> {
  const before = await server.everything(tenant);
  await refused();
  expect(await server.everything(tenant)).toEqual(before);
}

describe('an event that is taken', () => {
  it('is answered 201 without a body', async () => {
    expect(await post(eventBody())).toEqual({
      status: 201,
      headers: { 'content-length': '0', 'x-request-id': expect.any(String) },
      text: '',
    });
  });

  it('is in the service, its window, the event log, and counts as a heartbeat, once it is answered', async () => {
    const before = await eventLog(server, tenant.readOnly, agent.id);
    await new Promise((done) => setTimeout(done, 10));
    await sendEvent(server, tenant.ingest, { service_name: 'effects', ttl_seconds: 600, entity: 'here' });
    const service = await serviceNamed(server, tenant.readOnly, 'effects');
    const { deploy_events, updated_at } = await windowOf(server, tenant.readOnly, 'effects');
    const log = await eventLog(server, tenant.readOnly, agent.id);
    const [stored] = log.events;
    expect(log.total).toBe(before.total + 1);
    expect(stored).toMatchObject({ service_name: 'effects', entity: 'here', received_at: updated_at });
    expect(Date.parse(stored?.expires_at ?? '') - Date.parse(updated_at)).toBe(600_000);
    expect(deploy_events).toMatchObject([{ entity: 'here', timestamp: updated_at }]);
    expect(service).toMatchObject({ agent_id: agent.id, last_event_at: updated_at });
    expect(log.agent.last_seen_at).toBe(updated_at);
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(before.agent.last_seen_at));
  });

  it.each<[string, Fields]>([
    ['of the highest confidence', { confidence: 1 }],
    ['of the lowest confidence', { confidence: Number.MIN_VALUE }],
    [
      'with optionals left null',
      { old_value: null, new_value: null, actor: null, sha: null, raw_line: null },
    ],
    ['with empty optionals', { old_value: '', new_value: '', actor: '', sha: '', raw_line: '' }],
    ['with a null timestamp', { timestamp: null }],
    [
      'with fields it does not know',
      { id: 'x', tenant_id: 'y', agent_id: {}, received_at: 5, nested: [{ a: 1 }] },
    ],
    ['with names of one character', { service_name: 's', vendor: 'v', entity: 'e' }],
    [
      'with names of 512 characters',
      { service_name: 's'.repeat(512), vendor: 'v'.repeat(512), entity: 'e'.repeat(512) },
    ],
    [
      'with long values',
      { old_value: 'o'.repeat(4096), new_value: 'n'.repeat(4096), raw_line: 'r'.repeat(8192) },
    ],
  ])('may be %s, however its time is written', async (_, fields) => {
    for (const timestamp of [undefined, '2026-08-31T10:00:00Z', '2026-08-31T10:00:00.5+02:00']) {
      await sendEvent(server, tenant.ingest, { timestamp, ...fields });
    }
  });

  it('may be of one second', async () => {
    // In a tenant of its own: what the others compare must not expire meanwhile.
    const { ingest, readOnly } = await server.newTenant('brief');
    await register(server, ingest);
    for (const timestamp of [undefined, '2026-08-31T10:00:00+02:00']) {
      await sendEvent(server, ingest, { ttl_seconds: 1, timestamp });
    }
    await serviceNamed(server, readOnly, 'checkout-api');
  });

  it.each(['deploy', 'restart', 'saturation', 'flag_change', 'circuit_open', 'dependency_failure'])(
    'may be a %s',
    async (event_type) => sendEvent(server, tenant.ingest, { event_type }),
  );

  it('is taken once, each of 200 sent at once', async () => {
    const entities = Array.from({ length: 200 }, (_, n) => `at-once-${n}`);
    const service_name = 'at-once';
    await Promise.all(entities.map((entity) => sendEvent(server, tenant.ingest, { service_name, entity })));
    const { deploy_events } = await windowOf(server, tenant.readOnly, service_name);
    expect(deploy_events.map(({ entity }) => entity).sort()).toEqual(entities.sort());
  });
});

describe('an event that is refused', () => {
  it.each<[string, Fields, string | RegExp]>([
    ['no service_name', { service_name: undefined }, REQUIRED],
    ['an empty service_name', { service_name: '' }, REQUIRED],
    ['a null service_name', { service_name: null }, REQUIRED],
    ['no vendor', { vendor: undefined }, REQUIRED],
    ['an empty vendor', { vendor: '' }, REQUIRED],
    ['no entity', { entity: undefined }, REQUIRED],
    ['an empty entity', { entity: '' }, REQUIRED],
    ['a service_name that is no text', { service_name: 7 }, /service_name/],
    ['a vendor that is no text', { vendor: ['argocd'] }, /vendor/],
    ['an entity that is no text', { entity: { name: 'pod' } }, /entity/],
    ['no confidence', { confidence: undefined }, CONFIDENCE],
    ['a null confidence', { confidence: null }, CONFIDENCE],
    ['confidence 0', { confidence: 0 }, CONFIDENCE],
    ['negative confidence', { confidence: -0.5 }, CONFIDENCE],
    ['confidence over 1', { confidence: 1.0000000000000002 }, CONFIDENCE],
    ['confidence as text', { confidence: '0.5' }, CONFIDENCE],
    ['confidence in percent', { confidence: 95 }, CONFIDENCE],
    ['no ttl_seconds', { ttl_seconds: undefined }, TTL],
    ['ttl_seconds 0', { ttl_seconds: 0 }, TTL],
    ['negative ttl_seconds', { ttl_seconds: -1 }, TTL],
    ['negative fractional ttl_seconds', { ttl_seconds: -0.5 }, TTL],
    ['ttl_seconds as text', { ttl_seconds: '60' }, /ttl_seconds/],
    ['fractional ttl_seconds', { ttl_seconds: 1.5 }, /ttl_seconds/],
    ['no event_type', { event_type: undefined }, /event_type/],
    ['an unknown event_type', { event_type: 'rollback' }, /event_type/],
    ['an event_type in capitals', { event_type: 'DEPLOY' }, /event_type/],
    ['an event_type that is no text', { event_type: 1 }, /event_type/],
  ])('for %s changes nothing', async (_, fields, sentence) => {
    await expectUnchanged(async () => {
      expectRefusal(await post(eventBody(fields)), 400, sentence);
    });
  });

  it.each<[string, Fields, string | RegExp]>([
    [
      'required fields',
      { entity: '', confidence: 0, ttl_seconds: 0, event_type: 'x', timestamp: 'x' },
      REQUIRED,
    ],
    ['a missing field before one that is no text', { service_name: 5, entity: '' }, REQUIRED],
    ['what a name is', { vendor: 5, confidence: 0, ttl_seconds: 0, event_type: 'x' }, /vendor/],
    ['confidence', { confidence: 0, ttl_seconds: 0, event_type: 'x', timestamp: 'x' }, CONFIDENCE],
    ['ttl_seconds', { ttl_seconds: 0, event_type: 'x', old_value: 5, timestamp: 'x' }, TTL],
    ['the rest', { event_type: 'x', old_value: 5 }, /event_type/],
  ])('is told of %s first', async (_, fields, sentence) => {
    expectRefusal(await post(eventBody(fields)), 400, sentence);
    const keysReversed = Object.fromEntries(Object.entries(eventBody(fields)).reverse());
    expectRefusal(await post(keysReversed), 400, sentence);
    // Whether the agent is registered comes last of all.
    expectRefusal(await post(eventBody(fields), unregistered), 400, sentence);
  });

  it('names everything that is required where all of it is missing', async () => {
    expectRefusal(await post({}), 400, REQUIRED);
  });

  it('says the same as application/problem+json to whoever accepts JSON', async () => {
    const answer = await post(eventBody({ confidence: 2 }), tenant.ingest, { Accept: 'application/json' });
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.text)).toMatchObject({ status: 400, detail: CONFIDENCE });
  });

  it('is 403 where the agent is not registered, and makes neither agent nor service', async () => {
    await expectUnchanged(async () => {
      const answer = await post(eventBody({ service_name: 'of-a-stranger' }), unregistered);
      expectRefusal(answer, 403, NOT_REGISTERED);
    });
  });
});

describe('a write', () => {
  const tooLong = `{"service_name":"${'s'.repeat(70_000)}"`;
  const text = { 'Content-Type': 'text/plain' };

  it('is asked for its key first, then for the kind of its key', async () => {
    await expectUnchanged(async () => {
      expectRefusal(await post(tooLong, 'nonsense', text), 401, /key/);
      expectRefusal(await post(tooLong, tenant.readOnly, text), 403, /ingest key/);
    });
  });

  it('is then measured, then asked for its media type, then read as JSON, then for its fields', async () => {
    await expectUnchanged(async () => {
      expectRefusal(await post(tooLong, tenant.ingest, text), 413, /larger/);
      expectRefusal(await post('{', tenant.ingest, text), 415, /JSON/);
      expectRefusal(await post('{', tenant.ingest), 400, /JSON/);
      expectRefusal(await post('{"a":1,"a":2}', unregistered), 400, /repeated/);
      expectRefusal(await post('{}', unregistered), 400, REQUIRED);
      expectRefusal(await post(eventBody(), unregistered), 403, NOT_REGISTERED);
    });
  });
});
