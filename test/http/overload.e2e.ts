/** A real server that is asked for more than it can do: some are told to come back, and the others are served. */
import { afterEach, describe, expect, it } from 'vitest';
import { bodyOf, eventBody, type Tenant, TestServer } from '../support/http.ts';
import { scrape } from '../support/metrics.ts';
import { type RawAnswer, RawConnection, rawRequest } from '../support/raw-socket.ts';
import { register } from './operations.ts';

let server: TestServer;
let tenant: Tenant;
afterEach(() => server.stop());

const CONNECTIONS = 40;
const PIPELINED = 100;

/** Thousands of pages of an event log, all asked for at once; what was answered. */
async function askForTooMuch(): Promise<readonly RawAnswer[]> {
  const agent = await register(server, tenant.ingest);
  const events = Array.from({ length: 500 }, () => eventBody());
  bodyOf(await server.http.post('/v1/events/batch', tenant.ingest, events));
  const page = rawRequest({ path: `/v1/agents/${agent.id}?per_page=100`, key: tenant.readOnly });
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => RawConnection.open(server.process.port)),
  );
  await Promise.all(connections.map((connection) => connection.send(page.repeat(PIPELINED))));
  const answers = await Promise.all(
    connections.map(async (connection) => {
      const its: RawAnswer[] = [];
      // Bodies are not kept: they are hundreds of megabytes.
      for (let n = 0; n < PIPELINED; n += 1) its.push(short(await connection.answer()));
      connection.destroy();
      return its;
    }),
  );
  return answers.flat();
}

const short = (answer: RawAnswer): RawAnswer => ({ ...answer, body: answer.body.slice(0, 100) });

describe('a server with more to do than it can', () => {
  it('refuses some with 503 and when to come again, goes on with the others, and says so', async () => {
    server = await TestServer.start('--shed-after-ms', '20');
    tenant = server.tenant;
    const asked = askForTooMuch();
    const answers = await asked;
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(answers.length);
    for (const answer of refused) {
      expect(answer).toMatchObject({
        status: 503,
        body: 'the server has more to do than it can; try again',
      });
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    const scraped = await scrape(server.http);
    expect(scraped.value('foreshock_http_requests_shed_total{class="read"}')).toBe(refused.length);
    expect(scraped.value('foreshock_rejections_total{reason="overloaded"}')).toBe(refused.length);
    expect(scraped.value('foreshock_http_requests_shed_total{class="write"}')).toBe(0);
  });

  it('refuses nothing where it is told not to', async () => {
    server = await TestServer.start('--shed-after-ms', '0');
    tenant = server.tenant;
    expect((await askForTooMuch()).filter(({ status }) => status !== 200)).toEqual([]);
    const scraped = await scrape(server.http);
    expect(scraped.value('foreshock_overload_pressure')).toBe(0);
  });
});
