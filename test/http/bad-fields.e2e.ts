/** Types, numbers and ids that are wrong: a clear 4xx and nothing changes; and the odd ones that are right. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventBody, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import type { AgentBody } from './bodies.ts';
import { createIntegration, eventLog, register, sendEvent, serviceNamed } from './operations.ts';

const CONFIDENCE = 'confidence must be between 0 and 1';
const TTL = 'ttl_seconds must be positive';
const TEN_YEARS = 10 * 365 * 24 * 3600;

let server: TestServer;
let tenant: Tenant;
let agent: AgentBody;

beforeAll(async () => {
  server = await TestServer.start();
  tenant = server.tenant;
  agent = await register(server, tenant.ingest);
  await sendEvent(server, tenant.ingest);
});
afterAll(() => server.stop());

const post = (body: object | string) => server.http.post('/v1/events', tenant.ingest, body);

async function expectRefused(body: object | string, sentence: string | RegExp): Promise<void> {
  const before = await server.everything(tenant);
  expectRefusal(await post(body), 400, sentence);
  expect(await server.everything(tenant)).toEqual(before);
}

/** The text of an event in which the number of a field is spelled as given. */
function withNumber(field: string, spelled: string): string {
  return JSON.stringify(eventBody({ [field]: '#' })).replace('"#"', spelled);
}

describe('a field of the wrong type', () => {
  const wrongForText: readonly unknown[] = [0, -1.5, true, false, [], ['text'], {}, { toString: 'x' }];
  const fields = [
    'service_name',
    'vendor',
    'entity',
    'event_type',
    'old_value',
    'new_value',
    'actor',
    'sha',
    'timestamp',
    'raw_line',
  ];
  it.each(fields)('is refused, and named: %s', async (field) => {
    for (const wrong of wrongForText) await expectRefused(eventBody({ [field]: wrong }), new RegExp(field));
  });

  it.each([
    ['confidence', CONFIDENCE],
    ['ttl_seconds', /ttl_seconds/],
  ])('is refused, and named: %s', async (field, sentence) => {
    for (const wrong of ['', '1', 'NaN', true, [], [1], {}, null]) {
      await expectRefused(eventBody({ [field]: wrong }), sentence);
    }
  });
});

describe('confidence', () => {
  it.each([
    '0',
    '-0',
    '0.0',
    '0e5',
    '-1',
    '-1e-300',
    '1.0000000000000002',
    '1.1',
    '2',
    '1e308',
    '9007199254740993',
    '1e-400',
    '-1e-400',
  ])('is refused as %s', (spelled) => expectRefused(withNumber('confidence', spelled), CONFIDENCE));

  it.each(['1e999', '-1e999'])('is refused as %s, which is no number', (spelled) =>
    expectRefused(withNumber('confidence', spelled), /large|confidence/),
  );

  it.each([
    ['1', 1],
    ['1.0', 1],
    ['10e-1', 1],
    ['0.99999999999999999', 1],
    ['0.1', 0.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['5e-324', 5e-324],
    ['1E-7', 1e-7],
  ])('is taken as %s, and comes back as the same number', async (spelled, number) => {
    expect((await post(withNumber('confidence', spelled))).status).toBe(201);
    const [event] = (await eventLog(server, tenant.readOnly, agent.id)).events;
    expect(event?.confidence).toBe(number);
  });
});

describe('ttl_seconds', () => {
  it.each(['0', '-0', '0.0', '-1', '-1e308', '-9007199254740993', '-0.5', '1e-400'])(
    'is refused as %s',
    (spelled) => expectRefused(withNumber('ttl_seconds', spelled), TTL),
  );

  it.each([
    '0.5',
    '1.5',
    '3600.0000001',
    '1e308',
    '9007199254740991',
    '9007199254740993',
    '1e999',
    '315360001',
    '2147483648',
    '4294967296',
    '"60"',
    '60.5e0',
  ])('is refused as %s', (spelled) => expectRefused(withNumber('ttl_seconds', spelled), /ttl_seconds|large/));

  it.each([
    ['600', 600],
    ['600.0', 600],
    ['6e2', 600],
    ['3.6e3', 3600],
    [String(TEN_YEARS), TEN_YEARS],
  ])('is taken as %s up to ten years', async (spelled, seconds) => {
    expect((await post(withNumber('ttl_seconds', spelled))).status).toBe(201);
    const [event] = (await eventLog(server, tenant.readOnly, agent.id)).events;
    expect(event?.ttl_seconds).toBe(seconds);
    const livesMs = Date.parse(event?.expires_at ?? '') - Date.parse(event?.received_at ?? '');
    expect(livesMs).toBe(seconds * 1000);
  });

  it('tells whoever asks for too long what is the longest there is', async () => {
    for (const seconds of ['315360001', '9007199254740993', '1e300']) {
      await expectRefused(withNumber('ttl_seconds', seconds), /315360000/);
    }
  });
});

describe('an id in a path', () => {
  it.each([
    'me',
    '0',
    '-1',
    '1e9',
    'null',
    'undefined',
    'NaN',
    '*',
    '%00',
    '%2e%2e',
    "'%20OR%201=1--",
    '%F0%9F%9A%A2',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d1',
    '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d111',
    '0b8f4c1e5a524d7b9c362f3f1f0a9d11',
    '%7B0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11%7D',
    '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11%20',
    'g0b8f4c1-5a52-4d7b-9c36-2f3f1f0a9d11',
    'x'.repeat(3000),
  ])('that is none of ours is 404 everywhere: %s', async (id) => {
    const before = await server.everything(tenant);
    const { http } = server;
    const { ingest, readOnly } = tenant;
    const answers = await Promise.all([
      http.get(`/v1/agents/${id}`, readOnly),
      http.post(`/v1/agents/${id}/heartbeat`, ingest),
      http.get(`/v1/services/${id}/context`, readOnly),
      http.put(`/v1/integrations/${id}`, readOnly, { config: {} }),
      http.delete(`/v1/integrations/${id}`, readOnly),
      http.post(`/v1/integrations/${id}/rotate-token`, readOnly),
    ]);
    for (const answer of answers) expectRefusal(answer, 404, 'not found');
    expect(await server.everything(tenant)).toEqual(before);
  });

  it('is the same id in capitals', async () => {
    const { id } = await createIntegration(server, tenant.readOnly);
    const service = await serviceNamed(server, tenant.readOnly, 'checkout-api');
    const { http } = server;
    const { ingest, readOnly } = tenant;
    const paths: readonly [string, string, string, number][] = [
      ['GET', `/v1/agents/${agent.id.toUpperCase()}`, readOnly, 200],
      ['POST', `/v1/agents/${agent.id.toUpperCase()}/heartbeat`, ingest, 204],
      ['GET', `/v1/services/${service.id.toUpperCase()}/context`, readOnly, 200],
      ['POST', `/v1/integrations/${id.toUpperCase()}/rotate-token`, readOnly, 200],
      ['DELETE', `/v1/integrations/${id.toUpperCase()}`, readOnly, 204],
    ];
    for (const [method, path, key, status] of paths) {
      expect((await http.send({ method, path, key })).status).toBe(status);
    }
  });
});
