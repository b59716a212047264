import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { constantRate } from '../../bench/load/constant-rate.ts';
import { flood } from '../../bench/load/flood.ts';
import { registrationsOf, requestsOf } from '../../bench/load/traffic.ts';
import { WRK_MISSING, wrkLoad } from '../../bench/load/wrk.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers with the status that is given for the body. */
async function serve(answer: (body: string) => number): Promise<number> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => response.writeHead(answer(body), { 'content-length': 0 }).end());
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

const traffic = { keys: ['k1', 'k2'], services: 10, life: { type: 'ttl', seconds: 60 }, batch: 1 } as const;
const once = { connections: 2, depth: 4, seconds: 10, refused: 'fails' } as const;

describe('traffic', () => {
  it('names every service before any again, in events that are whole', async () => {
    const named: string[] = [];
    const port = await serve((body) => {
      const event = JSON.parse(body) as { service_name: string; ttl_seconds: number };
      named.push(event.service_name);
      return event.ttl_seconds === 60 ? 201 : 500;
    });
    await flood({ port, requests: 10, ...once }, requestsOf(traffic));
    expect(named.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `service-${n}`));
  });

  it('that is to end at a time lives until within the second before', async () => {
    const atMs = Date.now() + 30_000;
    const port = await serve((body) => {
      const { ttl_seconds } = JSON.parse(body) as { ttl_seconds: number };
      const endsMs = Date.now() + ttl_seconds * 1000;
      return endsMs > atMs - 1100 && endsMs < atMs + 100 ? 201 : 500;
    });
    await flood({ port, requests: 4, ...once }, requestsOf({ ...traffic, life: { type: 'until', atMs } }));
  });

  it('in batches is one event a line', async () => {
    const port = await serve((body) => (body.split('\n').every((line) => JSON.parse(line)) ? 200 : 400));
    const { requests } = await flood({ port, requests: 3, ...once }, requestsOf({ ...traffic, batch: 5 }));
    expect(requests).toBe(3);
  });
});

describe('a flood', () => {
  it('sends as many as it was told to', async () => {
    let taken = 0;
    const port = await serve(() => {
      taken += 1;
      return 201;
    });
    const { requests } = await flood({ port, requests: 21, ...once }, registrationsOf(Array(21).fill('k')));
    expect([requests, taken]).toEqual([21, 21]);
  });

  it('fails where one request is refused', async () => {
    let taken = 0;
    const port = await serve(() => (++taken === 7 ? 503 : 201));
    await expect(flood({ port, requests: 20, ...once }, requestsOf(traffic))).rejects.toThrow('503');
  });

  it('sends others for those that are refused for a while, where it is work that must be done', async () => {
    const atMs = Date.now() + 30_000;
    let asked = 0;
    let taken = 0;
    const port = await serve((body) => {
      asked += 1;
      if (asked >= 7 && asked <= 12) return 503;
      const { ttl_seconds } = JSON.parse(body) as { ttl_seconds: number };
      const endsMs = Date.now() + ttl_seconds * 1000;
      if (endsMs <= atMs - 1100 || endsMs >= atMs + 100) return 500;
      taken += 1;
      return 201;
    });
    const options = { port, requests: 21, ...once, refused: 'replaced' } as const;
    const { requests } = await flood(options, requestsOf({ ...traffic, life: { type: 'until', atMs } }));
    expect([requests, taken, asked]).toEqual([21, 21, 27]);
  });

  it('fails all the same where a request is found wrong', async () => {
    let taken = 0;
    const port = await serve(() => (++taken === 7 ? 400 : 201));
    const options = { port, requests: 20, ...once, refused: 'replaced' } as const;
    await expect(flood(options, requestsOf(traffic))).rejects.toThrow('400');
  });

  it('ends at its time where all is refused', async () => {
    const port = await serve(() => 503);
    const options = { port, requests: 20, ...once, seconds: 0.2, refused: 'replaced' } as const;
    const { requests } = await flood(options, requestsOf(traffic));
    expect(requests).toBe(0);
  });
});

describe('a constant rate', () => {
  it('charges a stall to every request that was due in it', async () => {
    const STALL_MS = 300;
    let taken = 0;
    const port = await serve(() => {
      taken += 1;
      // It must stand in the way of everything, as a stall does.
      if (taken === 50) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
      return 201;
    });
    const options = { port, connections: 4, perSecond: 1000, seconds: 1, overdue: 'sent' } as const;
    const latencies = await constantRate(options, requestsOf(traffic));
    expect(latencies.requests).toBe(1000);
    expect(latencies.maxMs).toBeGreaterThan(STALL_MS * 0.9);
    // A third of all were due meanwhile, half of them in its first half: a client that waits would see one.
    const [, , , , p75 = 0] = latencies.percentilesMs;
    expect(p75).toBeGreaterThan(10);
    expect(latencies.percentilesMs[5]).toBeGreaterThan(STALL_MS / 3);
  });

  it('fails where one request is refused', async () => {
    let taken = 0;
    const port = await serve(() => (++taken === 7 ? 503 : 201));
    const options = { port, connections: 2, perSecond: 1000, seconds: 0.1, overdue: 'sent' } as const;
    await expect(constantRate(options, requestsOf(traffic))).rejects.toThrow('503');
  });
});

describe.skipIf(WRK_MISSING !== undefined)('wrk', () => {
  const load = {
    method: 'POST',
    paths: ['/a', '/b'],
    headers: {},
    body: 'x',
    connections: 2,
    seconds: 1,
  } as const;

  it('counts what was answered', async () => {
    let taken = 0;
    const port = await serve((body) => {
      taken += 1;
      return body === 'x' ? 201 : 400;
    });
    const { requests } = await wrkLoad({ ...load, port });
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThanOrEqual(taken);
  });

  it('fails where one request is refused', async () => {
    let taken = 0;
    const port = await serve(() => (++taken === 7 ? 503 : 201));
    await expect(wrkLoad({ ...load, port })).rejects.toThrow('errors');
  });
});
