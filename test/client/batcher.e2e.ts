/** What becomes of a batch that the server refuses for one of its events, and of callbacks that throw. */
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatcherOptions, type EventBody, ForeshockClient } from '../../src/client/index.ts';
import { TestServer } from '../support/http.ts';
import { Network } from './network.ts';

const NO_ROOM = 'a tenant has at most 2 services';

const eventOf = (service_name: string, entity: string): EventBody => ({
  service_name,
  vendor: 'v',
  entity,
  event_type: 'deploy',
  confidence: 1,
  ttl_seconds: 3600,
});

describe('a batcher', () => {
  let server: TestServer;
  let network: Network;
  let sender: ForeshockClient;
  let reader: ForeshockClient;
  let agentId = '';
  let runs = 0;

  beforeAll(async () => {
    server = await TestServer.start('--max-services', '2');
    network = await Network.start(server.process.port);
    const retry = { baseMs: 1, maxMs: 4 };
    sender = new ForeshockClient({ baseUrl: network.url, apiKey: server.tenant.ingest, retry });
    reader = new ForeshockClient({ baseUrl: server.process.url, apiKey: server.tenant.readOnly });
    agentId = (await sender.registerAgent({ hostname: 'db-1' })).id;
    await sender.recordEvents([eventOf('known', 'first'), eventOf('other', 'first')]);
  });
  afterAll(async () => {
    network.close();
    await server.stop();
  });
  beforeEach(() => {
    network.requests.length = 0;
    network.fault = () => ({ type: 'none' });
  });

  /** Adds a thousand events of a known service, the given ones of services that there is no room for, and closes. */
  async function sendAmong(places: readonly number[], options: BatcherOptions = {}) {
    const run = ++runs;
    const sizes: number[] = [];
    const accepted: string[] = [];
    const rejected: string[] = [];
    const batcher = sender.batcher({
      onAccepted: (events) => {
        sizes.push(events.length);
        accepted.push(...events.map(({ entity }) => entity));
      },
      onRejected: ({ entity }, detail) => rejected.push(`${entity}: ${detail}`),
      ...options,
    });
    for (let index = 0; index < 1000; index += 1) {
      const service = places.includes(index) ? `new-${run}-${index}` : 'known';
      await batcher.add(eventOf(service, `${run}-${index}`));
    }
    await batcher.flush();
    const wanted = Array.from({ length: 1000 }, (_, index) => index).filter(
      (index) => !places.includes(index),
    );
    const names = wanted.map((index) => `${run}-${index}`);
    return { run, batcher, sizes, accepted, rejected, names };
  }

  /** Oldest first. */
  async function recorded(run: number): Promise<readonly string[]> {
    const entities: string[] = [];
    for await (const { entity } of reader.agentEvents(agentId)) {
      if (entity.startsWith(`${run}-`)) entities.push(entity);
    }
    return entities.reverse();
  }

  it('records all that there is room for, in order, where one service is too many', async () => {
    const { run, accepted, rejected, names } = await sendAmong([700]);
    expect(rejected).toEqual([`${run}-700: ${NO_ROOM}`]);
    expect(accepted).toEqual(names);
    expect(await recorded(run)).toEqual(names);
    // To find one of a thousand: halved ten times, each half sent.
    expect(network.requests.length).toBeLessThanOrEqual(21);
  });

  it('does so once over a network on which answers are lost', async () => {
    let requests = 0;
    network.fault = () => ({ type: ++requests % 3 === 0 ? 'cut-after' : 'none' });
    const { run, rejected, names } = await sendAmong([0, 500, 999]);
    expect(rejected).toEqual([0, 500, 999].map((index) => `${run}-${index}: ${NO_ROOM}`));
    expect(await recorded(run)).toEqual(names);
  });

  it('sends as many at a time afterwards as before', async () => {
    const { batcher, sizes } = await sendAmong([3], { maxBuffered: 2000 });
    sizes.length = 0;
    for (let index = 0; index < 1000; index += 1) await batcher.add(eventOf('known', `after-${index}`));
    await batcher.close();
    expect(sizes).toEqual([1000]);
  });

  it('fails where a callback throws, also as it is told of the last events', async () => {
    const stop = new AbortController();
    const broken = () => {
      throw new Error('mine');
    };
    const batcher = sender.batcher({ onAccepted: broken, signal: stop.signal });
    await batcher.add(eventOf('known', 'last'));
    await expect(batcher.close()).rejects.toThrow('mine');
    expect(batcher.pending).toBe(0);
    stop.abort(new Error('too late to matter'));
    await expect(batcher.flush()).rejects.toThrow('mine');
  });

  it.each(['closed', 'failed'])('leaves nothing at its signal when it has %s', async (how) => {
    const { signal } = new AbortController();
    if (how === 'failed') network.fault = () => ({ type: 'answer', status: 401 });
    const batcher = sender.batcher({ signal });
    await batcher.add(eventOf('known', 'one'));
    expect(getEventListeners(signal, 'abort')).not.toEqual([]);
    await batcher.close().catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
