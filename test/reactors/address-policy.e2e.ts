/** Where a tenant's URL may not lead, from the config of an integration to the socket that is never opened. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IntegrationBody } from '../http/bodies.ts';

import { bodyOf, HttpClient } from '../support/http.ts';
import { removeDirectory, type ServerProcess, startServer, temporaryDirectory } from '../support/server.ts';
import { eventually } from '../support/site.ts';

/** A port that counts who connects, and answers as Alertmanager does. */
interface Counter {
  readonly port: number;
  connections(): number;
  readonly server: Server;
}

async function startCounter(): Promise<Counter> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on('error', () => {});
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, connections: () => count, server };
}

interface DeliveryBody {
  readonly kind: string;
  readonly state: string;
  readonly detail: string | null;
  readonly attempts: number;
}

let closed: Counter;
let opened: Counter;
let server: ServerProcess;
let http: HttpClient;
const directory = temporaryDirectory();

beforeAll(async () => {
  closed = await startCounter();
  opened = await startCounter();
  const flags = ['--agent-stale-after', '1s', '--outbound-allow', `127.0.0.1:${opened.port}`];
  server = await startServer(directory, flags);
  http = new HttpClient(server.port);
});
afterAll(async () => {
  http.close();
  await server.stop();
  removeDirectory(directory);
  closed.server.close();
  opened.server.close();
});

async function integrate(url: string): Promise<IntegrationBody> {
  const wanted = { type: 'alertmanager', direction: 'outbound' };
  const made: IntegrationBody = bodyOf(await http.post('/v1/integrations', server.readOnlyKey, wanted), 201);
  const config = { alertmanager_url: url };
  const answer = await http.put(`/v1/integrations/${made.id}`, server.readOnlyKey, { config });
  expect([url, answer.status]).toEqual([url, 200]);
  return made;
}

async function deliveriesOf({ id }: IntegrationBody): Promise<readonly DeliveryBody[]> {
  return bodyOf(await http.get(`/v1/integrations/${id}/deliveries`, server.readOnlyKey));
}

describe('an alarm', () => {
  it('goes to no address that is not public and that the operator has not opened, to that port alone', async () => {
    const refused = [
      [`http://127.0.0.1:${closed.port}`, /^127\.0\.0\.1 is not public \(loopback\) and --outbound-allow/],
      [`http://localhost:${closed.port}`, /^localhost is not public \(loopback\)/],
      [`http://2130706433:${closed.port}`, /^127\.0\.0\.1 is not public/],
      [`http://0x7f.1:${closed.port}/alerts`, /^127\.0\.0\.1 is not public/],
      [`http://[::ffff:127.0.0.1]:${closed.port}`, /is not public/],
      [`http://0.0.0.0:${closed.port}`, /is not public/],
      ['http://169.254.169.254', /^169\.254\.169\.254 is not public \(linkLocal\)/],
      ['http://10.1.2.3:9093', /^10\.1\.2\.3 is not public \(private\)/],
      ['http://[fd00::1]:9093', /is not public/],
      ['http://8.8.8.8:25', /^port 25 is not a port of web servers/],
    ] as const;
    const integrations: IntegrationBody[] = [];
    for (const [url] of refused) integrations.push(await integrate(url));
    const allowed = await integrate(`http://127.0.0.1:${opened.port}`);
    const { status } = await http.post('/v1/agents/register', server.ingestKey, { hostname: 'db-1' });
    expect(status).toBe(201);
    await eventually('the alarm is out', 10_000, async () => {
      return (await deliveriesOf(allowed))[0]?.state === 'delivered';
    });
    for (const [index, [url, detail]] of refused.entries()) {
      const integration = integrations[index];
      if (integration === undefined) throw new Error(`no integration for ${url}`);
      await eventually(`${url} is given up`, 5000, async () => {
        return (await deliveriesOf(integration))[0]?.state === 'dead-lettered';
      });
      const [delivery] = await deliveriesOf(integration);
      expect(delivery).toMatchObject({
        kind: 'agent-stale',
        attempts: 1,
        detail: expect.stringMatching(detail),
      });
    }
    expect(opened.connections()).toBe(1);
    expect(closed.connections()).toBe(0);
  });
});
