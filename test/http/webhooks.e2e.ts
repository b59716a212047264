/** POST /webhooks/{type}/{token}: what alerting tools send, and what others might. */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, bodyOf, expectRefusal, type Headers, sameness, TestServer } from '../support/http.ts';
import type { IntegrationBody } from './bodies.ts';
import { createIntegration, integrations, webhookPath } from './operations.ts';

const MIB = 1024 * 1024;
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures', name));

let server: TestServer;
let pagerduty: IntegrationBody;
let alertmanager: IntegrationBody;
let outbound: IntegrationBody;

beforeAll(async () => {
  server = await TestServer.start();
  const create = (type: string, direction: string) =>
    createIntegration(server, server.tenant.readOnly, { type, direction });
  pagerduty = await create('pagerduty', 'inbound');
  alertmanager = await create('alertmanager', 'bidirectional');
  outbound = await create('pagerduty', 'outbound');
});
afterAll(() => server.stop());

function deliver(
  to: IntegrationBody,
  body: string | Buffer | object,
  headers: Headers = {},
): Promise<Answer> {
  return server.http.post(webhookPath(to), undefined, body, headers);
}

const accepted = (answer: Answer) => bodyOf<{ readonly accepted: number }>(answer, 202).accepted;

describe('a delivery', () => {
  it.each([
    ['an incident of PagerDuty', 'pagerduty-v3-incident-triggered.json', () => pagerduty, 1],
    ['a firing group of Alertmanager', 'alertmanager-v4-firing.json', () => alertmanager, 2],
  ])('of %s is answered 202 with the number of its alerts', async (_, file, to, alerts) => {
    expect(await deliver(to(), fixture(file))).toEqual({
      status: 202,
      headers: {
        'content-type': 'application/json',
        'content-length': '14',
        'cache-control': expect.any(String),
        'x-request-id': expect.any(String),
      },
      text: `{"accepted":${alerts}}`,
    });
  });

  it('of a note on an incident, our own perhaps, is answered 202 and is no alert', async () => {
    expect(accepted(await deliver(pagerduty, fixture('pagerduty-v3-incident-annotated.json')))).toBe(0);
  });

  it('counts the alerts that can be told apart, and not what is broken beside them', async () => {
    const group = JSON.parse(fixture('alertmanager-v4-firing.json').toString());
    const alerts = [null, {}, ...group.alerts, { status: 'firing' }];
    expect(accepted(await deliver(alertmanager, { ...group, alerts }))).toBe(2);
  });

  it("of Grafana's, like Alertmanager's and more, is answered 202 with the number of its alerts", async () => {
    const group = JSON.parse(fixture('alertmanager-v4-firing.json').toString());
    const alerts = [{ ...group.alerts[0], valueString: '[ x=1 ]', silenceURL: 'http://x', values: { B: 1 } }];
    expect(accepted(await deliver(alertmanager, { ...group, version: '1', orgId: 1, alerts }))).toBe(1);
  });

  it('needs no key, and gains nothing by one', async () => {
    const headers = { Authorization: 'Bearer nonsense' };
    expect(accepted(await deliver(pagerduty, '{}', headers))).toBe(0);
  });

  it('is the same when it comes twice', async () => {
    const body = fixture('pagerduty-v3-incident-triggered.json');
    const headers = { 'X-Webhook-Id': '9f1e3c1a-7d4e-4d0b-8f66-0c0d2c3d4e5f' };
    const [first, second] = [
      await deliver(pagerduty, body, headers),
      await deliver(pagerduty, body, headers),
    ];
    expect(sameness(second)).toEqual(sameness(first));
  });

  it('leaves the integration as it was', async () => {
    const before = await integrations(server, server.tenant.readOnly);
    await deliver(pagerduty, fixture('pagerduty-v3-incident-triggered.json'));
    expect(await integrations(server, server.tenant.readOnly)).toEqual(before);
  });

  it.each<[string, string]>([
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a number', '5'],
    ['text', '"alert"'],
    ['a list', '[{}]'],
    ['an event that is null', '{"event":null}'],
    ['an event of no type', '{"event":{"event_type":null}}'],
    ['an event of another kind', '{"event":{"event_type":"pagey.ping"}}'],
    ['alerts that are no list', '{"alerts":{"length":9}}'],
    ['alerts that are no alerts', '{"alerts":[null,5,"x",[]]}'],
    ['a key given twice', '{"a":1,"a":2}'],
    ['a key spelled twice', '{"a":1,"\\u0061":2}'],
    ['half a surrogate pair', '{"a":"\\ud800"}'],
    ['a number too large', '{"a":1e999}'],
    ['a prototype', '{"__proto__":{"event":{"event_type":"incident.triggered"}}}'],
    ['deep nesting', `${'['.repeat(5000)}${']'.repeat(5000)}`],
    ['very deep nesting', `${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`],
    ['NUL', '{"a":"\\u0000"}'],
    ['blanks around it', ' \r\n\t{} \n'],
  ])('of well-formed JSON that says nothing is answered 202 all the same: %s', async (_, body) => {
    for (const to of [pagerduty, alertmanager]) expect(accepted(await deliver(to, body))).toBe(0);
  });

  it('may be up to 1 MiB, and is 413 past that', async () => {
    const blanks = (bytes: number) => Buffer.alloc(bytes, ' ').fill('{}', 0, 2);
    expect(accepted(await deliver(alertmanager, blanks(MIB)))).toBe(0);
    expectRefusal(await deliver(alertmanager, blanks(MIB + 1)), 413, /larger/);
  });

  it('may say nothing of its media type, or any that is JSON', async () => {
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/x+json',
    ];
    for (const type of types) {
      expect(accepted(await deliver(pagerduty, '{}', { 'Content-Type': type }))).toBe(0);
    }
    const path = webhookPath(pagerduty);
    const unsaid = { 'Content-Length': '2', 'Content-Type': '' };
    expect((await server.http.post(path, undefined, '{}', unsaid)).status).toBe(202);
    expectRefusal(await deliver(pagerduty, 'a=b', { 'Content-Type': 'text/plain' }), 415, /JSON/);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['half an object', '{"event":'],
    ['a form', 'payload=%7B%7D'],
    ['two objects', '{}{}'],
    ['NaN', '{"a":NaN}'],
    ['a comment', '{} // done'],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('that is no JSON is 400: %s', async (_, body) => {
    for (const to of [pagerduty, alertmanager]) expectRefusal(await deliver(to, body), 400, /JSON|UTF-8/);
  });

  it('to an integration that is outbound only is 403, whatever it holds', async () => {
    for (const body of ['{}', '{']) expectRefusal(await deliver(outbound, body), 403, /outbound/);
  });
});

describe('a webhook URL that leads nowhere', () => {
  it('is answered like any path that does not exist', async () => {
    const { token } = pagerduty;
    const paths = [
      `/webhooks/alertmanager/${token}`,
      `/webhooks/alertmanager/${outbound.token}`,
      `/webhooks/PagerDuty/${token}`,
      `/webhooks/opsgenie/${token}`,
      `/webhooks/__proto__/${token}`,
      `/webhooks/pagerduty/${token.toLowerCase()}`,
      `/webhooks/pagerduty/${token.slice(0, -1)}`,
      `/webhooks/pagerduty/${token}0`,
      `/webhooks/pagerduty/${token}%00`,
      `/webhooks/pagerduty/%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
      '/webhooks/pagerduty/__proto__',
      `/webhooks/pagerduty/${pagerduty.id}`,
      `/webhooks/pagerduty/${token}/`,
      `/webhooks/pagerduty/${token}/more`,
      '/webhooks/pagerduty/',
      '/webhooks/pagerduty',
      '/webhooks',
      `//webhooks/pagerduty/${token}`,
    ];
    for (const headers of [{}, { Accept: 'application/json' }, { 'Content-Type': 'text/plain' }]) {
      for (const body of ['{}', '{', 'x'.repeat(100_000)]) {
        const unmatched = await server.http.post('/no/such/path', undefined, body, headers);
        expect(unmatched.status).toBe(404);
        for (const path of paths) {
          const answer = await server.http.post(path, undefined, body, headers);
          expect([path, sameness(answer)]).toEqual([path, sameness(unmatched)]);
        }
      }
    }
  });
});

describe('a delivery to an integration with a webhook secret', () => {
  const SECRET = 'pd-webhook-secret-example';
  // It names no incident: what counts here is whether it is let in.
  const BODY = '{"event":{"id":"5ac64822-4adc-4fda-ade0-410becf0de4f","event_type":"incident.triggered"}}';
  const SIGNATURE = 'v1=adffd7425933cd792e41f31d70189af77a88144a3ebcf5a68f2b8c26d25a750f';
  const OTHER = `v1=${'0'.repeat(64)}`;
  let signed: IntegrationBody;

  const configure = (config: object) =>
    server.http.put(`/v1/integrations/${signed.id}`, server.tenant.readOnly, { config });
  const sign = (body: string) => `v1=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

  beforeAll(async () => {
    signed = await createIntegration(server, server.tenant.readOnly);
    expect((await configure({ pagerduty_webhook_secret: SECRET })).status).toBe(200);
  });

  it.each([
    ['its signature', SIGNATURE],
    ['its signature among others', `${OTHER},${SIGNATURE}`],
    ['its signature among others, spaced', `${OTHER} , ${SIGNATURE} , v2=abc`],
  ])('is taken with %s', async (_, signature) => {
    expect(accepted(await deliver(signed, BODY, { 'X-PagerDuty-Signature': signature }))).toBe(0);
  });

  it.each([
    ['none', ''],
    ['that of another body', OTHER],
    ['another version', SIGNATURE.replace('v1=', 'v0=')],
    ['the digest alone', SIGNATURE.slice(3)],
    ['a part of the digest', SIGNATURE.slice(0, -2)],
    ['more than the digest', `${SIGNATURE}00`],
    ['nothing but the version', 'v1='],
    ['a letter that is not ASCII', SIGNATURE.replace('a', 'ä')],
  ])('is 401 with a signature that is %s', async (_, signature) => {
    const headers: Headers = signature === '' ? {} : { 'X-PagerDuty-Signature': signature };
    expectRefusal(await deliver(signed, BODY, headers), 401, /signature/);
  });

  it('is 401 where one byte of the body is another, though the JSON is the same', async () => {
    for (const body of [`${BODY} `, BODY.replace('triggered', 'Triggered'), '{}', '']) {
      expectRefusal(await deliver(signed, body, { 'X-PagerDuty-Signature': SIGNATURE }), 401, /signature/);
    }
  });

  it('is signed over its bytes, before they are read as JSON', async () => {
    const spaced = ` {"event" : {"event_type":"incident.triggered", "data":{"id":"\\u00e9"}}}\r\n`;
    expect(accepted(await deliver(signed, spaced, { 'X-PagerDuty-Signature': sign(spaced) }))).toBe(1);
    expectRefusal(await deliver(signed, '{', { 'X-PagerDuty-Signature': sign('{') }), 400, /JSON/);
  });

  it('cannot be given a secret that is none', async () => {
    for (const pagerduty_webhook_secret of ['', null, 5, {}]) {
      expectRefusal(await configure({ pagerduty_webhook_secret }), 400, /config.pagerduty_webhook_secret/);
      expectRefusal(await deliver(signed, BODY), 401, /signature/);
    }
  });

  it('needs no signature once the secret is gone', async () => {
    await configure({});
    expect(accepted(await deliver(signed, BODY))).toBe(0);
  });
});
