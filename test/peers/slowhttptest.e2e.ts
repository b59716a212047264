/** Foreshock under slowhttptest (Debian's package), seconds of each of its attacks, on loopback. */
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIntegration, register, webhookPath } from '../http/operations.ts';
import { bodyOf, eventBody, TestServer } from '../support/http.ts';
import { run } from '../support/machine.ts';
import { scrape } from '../support/metrics.ts';
import { eventually } from '../support/site.ts';

const SECONDS = 6;
const CONNECTIONS = 500;

function isInstalled(): boolean {
  try {
    run('which', 'slowhttptest');
    return true;
  } catch {
    process.stderr.write('skipped: no slowhttptest (Debian package slowhttptest)\n');
    return false;
  }
}

/** What it sends: heads that do not end, bodies that do not, and pipelined requests whose answers it does not read. */
const ATTACKS: readonly (readonly [string, readonly string[], (webhook: string) => string])[] = [
  ['slow headers', ['-H', '-i', '1'], () => '/healthz'],
  ['slow bodies', ['-B', '-i', '1', '-s', '8192'], (webhook) => webhook],
  ['slow reading', ['-X', '-w', '1', '-y', '10', '-n', '1', '-z', '5', '-k', '5'], () => '/openapi.json'],
];

describe.skipIf(!isInstalled())('under slowhttptest', () => {
  let server: TestServer;
  let webhook: string;
  beforeAll(async () => {
    server = await TestServer.start();
    await register(server, server.tenant.ingest);
    webhook = webhookPath(await createIntegration(server, server.tenant.readOnly));
  });
  afterAll(() => server.stop());

  it.each(ATTACKS)(
    'whoever comes beside %s is answered, and what they hold is given back',
    async (_, flags, path) => {
      const url = `http://127.0.0.1:${server.process.port}${path(webhook)}`;
      const load = ['-c', String(CONNECTIONS), '-r', '200', '-l', String(SECONDS), '-p', '2', '-u', url];
      let ended = false;
      const attack = new Promise<string>((resolve) => {
        execFile('slowhttptest', [...flags, ...load], (_error, stdout) => {
          ended = true;
          resolve(stdout);
        });
      });
      let most = 0;
      let slowestMs = 0;
      while (!ended) {
        const begunAt = performance.now();
        expect((await server.http.post('/v1/events', server.tenant.ingest, eventBody())).status).toBe(201);
        bodyOf(await server.http.get('/v1/services', server.tenant.readOnly));
        slowestMs = Math.max(slowestMs, performance.now() - begunAt);
        most = Math.max(most, (await scrape(server.http)).value('foreshock_http_connections'));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // Else it has attacked nothing.
      expect(most).toBeGreaterThan(100);
      expect(slowestMs).toBeLessThan(2000);
      expect((await attack).toLowerCase()).not.toMatch(/service available:\S*\s*no/);
      await eventually('all is given back', 20_000, async () => {
        return (await scrape(server.http)).value('foreshock_http_connections') < 10;
      });
    },
    60_000,
  );
});
