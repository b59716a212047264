/** The stream through the client: typed messages, and no gaps however the connection fares. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type EventBody,
  ForeshockClient,
  ForeshockError,
  type StreamMessage,
} from '../../src/client/index.ts';
import type { StreamOptions } from '../../src/client/stream.ts';
import { TestServer } from '../support/http.ts';
import { removeDirectory, startServer, temporaryDirectory } from '../support/server.ts';
import { Network } from './network.ts';

const RETRY = { baseMs: 10, maxMs: 50 };

const eventOf = (entity: string, service_name = 'orders-db'): EventBody => ({
  service_name,
  vendor: 'v',
  entity,
  event_type: 'deploy',
  confidence: 1,
  ttl_seconds: 3600,
});

const entityOf = (message: StreamMessage) => (message.type === 'event' ? message.data.entity : message.type);

describe('the stream', () => {
  let server: TestServer;
  let network: Network;
  let ingest: ForeshockClient;
  let reader: ForeshockClient;
  let stop = new AbortController();

  beforeAll(async () => {
    server = await TestServer.start();
    network = await Network.start(server.process.port);
    const { ingest: key, readOnly } = server.tenant;
    ingest = new ForeshockClient({ baseUrl: server.process.url, apiKey: key });
    reader = new ForeshockClient({ baseUrl: network.url, apiKey: readOnly, retry: RETRY });
    await ingest.registerAgent({ hostname: 'db-1' });
  });
  afterAll(async () => {
    network.close();
    await server.stop();
  });
  afterEach(() => {
    stop.abort();
    stop = new AbortController();
    network.isStalled = false;
  });

  /** Reads on in the background; resolves once it is connected. */
  async function reading(options: StreamOptions = {}, client = reader) {
    const messages: StreamMessage[] = [];
    const losses: string[] = [];
    const opened = Promise.withResolvers<void>();
    const resumed: boolean[] = [];
    const ended = (async () => {
      const watched: StreamOptions = {
        signal: stop.signal,
        ...options,
        onOpen: (isResumed) => {
          resumed.push(isResumed);
          opened.resolve();
        },
        onLost: ({ detail }) => losses.push(detail),
      };
      for await (const message of client.stream(watched)) messages.push(message);
    })();
    ended.catch(opened.reject);
    await opened.promise;
    const entities = () => messages.map(entityOf);
    return { messages, losses, resumed, ended, entities };
  }

  const until = <Value>(probe: () => Value) => expect.poll(probe, { timeout: 15_000, interval: 10 });

  it('gives what changes as it changes, with its type, and only what was asked for', async () => {
    const all = await reading();
    const some = await reading({ service: 'asked-for', eventType: 'deploy' });
    const { id } = await ingest.registerAgent({ hostname: 'db-2' });
    await ingest.recordEvents([eventOf('one'), eventOf('two', 'asked-for')]);
    await ingest.heartbeat(id);
    await until(all.entities).toEqual(['agent', 'one', 'two', 'heartbeat']);
    expect(all.messages[0]).toMatchObject({ type: 'agent', data: { id, hostname: 'db-2' } });
    expect(all.messages[1]).toMatchObject({
      type: 'event',
      data: { agent_id: id, service_name: 'orders-db' },
    });
    await until(some.entities).toEqual(['two']);
    expect(all.resumed).toEqual([false]);
  });

  it('misses nothing and doubles nothing over connections that are cut, the first before it said anything', async () => {
    const stream = await reading();
    network.cut();
    await ingest.recordEvent(eventOf('missed'));
    await until(stream.entities).toEqual(['missed']);
    const names = Array.from({ length: 200 }, (_, index) => `e${index}`);
    for (const [index, name] of names.entries()) {
      await ingest.recordEvents([eventOf(name), eventOf(`${name}-b`)]);
      if (index % 20 === 7) network.cut();
    }
    await until(stream.entities).toEqual(['missed', ...names.flatMap((name) => [name, `${name}-b`])]);
    expect(stream.losses.length).toBeGreaterThanOrEqual(3);
    expect(stream.resumed.slice(0, 2)).toEqual([false, true]);
  });

  it('comes back as soon after each connection that told something, when the server asks for it', async () => {
    // The server asks for a second; a caller's own bound is for that too.
    const retry = { baseMs: 10, maxMs: 100, random: () => 1 };
    const client = new ForeshockClient({ baseUrl: network.url, apiKey: server.tenant.readOnly, retry });
    const waits: number[] = [];
    const heard: string[] = [];
    const opened = Promise.withResolvers<void>();
    const options: StreamOptions = {
      signal: stop.signal,
      onOpen: () => opened.resolve(),
      onLost: (_, waitMs) => waits.push(waitMs),
    };
    const reading = (async () => {
      for await (const message of client.stream(options)) heard.push(entityOf(message));
    })();
    reading.catch(() => {});
    await opened.promise;
    for (const cuts of [1, 2, 3]) {
      await ingest.recordEvent(eventOf(`cut-${cuts}`));
      await until(() => heard.at(-1)).toBe(`cut-${cuts}`);
      network.cut();
      await until(() => waits.length).toBe(cuts);
    }
    expect(waits).toEqual([110, 110, 110]);
  });

  it('goes on where an earlier one was left', async () => {
    const first = await reading();
    await ingest.recordEvents([eventOf('a'), eventOf('b'), eventOf('c')]);
    await until(first.entities).toEqual(['a', 'b', 'c']);
    const second = await reading({ lastEventId: first.messages[0]?.id ?? '' });
    await until(second.entities).toEqual(['b', 'c']);
  });

  it('tells with a reset that what was missed is not to be had', async () => {
    const stream = await reading({ lastEventId: '999999999' });
    await until(stream.entities).toEqual(['reset']);
    await ingest.recordEvent(eventOf('afterwards'));
    await until(stream.entities).toEqual(['reset', 'afterwards']);
  });

  it('takes a connection that says nothing for dead', async () => {
    const stream = await reading({ silenceMs: 200 });
    network.isStalled = true;
    await ingest.recordEvent(eventOf('unheard'));
    await until(() => stream.losses).toContain('the server has fallen silent');
    network.isStalled = false;
    await until(stream.entities).toEqual(['unheard']);
  });

  it('does not take the time that its reader takes for silence', async () => {
    const losses: string[] = [];
    const stream = reader.stream({
      signal: stop.signal,
      silenceMs: 150,
      onLost: ({ detail }) => losses.push(detail),
    });
    const first = stream.next();
    await until(() => network.open).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await ingest.recordEvent(eventOf('slow-1'));
    expect(entityOf((await first).value)).toBe('slow-1');
    const before = losses.length;
    await ingest.recordEvent(eventOf('slow-2'));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(entityOf((await stream.next()).value)).toBe('slow-2');
    expect(losses).toHaveLength(before);
  });

  it('lives through a restart of the server, killed without a word', async () => {
    const directory = temporaryDirectory();
    let process = await startServer(directory);
    const own = await Network.start(process.port);
    try {
      const retry = { ...RETRY, attempts: 100 };
      const sender = new ForeshockClient({ baseUrl: own.url, apiKey: process.ingestKey, retry });
      await sender.registerAgent({ hostname: 'db-1' });
      const stream = await reading(
        {},
        new ForeshockClient({ baseUrl: own.url, apiKey: process.readOnlyKey, retry }),
      );
      await sender.recordEvent(eventOf('before'));
      await until(stream.entities).toEqual(['before']);
      await process.kill();
      process = await startServer(directory);
      own.target = process.port;
      await sender.recordEvent(eventOf('after'));
      await until(stream.entities).toEqual(['before', 'after']);
    } finally {
      own.close();
      await process.stop();
      removeDirectory(directory);
    }
  });

  it('ends where the server refuses for good', async () => {
    const unknown = new ForeshockClient({ baseUrl: network.url, apiKey: 'fsk_ro_unknown' });
    await expect(unknown.stream().next()).rejects.toMatchObject({ status: 401, retryable: false });
    await expect(reader.stream({ lastEventId: 'no id' }).next()).rejects.toBeInstanceOf(ForeshockError);
    network.fault = () => ({ type: 'answer', status: 404 });
    await expect(reader.stream().next()).rejects.toMatchObject({ status: 404 });
    network.fault = () => ({ type: 'none' });
  });

  it('closes its connection where the loop is left, and where it is aborted', async () => {
    await until(() => network.open).toBe(0);
    const left = reader.stream({ lastEventId: '1' });
    for await (const message of left) {
      expect(message.type).toBeDefined();
      break;
    }
    await until(() => network.open).toBe(0);
    const aborted = await reading();
    expect(network.open).toBe(1);
    stop.abort(new Error('enough'));
    await expect(aborted.ended).rejects.toThrow('enough');
    await until(() => network.open).toBe(0);
  });
});
