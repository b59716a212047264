/** Over a network that cuts, delays and refuses at random, every event is recorded exactly once and in order. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BatcherOptions,
  type EventBody,
  ForeshockClient,
  ForeshockError,
} from '../../src/client/index.ts';
import { TestServer } from '../support/http.ts';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { type Fault, Network } from './network.ts';

const RETRY = { baseMs: 1, maxMs: 4 };

const eventOf = (service_name: string, entity: string, ttl_seconds = 3600): EventBody => ({
  service_name,
  vendor: 'v',
  entity,
  event_type: 'deploy',
  confidence: 1,
  ttl_seconds,
});

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: 'none' } as const) },
  fc.constant({ type: 'cut-before' } as const),
  { weight: 2, arbitrary: fc.constant({ type: 'cut-after' } as const) },
  fc.constantFrom(429, 500, 502, 503, 504).map((status) => ({ type: 'answer', status }) as const),
  fc.nat(5).map((milliseconds) => ({ type: 'delay', milliseconds }) as const),
);

const scenario = fc.record({
  faults: fc.array(fault, { maxLength: 30 }),
  /** False for an event that the server does not take. */
  events: fc.array(fc.boolean(), { maxLength: 40 }),
  maxEvents: fc.integer({ min: 1, max: 12 }),
  maxBytes: fc.integer({ min: 1, max: 2000 }),
  maxBuffered: fc.integer({ min: 1, max: 20 }),
  maxDelayMs: fc.nat(3),
  /** More than this is too much for the network, which answers 413. */
  limitBytes: fc.integer({ min: 200, max: 3000 }),
  flushAt: fc.nat(40),
});

describe('the batcher', () => {
  let server: TestServer;
  let network: Network;
  let sender: ForeshockClient;
  let reader: ForeshockClient;
  let agentId = '';
  let runs = 0;

  beforeAll(async () => {
    server = await TestServer.start();
    network = await Network.start(server.process.port);
    sender = new ForeshockClient({ baseUrl: network.url, apiKey: server.tenant.ingest, retry: RETRY });
    reader = new ForeshockClient({ baseUrl: server.process.url, apiKey: server.tenant.readOnly });
    agentId = (await sender.registerAgent({ hostname: 'db-1' })).id;
  });
  afterAll(async () => {
    network.close();
    await server.stop();
  });

  /** Oldest first. */
  async function recorded(service: string): Promise<readonly string[]> {
    const entities: string[] = [];
    for await (const { entity } of reader.agentEvents(agentId, { service })) entities.push(entity);
    return entities.reverse();
  }

  it('has every event recorded exactly once and in order, and tells what became of each', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ faults, events, limitBytes, flushAt, ...options }) => {
        const service = `service-${++runs}`;
        const left = [...faults];
        network.fault = (body) =>
          body.length > limitBytes ? { type: 'answer', status: 413 } : (left.shift() ?? { type: 'none' });
        const accepted: string[] = [];
        const rejected: string[] = [];
        const batcher = sender.batcher({
          ...options,
          onAccepted: (some) => accepted.push(...some.map(({ entity }) => entity)),
          onRejected: ({ entity }, detail) => rejected.push(`${entity}: ${detail}`),
        });
        for (const [index, isGood] of events.entries()) {
          await batcher.add(eventOf(service, `e${index}`, isGood ? 60 : 0));
          if (index === flushAt) await batcher.flush();
        }
        await batcher.close();
        const names = (wanted: boolean) =>
          events.flatMap((isGood, index) => (isGood === wanted ? [`e${index}`] : []));
        expect(await recorded(service)).toEqual(names(true));
        expect(accepted).toEqual(names(true));
        expect(rejected).toEqual(names(false).map((name) => `${name}: ttl_seconds must be positive`));
        expect(batcher.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('is not needed for that: events sent one by one are recorded once too', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 20 }), fc.nat(10), async (faults, count) => {
        const service = `single-${++runs}`;
        const left = [...faults];
        network.fault = () => left.shift() ?? { type: 'none' };
        const retry = { attempts: 100 };
        const names = Array.from({ length: count }, (_, index) => `e${index}`);
        for (const name of names) await recordUntilItIs(eventOf(service, name), retry);
        expect(await recorded(service)).toEqual(names);
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  /** 500 is not tried again by itself: whoever does so gives the key. */
  async function recordUntilItIs(event: EventBody, retry: { readonly attempts: number }): Promise<void> {
    const idempotencyKey = `${event.service_name}-${event.entity}`;
    for (;;) {
      try {
        return await sender.recordEvent(event, { idempotencyKey, retry });
      } catch (error) {
        if (!(error instanceof ForeshockError && error.status === 500)) throw error;
      }
    }
  }

  it('loses nothing and doubles nothing where the server is killed again and again', async () => {
    network.fault = () => ({ type: 'none' });
    const directory = temporaryDirectory();
    let process = await startServer(directory);
    const { ingestKey, readOnlyKey } = process;
    network.target = process.port;
    try {
      const agent = new ForeshockClient({ baseUrl: network.url, apiKey: ingestKey, retry: RETRY });
      const { id } = await agent.registerAgent({ hostname: 'db-1' });
      let retries = 0;
      const onRetry = () => {
        retries += 1;
      };
      const batcher = agent.batcher({ maxEvents: 7, maxDelayMs: 0, maxBuffered: 30, onRetry });
      const total = 3000;
      const adding = (async () => {
        for (let index = 0; index < total; index++) await batcher.add(eventOf('killed', `e${index}`));
        await batcher.close();
      })();
      for (let kill = 0; kill < 3; kill++) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        await process.kill();
        process = await startServer(directory);
        network.target = process.port;
      }
      await adding;
      const seen = new ForeshockClient({ baseUrl: process.url, apiKey: readOnlyKey });
      const entities: string[] = [];
      for await (const { entity } of seen.agentEvents(id)) entities.push(entity);
      expect(retries).toBeGreaterThanOrEqual(3);
      expect(entities.reverse()).toEqual(Array.from({ length: total }, (_, index) => `e${index}`));
    } finally {
      network.target = server.process.port;
      await process.stop();
      removeDirectory(directory);
    }
  }, 60_000);

  describe('when its buffer is full and the server is away', () => {
    async function filled(options: BatcherOptions) {
      network.fault = () => ({ type: 'cut-before' });
      const dropped: string[] = [];
      const accepted: string[] = [];
      const batcher = sender.batcher({
        maxEvents: 1,
        maxDelayMs: 0,
        maxBuffered: 3,
        onDropped: ({ entity }) => dropped.push(entity),
        onAccepted: (events) => accepted.push(...events.map(({ entity }) => entity)),
        ...options,
      });
      await batcher.add(eventOf('full', 'e0'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const adding = [1, 2, 3, 4, 5, 6, 7].map((index) => batcher.add(eventOf('full', `e${index}`)));
      const finish = async () => {
        network.fault = () => ({ type: 'none' });
        await Promise.all(adding);
        await batcher.close();
        return { accepted, dropped };
      };
      return { batcher, finish, dropped };
    }

    it('keeps the newest with drop-oldest, beside what is on its way', async () => {
      const { finish } = await filled({ onFull: 'drop-oldest' });
      expect(await finish()).toEqual({
        accepted: ['e0', 'e5', 'e6', 'e7'],
        dropped: ['e1', 'e2', 'e3', 'e4'],
      });
    });

    it('keeps the oldest with drop-newest', async () => {
      const { finish } = await filled({ onFull: 'drop-newest' });
      expect(await finish()).toEqual({
        accepted: ['e0', 'e1', 'e2', 'e3'],
        dropped: ['e4', 'e5', 'e6', 'e7'],
      });
    });

    it('drops nothing with wait, until that is decided anew', async () => {
      const { batcher, dropped, finish } = await filled({ onFull: 'wait' });
      expect([dropped, batcher.pending]).toEqual([[], 8]);
      batcher.onFull = 'drop-oldest';
      expect([dropped, batcher.pending]).toEqual([['e1', 'e2', 'e3', 'e4'], 4]);
      expect((await finish()).accepted).toEqual(['e0', 'e5', 'e6', 'e7']);
    });
  });

  it('sends what is not a full batch when its oldest event has waited long enough', async () => {
    network.fault = () => ({ type: 'none' });
    const sizes: number[] = [];
    const batcher = sender.batcher({
      maxEvents: 5,
      maxDelayMs: 100,
      onAccepted: (events) => sizes.push(events.length),
    });
    for (let index = 0; index < 7; index++) await batcher.add(eventOf('sizes', `e${index}`));
    await expect.poll(() => sizes, { timeout: 5000 }).toEqual([5, 2]);
    await batcher.close();
    await expect(batcher.add(eventOf('sizes', 'late'))).rejects.toThrow('closed');
  });

  it('waits for no more events where it has no room for them', async () => {
    const batcher = sender.batcher({ maxBuffered: 3, maxDelayMs: 60_000 });
    for (let index = 0; index < 9; index++) await batcher.add(eventOf('no-room', `e${index}`));
    await expect.poll(() => recorded('no-room')).toHaveLength(9);
    await batcher.close();
  });

  it('takes an event as it is when it is added, and sends it at once when that is asked for', async () => {
    const event = { ...eventOf('snapshot', 'before') };
    const batcher = sender.batcher({ maxDelayMs: 60_000 });
    await batcher.add(event);
    Object.assign(event, { entity: 'after' });
    await batcher.flush();
    expect(await recorded('snapshot')).toEqual(['before']);
    // As `await using` does, which Node 22 cannot read by itself.
    await batcher[Symbol.asyncDispose]();
  });

  it('rejects what none of its batches would make better, with the reason', async () => {
    network.fault = (body) => ({ type: body.includes('huge') ? 'answer' : 'none', status: 413 }) as Fault;
    const rejected: string[] = [];
    const batcher = sender.batcher({
      onRejected: ({ entity }, detail) => rejected.push(`${entity}: ${detail}`),
    });
    for (const entity of ['a', 'huge', 'b']) await batcher.add(eventOf('huge-one'.slice(5), entity));
    await batcher.close();
    expect(rejected).toEqual(['huge: too much for this network']);
    expect(await recorded('one')).toEqual(['a', 'b']);
  });

  it('fails where the sender is refused, and tells everybody who waits', async () => {
    const [key] = await server.newKeys('default', 'ingest');
    const stranger = new ForeshockClient({
      baseUrl: server.process.url,
      apiKey: key?.key ?? '',
      retry: RETRY,
    });
    const refused = stranger.batcher({ maxBuffered: 1, maxEvents: 1, maxDelayMs: 0 });
    const adding = [0, 1, 2, 3].map((index) => refused.add(eventOf('refused', `e${index}`)));
    const outcomes = (await Promise.allSettled(adding)).map(({ status }) => status);
    expect(outcomes).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    await expect(refused.flush()).rejects.toMatchObject({ status: 403, detail: 'agent not registered' });
    await expect(refused.add(eventOf('refused', 'late'))).rejects.toMatchObject({ status: 403 });
    expect(refused.pending).toBeGreaterThanOrEqual(2);
    const patient = stranger.batcher({
      onRefused: async () => {
        await stranger.registerAgent({ hostname: 'db-2' });
        return 'again';
      },
    });
    await patient.add(eventOf('patient', 'e'));
    await patient.close();
    expect((await reader.listServices()).map(({ name }) => name)).toContain('patient');
  });

  it('gives up at once when it is aborted', async () => {
    network.fault = () => ({ type: 'cut-before' });
    const stop = new AbortController();
    const batcher = sender.batcher({ signal: stop.signal, maxDelayMs: 0 });
    await batcher.add(eventOf('aborted', 'e'));
    const closing = batcher.close();
    stop.abort(new Error('enough'));
    await expect(closing).rejects.toThrow('enough');
    expect(batcher.pending).toBe(1);
  });
});
