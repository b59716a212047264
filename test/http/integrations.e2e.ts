/** Integrations from their making to their end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, expectRefusal, type Tenant, TestServer } from '../support/http.ts';
import { type IntegrationBody, UTC_TIME, UUID } from './bodies.ts';
import { createIntegration, integrations, webhookPath } from './operations.ts';

const BASE_URL = 'https://alerts.example:8443/foreshock';
const UNKNOWN_ID = '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11';

let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await TestServer.start('--base-url', BASE_URL);
  tenant = server.tenant;
});
afterAll(() => server.stop());

const create = (body?: object) => createIntegration(server, tenant.readOnly, body);
const put = (id: string, body: object | string) =>
  server.http.put(`/v1/integrations/${id}`, tenant.readOnly, body);
const remove = (id: string) => server.http.delete(`/v1/integrations/${id}`, tenant.readOnly);
const rotate = (id: string) => server.http.post(`/v1/integrations/${id}/rotate-token`, tenant.readOnly);
const deliver = (integration: IntegrationBody, body = '{}') =>
  server.http.post(webhookPath(integration), undefined, body);

async function listed(id: string): Promise<IntegrationBody | undefined> {
  const found = (await integrations(server, tenant.readOnly)).filter((integration) => integration.id === id);
  expect(found.length).toBeLessThan(2);
  return found[0];
}

async function expectUnchanged(refused: () => Promise<void>): Promise<void> {
  const before = await server.everything(tenant);
  await refused();
  expect(await server.everything(tenant)).toEqual(before);
}

describe('POST /v1/integrations', () => {
  const kinds = ['pagerduty', 'alertmanager'].flatMap((type) =>
    ['inbound', 'outbound', 'bidirectional'].map((direction) => ({ type, direction })),
  );
  it.each(kinds)('makes one of type $type, $direction, with an empty config', async ({ type, direction }) => {
    const made = await create({ type, direction });
    expect(made).toEqual({
      id: expect.stringMatching(UUID),
      tenant_id: expect.stringMatching(UUID),
      type,
      direction,
      token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      config: {},
      created_at: expect.stringMatching(UTC_TIME),
      webhook_url: `${BASE_URL}/webhooks/${type}/${made.token}`,
    });
    expect(await listed(made.id)).toEqual(made);
  });

  it('makes another each time, with a token of its own', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(new Set(made.map(({ id }) => id)).size).toBe(10);
    expect(new Set(made.map(({ token }) => token)).size).toBe(10);
  });

  it.each<[string, object | string, RegExp]>([
    ['nothing', {}, /type/],
    ['no type', { direction: 'inbound' }, /type/],
    ['an unknown type', { type: 'opsgenie', direction: 'inbound' }, /type/],
    ['a type in capitals', { type: 'PagerDuty', direction: 'inbound' }, /type/],
    ['a type that is no text', { type: ['pagerduty'], direction: 'inbound' }, /type/],
    ['a type every object has', { type: 'constructor', direction: 'inbound' }, /type/],
    ['no direction', { type: 'pagerduty' }, /direction/],
    ['an unknown direction', { type: 'pagerduty', direction: 'sideways' }, /direction/],
    ['a direction that is null', { type: 'pagerduty', direction: null }, /direction/],
    ['an array', [], /object/],
    ['text', '"pagerduty"', /object/],
  ])('answers %s with 400, and makes nothing', async (_, body, sentence) => {
    await expectUnchanged(async () => {
      expectRefusal(await server.http.post('/v1/integrations', tenant.readOnly, body), 400, sentence);
    });
  });
});

describe('PUT /v1/integrations/{id}', () => {
  it('replaces the config, secrets and all, and nothing else', async () => {
    const made = await create();
    const config = {
      pagerduty_token: 'u+secret',
      pagerduty_from: 'ops@example.org',
      service_map: { a: 'b' },
    };
    const updated = bodyOf<IntegrationBody>(await put(made.id, { config }));
    expect(updated).toEqual({ ...made, config });
    expect(await listed(made.id)).toEqual(updated);

    const other = { pagerduty_routing_key: 'R0123456789012345678901234567890' };
    expect(bodyOf(await put(made.id, { config: other }))).toEqual({ ...made, config: other });
    expect(bodyOf(await put(made.id.toUpperCase(), { config: {} }))).toEqual(made);
    expect(await listed(made.id)).toEqual(made);
  });

  it('keeps the config as it was put, whatever it holds', async () => {
    const { id } = await create();
    const config =
      '{"__proto__":{"polluted":true},"constructor":null,"":[],"é🚢\\u0000":[1,-0.5,1e-7,true,null,{"a":{}}],"id":"x"}';
    const answer = await put(id, `{"config":${config}}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`"config":${config},`);
    expect((await server.http.get('/v1/integrations', tenant.readOnly)).text).toContain(
      `"config":${config},`,
    );
  });

  it.each<[string, object | string, RegExp]>([
    ['no config', {}, /config/],
    ['a config that is null', { config: null }, /config/],
    ['a config that is a list', { config: [] }, /config/],
    ['a config that is text', { config: '{}' }, /config/],
    ['a config that is a number', { config: 5 }, /config/],
    ['another field beside it', { config: {}, direction: 'outbound' }, /direction/],
    ['a token beside it', { config: {}, token: 'mine' }, /token/],
    ['fields without it', { type: 'alertmanager' }, /config|type/],
    ['a prototype beside it', '{"config":{},"__proto__":{"direction":"outbound"}}', /__proto__/],
    ['a config of 17 KB', { config: { note: 'x'.repeat(17_000) } }, /config/],
    ['a config too deep', `{"config":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, /deep/],
    ['a routing key of another length', { config: { pagerduty_routing_key: 'R0' } }, /32 characters/],
    [
      'a routing key with a line end',
      { config: { pagerduty_routing_key: `${'R'.repeat(31)}\n` } },
      /32 char/,
    ],
    [
      'a token with a line end',
      { config: { pagerduty_token: 'u+secret\n' } },
      /pagerduty_token must be printable/,
    ],
    [
      'a user with a space',
      { config: { pagerduty_from: 'ops @example.org' } },
      /pagerduty_from must be printable/,
    ],
    [
      'a service of no name',
      { config: { service_map: { checkout: '' } } },
      /service_map must not hold an empty/,
    ],
    [
      'a name that is none',
      { config: { service_map: { '': 'checkout' } } },
      /service_map must not hold an empty/,
    ],
    [
      'an address without a scheme',
      { config: { alertmanager_url: 'alerts.internal:9093' } },
      /alertmanager_url/,
    ],
    ['an address of files', { config: { alertmanager_url: 'file:///etc/passwd' } }, /alertmanager_url/],
    ['an array', [], /object/],
    ['malformed JSON', '{"config":{}', /JSON/],
  ])('answers %s with 400, and changes nothing', async (_, body, sentence) => {
    const { id } = await create();
    await put(id, { config: { kept: true } });
    await expectUnchanged(async () => {
      expectRefusal(await put(id, body), 400, sentence);
    });
  });
});

describe('DELETE /v1/integrations/{id}', () => {
  it('answers 204, and there is no such integration from then on', async () => {
    const made = await create();
    const kept = await create();
    expect((await deliver(made)).status).toBe(202);
    expect(await remove(made.id)).toEqual({
      status: 204,
      headers: { 'x-request-id': expect.any(String) },
      text: '',
    });
    for (const body of ['{}', '{']) expectRefusal(await deliver(made, body), 404, 'not found');
    expect(await listed(made.id)).toBeUndefined();
    expectRefusal(await remove(made.id), 404, 'not found');
    expectRefusal(await put(made.id, { config: {} }), 404, 'not found');
    expectRefusal(await rotate(made.id), 404, 'not found');
    expect((await deliver(kept)).status).toBe(202);
    expect(await listed(kept.id)).toEqual(kept);
  });

  it('deletes once, of many asked for at once', async () => {
    const { id } = await create();
    const answers = await Promise.all(Array.from({ length: 8 }, () => remove(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)]);
  });
});

describe('POST /v1/integrations/{id}/rotate-token', () => {
  it('gives a new token and webhook URL; the old URL leads nowhere at once', async () => {
    const made = await create();
    const { config } = bodyOf<IntegrationBody>(await put(made.id, { config: { kept: 'yes' } }));
    const rotated = bodyOf<IntegrationBody>(await rotate(made.id));
    expect(rotated).toEqual({
      ...made,
      config,
      token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      webhook_url: `${BASE_URL}/webhooks/pagerduty/${rotated.token}`,
    });
    expect(rotated.token).not.toBe(made.token);
    for (const body of ['{}', '{']) expectRefusal(await deliver(made, body), 404, 'not found');
    expect((await deliver(rotated)).status).toBe(202);
    expect(await listed(made.id)).toEqual(rotated);
  });

  it('leaves one working token, of many rotations at once', async () => {
    const made = await create();
    const rotations = await Promise.all(Array.from({ length: 8 }, () => rotate(made.id)));
    const tokens = rotations.map((answer) => bodyOf<IntegrationBody>(answer).token);
    expect(new Set([made.token, ...tokens]).size).toBe(9);
    const now = await listed(made.id);
    for (const token of [made.token, ...tokens]) {
      const expected = token === now?.token ? 202 : 404;
      expect((await deliver({ ...made, token })).status).toBe(expected);
    }
    expect(tokens).toContain(now?.token);
  });

  it('does not mind a body', async () => {
    const { id } = await create();
    const path = `/v1/integrations/${id}/rotate-token`;
    const answer = await server.http.post(path, tenant.readOnly, 'token=mine', {
      'Content-Type': 'text/plain',
    });
    expect(bodyOf<IntegrationBody>(answer).token).not.toBe('mine');
  });
});

describe('an id that no integration has', () => {
  it.each([UNKNOWN_ID, 'unknown', '0', '%00', `${UNKNOWN_ID}%0d%0aX-Evil:1`])('is 404: %s', async (id) => {
    await expectUnchanged(async () => {
      for (const answer of [await put(id, { config: {} }), await remove(id), await rotate(id)]) {
        expectRefusal(answer, 404, 'not found');
        expect(answer.headers).not.toHaveProperty('x-evil');
      }
    });
  });
});
