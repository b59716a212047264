/** A webhook's URL is a secret by itself: its answers are kept nowhere, lead nowhere, and tell nothing of who has one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemEntropy } from '../../src/lib/entropy.ts';
import { newWebhookToken } from '../../src/lib/secrets.ts';
import type { IntegrationBody } from '../http/bodies.ts';
import { createIntegration, webhookPath } from '../http/operations.ts';
import { TestServer } from '../support/http.ts';
import { type RawAnswer, rawRequest, withConnection } from '../support/raw-socket.ts';

let server: TestServer;
let integration: IntegrationBody;

beforeAll(async () => {
  server = await TestServer.start();
  integration = await createIntegration(server, server.tenant.readOnly);
});
afterAll(() => server.stop());

function ask(method: string, path: string, ...lines: readonly string[]): Promise<RawAnswer> {
  return withConnection(server.process.port, async (connection) => {
    await connection.send(rawRequest({ method, path, lines, ...(method === 'POST' ? { body: '{}' } : {}) }));
    return connection.answer({ head: method === 'HEAD' });
  });
}

/** All of an answer, its headers in their order, but for the request's id and the date. */
function identity({ status, headers, body }: RawAnswer): string {
  const lines = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
  return JSON.stringify([status, lines, body.replace(/"instance":"[^"]*"/, '')]);
}

describe('a webhook URL', () => {
  it.each(['POST', 'HEAD'])(
    'with a token that nobody has is, byte for byte, a path that nobody has: %s',
    async (method) => {
      for (const accept of ['Accept: */*', 'Accept: application/json']) {
        const unknown = identity(await ask('POST', '/no/such/path', accept));
        const paths = [
          `/webhooks/pagerduty/${newWebhookToken(systemEntropy)}`,
          `/webhooks/pagerduty/x`,
          `/webhooks/alertmanager/${integration.token}`,
          `/webhooks/opsgenie/${integration.token}`,
          `/webhooks/pagerduty/${integration.token.slice(0, -1)}`,
          `/webhooks/pagerduty/${integration.token}x`,
          `/webhooks/pagerduty/${integration.token.toLowerCase()}`,
        ];
        if (method === 'POST') {
          for (const path of paths)
            expect([path, identity(await ask(method, path, accept))]).toEqual([path, unknown]);
        } else {
          // Any other method says the same of a token that is good and of one that is not.
          const [first, ...others] = await Promise.all(
            [...paths, webhookPath(integration)].map((path) => ask(method, path, accept)),
          );
          for (const other of others) expect(identity(other)).toBe(identity(first as RawAnswer));
        }
      }
    },
  );

  it('is answered in a way that no cache keeps and no page hands on', async () => {
    const good = await ask('POST', webhookPath(integration));
    expect(good.status).toBe(202);
    expect(good.headers.get('cache-control')).toBe('no-store');
    const bad = await ask('POST', '/webhooks/pagerduty/x');
    expect(bad.status).toBe(404);
    expect(bad.headers.get('cache-control')).toBe('no-store');
    expect(bad.headers.get('referrer-policy')).toBe('no-referrer');
    // No answer to one is a page, so that nothing in it can be followed.
    for (const { headers } of [good, bad]) expect(headers.get('content-type')).not.toContain('html');
  });
});

it('what an error quotes is no page either', async () => {
  const answer = await server.http.put(`/v1/integrations/${integration.id}`, server.tenant.readOnly, {
    config: {},
    '<script>alert(1)</script>': 1,
  });
  expect(answer.text).toContain('<script>');
  expect(answer.headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
});
