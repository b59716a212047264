/**
 * Secrets are planted wherever one can be given to a real server, its command line and its peers; then everything that
 * any of them said is searched. The places that may show one stand beside it, where it is planted.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { newApiKey, newWebhookToken } from '../../src/lib/secrets.ts';
import { StopStack } from '../../src/lib/stop-stack.ts';
import type { IntegrationBody } from '../http/bodies.ts';
import { fill, goodBody, isEndless, type PathIds, routeTable } from '../http/route-table.ts';
import { type RawPeer, startRawPeer } from '../outbound/raw-peer.ts';
import { SseClient } from '../stream/sse-client.ts';
import { type FakePagerDuty, startFakePagerDuty } from '../support/fake-pagerduty.ts';
import { type Answer, bodyOf, eventBody, type Headers, type KeyRow, type Sent } from '../support/http.ts';
import { RawConnection, rawRequest } from '../support/raw-socket.ts';
import { foreshock, removeDirectory, temporaryDirectory } from '../support/server.ts';
import { eventually, Launched } from '../support/site.ts';
import { Evidence } from './planted.ts';

const evidence = new Evidence();
const made = new StopStack();

/** Of keys that are shown once, by whoever makes them. */
const SHOWN_ONCE = ['stdout:first-start', 'stdout:keys-create'];
/** Integrations are shown whole to who holds a read-only key of their tenant: that is the interface. */
const INTEGRATIONS = ['http:/v1/integrations'];
/** The tool that the secret is for. */
const PAGERDUTY = ['outbound:pagerduty'];
/** What the log has to hold to be replayed; its files are the operator's alone (test/security/files). */
const LOG = ['file:log/', 'file:checkpoints/'];

const PLANTED = {
  pagerdutyToken: evidence.plant(
    'pagerduty_token',
    'u+planted-rest-token-7b2f',
    ...INTEGRATIONS,
    ...PAGERDUTY,
    ...LOG,
  ),
  routingKey: evidence.plant(
    'routing key',
    'f00dfeedf00dfeedf00dfeedf00dfeed',
    ...INTEGRATIONS,
    ...PAGERDUTY,
    ...LOG,
  ),
  webhookSecret: evidence.plant('webhook secret', 'planted-webhook-secret-91', ...INTEGRATIONS, ...LOG),
  ownKey: evidence.plant('unknown key of a config', 'planted-own-secret-44', ...INTEGRATIONS, ...LOG),
  rawLine: evidence.plant('raw_line', 'planted raw line password=hunter2', 'stdout:log-audit', ...LOG),
  // It is no credential, and a replay needs it.
  idempotencyKey: evidence.plant('Idempotency-Key', 'planted-idempotency-key-5', 'stdout:log-export', ...LOG),
  malformed: evidence.plant('a malformed Authorization', 'planted-malformed-credential'),
  unknownKey: evidence.plant('a key nobody has', newApiKey('fsk_ro_', systemEntropy)),
  unknownToken: evidence.plant('a webhook token nobody has', newWebhookToken(systemEntropy)),
  urlPassword: evidence.plant('the password of a URL', 'planted-url-password'),
  signature: evidence.plant('a wrong signature', 'v1=planted0000signature'),
  failing: evidence.plant('an Authorization on which the server fails', 'planted-to-fail-credential'),
};

/** Makes the server fail: in a request whose Authorization says so, and altogether on SIGUSR2. */
const SABOTAGE = `
  const exec = RegExp.prototype.exec;
  RegExp.prototype.exec = function (text) {
    if (this.source.startsWith('^bearer') && text.includes('planted-to-fail')) throw new Error('cannot read ' + text);
    return exec.call(this, text);
  };
  process.on('SIGUSR2', () => {
    throw new Error('crashed on Bearer ' + process.env.PLANTED_KEY + ' for ' + process.env.PLANTED_URL);
  });`;

let server: Launched;
let directory: string;
let pagerDuty: FakePagerDuty;
let echo: RawPeer;
let keys: { readonly ingest: string; readonly readOnly: string };
let ids: PathIds;
let bound: IntegrationBody;

beforeAll(async () => {
  directory = temporaryDirectory();
  made.push(() => removeDirectory(directory));
  pagerDuty = await startFakePagerDuty({ token: PLANTED.pagerdutyToken, routingKey: PLANTED.routingKey });
  made.push(() => pagerDuty.stop());
  // Says everything that it was sent, as an error that is worth repeating.
  echo = await startRawPeer((socket) => {
    const [head = ''] = echo.received.slice(-1);
    const body = JSON.stringify({ error: { message: `bad request: ${head}` } });
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
  made.push(() => echo.stop());
});
afterAll(() => made.run());

async function launch(...flags: readonly string[]): Promise<Launched> {
  const launched = new Launched(directory, {
    environment: {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(SABOTAGE)}`,
      PLANTED_KEY: PLANTED.unknownKey,
      PLANTED_URL: `https://operator:${PLANTED.urlPassword}@host/webhooks/pagerduty/${PLANTED.unknownToken}`,
    },
    flags: ['--outbound-allow', '127.0.0.1', '--rate-limit-failed-auth', '0', ...flags],
  });
  made.push(async () => {
    if (launched.running) await launched.signal('SIGKILL');
  });
  await launched.serving();
  return launched;
}

async function ask(sent: Sent): Promise<Answer> {
  const answer = await server.http.send(sent);
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
  evidence.said(
    `http:${sent.path.split('?')[0]} ${sent.method} ${answer.status}`,
    `${headers.join('\n')}\n${answer.text}`,
  );
  return answer;
}

async function cli(name: string, ...args: readonly string[]) {
  const ran = await foreshock(...args);
  evidence.said(`stdout:${name}`, ran.stdout);
  evidence.said(`stderr:${name}`, ran.stderr);
  return ran;
}

/** What can be sent with a request to have a secret in it, whether it belongs there or not. */
function waysToSend(ingest: string, readOnly: string): readonly Headers[] {
  return [
    {},
    { Authorization: PLANTED.malformed },
    { Authorization: `Basic ${Buffer.from(`user:${PLANTED.malformed}`).toString('base64')}` },
    { Authorization: `Bearer ${PLANTED.malformed}` },
    { Authorization: `Bearer ${PLANTED.unknownKey}` },
    { Authorization: `Bearer ${PLANTED.failing}` },
    { Authorization: `Bearer ${ingest}` },
    { Authorization: `Bearer ${readOnly}` },
  ];
}

describe('secrets', () => {
  it('are given to a server and its tools', async () => {
    server = await launch('--pagerduty-api-url', pagerDuty.url, '--pagerduty-events-url', pagerDuty.url);
    const first = server.keys;
    if (first === undefined) throw new Error('no keys were shown');
    keys = first;
    evidence.plant('the first ingest key', keys.ingest, ...SHOWN_ONCE);
    evidence.plant('the first read-only key', keys.readOnly, ...SHOWN_ONCE);
    evidence.said('stdout:first-start', server.output);

    await ask({ method: 'POST', path: '/v1/agents/register', key: keys.ingest, body: { hostname: 'db-1' } });
    const event = eventBody({ raw_line: PLANTED.rawLine });
    for (const [path, body] of [
      ['/v1/events', event],
      ['/v1/events/batch', [event, event]],
    ] as const) {
      const headers = { 'Idempotency-Key': PLANTED.idempotencyKey };
      for (let n = 0; n < 2; n += 1) await ask({ method: 'POST', path, key: keys.ingest, headers, body });
    }

    const create = (body: object) =>
      ask({ method: 'POST', path: '/v1/integrations', key: keys.readOnly, body }).then((answer) =>
        bodyOf<IntegrationBody>(answer, 201),
      );
    bound = await create({ type: 'pagerduty', direction: 'bidirectional' });
    evidence.plant('a webhook token', bound.token, ...INTEGRATIONS, ...LOG);
    const config = {
      pagerduty_token: PLANTED.pagerdutyToken,
      pagerduty_from: 'foreshock@example.com',
      pagerduty_routing_key: PLANTED.routingKey,
      own_key: PLANTED.ownKey,
    };
    const path = `/v1/integrations/${bound.id}`;
    await ask({ method: 'PUT', path, key: keys.readOnly, body: { config } });
    await ask({ method: 'POST', path: '/v1/events', key: keys.ingest, body: event });

    const signed = await create({ type: 'pagerduty', direction: 'inbound' });
    evidence.plant(
      'the token of an integration that wants signatures',
      signed.token,
      ...INTEGRATIONS,
      ...LOG,
    );
    await ask({
      method: 'PUT',
      path: `/v1/integrations/${signed.id}`,
      key: keys.readOnly,
      body: { config: { pagerduty_webhook_secret: PLANTED.webhookSecret } },
    });
    const refused = await ask({
      method: 'POST',
      path: `/webhooks/pagerduty/${signed.token}`,
      headers: { 'X-PagerDuty-Signature': PLANTED.signature },
      body: {},
    });
    expect(refused.status).toBe(401);
    const rotated = await ask({
      method: 'POST',
      path: `/v1/integrations/${signed.id}/rotate-token`,
      key: keys.readOnly,
    });
    evidence.plant('a rotated token', bodyOf<IntegrationBody>(rotated).token, ...INTEGRATIONS, ...LOG);
    await ask({ method: 'POST', path: `/webhooks/pagerduty/${signed.token}`, body: {} });
  });

  it('are sent to the tool they are for, and in an error of it they do not come back', async () => {
    const stream = await SseClient.open(server.http.port, keys.readOnly);
    const trigger = (incident: string) =>
      ask({
        method: 'POST',
        path: `/webhooks/pagerduty/${bound.token}`,
        body: {
          event: {
            id: incident,
            event_type: 'incident.triggered',
            data: { id: incident, type: 'incident', title: 'slow', service: { summary: 'checkout-api' } },
          },
        },
      });
    pagerDuty.failNext({ type: 'status', status: 401 });
    expect((await trigger('PREFUSED')).status).toBe(202);
    expect((await trigger('PNOTE')).status).toBe(202);
    await eventually('notes and change events are sent', 8000, () => pagerDuty.calls.length >= 3);
    for (const { path, headers, body } of pagerDuty.calls) {
      evidence.said(`outbound:pagerduty ${path}`, `${path}\n${JSON.stringify(headers)}\n${body}`);
    }

    const alertmanager = bodyOf<IntegrationBody>(
      await ask({
        method: 'POST',
        path: '/v1/integrations',
        key: keys.readOnly,
        body: { type: 'alertmanager', direction: 'bidirectional' },
      }),
      201,
    );
    evidence.plant('the token of Alertmanager', alertmanager.token, ...INTEGRATIONS, ...LOG);
    const config = { alertmanager_url: `${echo.url}/prefix`, own_key: PLANTED.ownKey };
    await ask({
      method: 'PUT',
      path: `/v1/integrations/${alertmanager.id}`,
      key: keys.readOnly,
      body: { config },
    });

    await server.signal('SIGTERM');
    evidence.said('server:first', server.output.replace(/.*(?:ingest key|read-only key|Bearer).*\n/g, ''));
    // The echo stands in for PagerDuty from here on, and agents go stale at once.
    server = await launch(
      '--pagerduty-api-url',
      echo.url,
      '--pagerduty-events-url',
      echo.url,
      '--agent-stale-after',
      '1s',
    );
    expect((await trigger('PECHO')).status).toBe(202);
    await ask({
      method: 'POST',
      path: '/v1/events',
      key: keys.ingest,
      body: eventBody({ raw_line: PLANTED.rawLine }),
    });
    await eventually('the echo is told of notes, change events and stale agents', 10_000, () => {
      const all = echo.received.join('');
      return (
        all.includes('/incidents/') && all.includes('/v2/change/enqueue') && all.includes('/api/v2/alerts')
      );
    });
    for (const text of echo.received) {
      const place = text.includes('/api/v2/alerts') ? 'outbound:alertmanager' : 'outbound:pagerduty';
      evidence.said(place, text);
    }
    for (const { id } of [bound, alertmanager]) {
      const path = `/v1/integrations/${id}/deliveries`;
      await eventually('an error of the echo is told', 5000, async () => {
        return (await server.http.get(path, keys.readOnly)).text.includes('bad request');
      });
      const { text } = await server.http.get(path, keys.readOnly);
      evidence.said(`deliveries:${path}`, text);
    }
    evidence.said('stream', stream.text);
    stream.close();
  });

  it('come with every request that can be made', async () => {
    const agents = JSON.parse((await ask({ method: 'GET', path: '/v1/agents', key: keys.readOnly })).text);
    const services = JSON.parse(
      (await ask({ method: 'GET', path: '/v1/services', key: keys.readOnly })).text,
    );
    const { alerts } = JSON.parse(
      (await ask({ method: 'GET', path: '/v1/alerts', key: keys.readOnly })).text,
    );
    ids = {
      agents: agents[0].id,
      services: services[0].id,
      alerts: alerts[0].id,
      // None that is there: it would be deleted.
      integrations: '0b8f4c1e-5a52-4d7b-9c36-2f3f1f0a9d11',
      webhooks: PLANTED.unknownToken,
    };
    const statuses = new Set<number>();
    for (const route of routeTable()) {
      if (isEndless(route)) continue;
      for (const headers of waysToSend(keys.ingest, keys.readOnly)) {
        for (const Accept of ['*/*', 'application/json']) {
          const query = `?access_token=${PLANTED.unknownKey}&token=${PLANTED.unknownToken}`;
          const good = goodBody(route);
          for (const body of good === undefined ? [undefined] : [good, `{"raw_line":"${PLANTED.rawLine}"`]) {
            const sent = {
              ...headers,
              Accept,
              Referer: `http://x/webhooks/pagerduty/${PLANTED.unknownToken}`,
            };
            const { status } = await ask({
              method: route.method,
              path: fill(route.path, ids) + query,
              headers: { ...sent, 'Idempotency-Key': PLANTED.idempotencyKey },
              body,
            });
            statuses.add(status);
          }
        }
      }
    }
    for (const path of [
      `/webhooks/alertmanager/${bound.token}`,
      `/webhooks/pagerduty/${bound.token}/`,
      `/webhook/pagerduty/${bound.token}`,
      `//webhooks/pagerduty/${bound.token}`,
      `/${PLANTED.unknownKey}`,
      '/',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        statuses.add((await ask({ method, path, headers: { Accept: 'application/problem+json' } })).status);
      }
    }
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 201, 400, 401, 403, 404, 405, 500]));

    const raw = await RawConnection.open(server.http.port);
    await raw.send(
      rawRequest({
        path: `/v1/agents?${PLANTED.unknownKey}`,
        key: PLANTED.unknownKey,
        lines: ['Bad Header'],
      }),
    );
    evidence.said('raw:bad-header', await raw.remainder(300));
    raw.destroy();
  });

  it('are given to every command, rightly and wrongly', async () => {
    const data = ['--data-dir', directory];
    const created = await cli(
      'keys-create',
      'keys',
      'create',
      '--tenant',
      'default',
      '--kind',
      'ingest',
      '--json',
      ...data,
    );
    const { key, id }: KeyRow = JSON.parse(created.stdout);
    evidence.plant('a key that was made', key, ...SHOWN_ONCE);
    await cli('keys-list', 'keys', 'list', ...data);
    await cli('keys-revoke', 'keys', 'revoke', id, ...data);
    await cli('keys-revoke-wrong', 'keys', 'revoke', key, ...data);
    await cli('keys-excess', 'keys', 'list', key, ...data);
    await cli('tenants-list', 'tenants', 'list', '--json', ...data);
    await cli('tenants-wrong', 'tenants', 'create', ...data, '--nmae', key);
    await cli('unknown', key);
    const url = `https://operator:${PLANTED.urlPassword}@example.com`;
    await cli('serve-base-url', 'serve', ...data, '--base-url', url);
    await cli('serve-pagerduty', 'serve', ...data, '--pagerduty-api-url', url);
    await cli('serve-allow', 'serve', ...data, '--outbound-allow', url);
    await cli('serve-taken', 'serve', ...data, '--port', '0');
    const log = join(directory, 'postgresql.log');
    writeFileSync(log, `2026-11-20 10:00:00.000 UTC [1] FATAL:  ${PLANTED.rawLine}\n`);
    const agent = ['agent', '--plugin', 'postgresql', '--file', log];
    const local = `http://127.0.0.1:${server.http.port}`;
    await cli('agent', ...agent, '--key', keys.ingest, '--server', local, '--json');
    await cli('agent-wrong-key', ...agent, '--key', PLANTED.unknownKey, '--server', local);
    await cli('agent-malformed-key', ...agent, '--key', PLANTED.malformed, '--server', local);
    await cli('agent-url', ...agent, '--key', key, '--server', url);
    await cli('agent-away', ...agent, '--key', key, '--server', echo.url);
    const elsewhere = temporaryDirectory();
    made.push(() => removeDirectory(elsewhere));
    const backup = join(elsewhere, 'backup');
    await cli('backup', 'backup', backup, ...data);
    for (const [name, ...args] of [
      ['log-stat', 'stat'],
      ['log-verify', 'verify'],
      ['log-export', 'export'],
      ['log-audit', 'audit'],
      ['log-repair', 'repair'],
    ] as const) {
      await cli(name, 'log', ...args, '--data-dir', backup);
    }
  }, 90_000);

  it('are there when the server crashes', async () => {
    await server.signal('SIGUSR2');
    expect(server.output).toContain('"level":60');
    evidence.said('server:crashed', server.output);
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      if (!/^(?:log|checkpoints)\//.test(name)) continue;
      evidence.said(`file:${name}`, readFileSync(join(directory, name), 'latin1'));
    }
  });

  it('are found nowhere but where they may be', () => {
    expect(evidence.leaks()).toEqual([]);
    // Who looks in the wrong places finds nothing either.
    const looked = [...evidence.places()].map((place) => place.split('/')[0]);
    expect(looked).toEqual(
      expect.arrayContaining([
        'http:',
        'stream',
        'server:first',
        'server:crashed',
        'outbound:pagerduty',
        'outbound:alertmanager',
        'deliveries:',
        'file:log',
        'stdout:log-export',
        'stderr:agent-wrong-key',
      ]),
    );
    for (const name of [
      'raw_line',
      'pagerduty_token',
      'routing key',
      'webhook secret',
      'a webhook token',
      'the first ingest key',
    ]) {
      expect([...evidence.seen()]).toContain(name);
    }
  });
});
