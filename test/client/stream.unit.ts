/** When the stream comes back, and to what. Time passes in waits alone, and where a connection lasts. */
import { describe, expect, it } from 'vitest';
import { ForeshockClient, type StreamMessage } from '../../src/client/index.ts';
import type { Fetch } from '../../src/client/transport.ts';

const HELLO = 'retry: 200\nid: 5\n\n';
const MESSAGE = 'event: heartbeat\nid: 6\ndata: {"agent_id":"a1"}\n\n';
const EVENT_STREAM = { 'Content-Type': 'text/event-stream' };

const said = (text: string, headers: Readonly<Record<string, string>> = EVENT_STREAM) =>
  new Response(text, { headers });

/** Reads until so many connections have been made, the nth of which is answered by `answer(n)`. */
async function follow(connections: number, answer: (nth: number, pass: (ms: number) => void) => Response) {
  const enough = new Error('enough');
  const stop = new AbortController();
  const waits: number[] = [];
  const messages: StreamMessage[] = [];
  let nowMs = 0;
  let made = 0;
  const pass = (milliseconds: number) => {
    nowMs += milliseconds;
  };
  const fetch: Fetch = async () => answer(++made, pass);
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds);
    pass(milliseconds);
    if (made === connections) stop.abort(enough);
  };
  const retry = { baseMs: 10, maxMs: 1000, random: () => 1, sleep, now: () => nowMs };
  const client = new ForeshockClient({ baseUrl: 'http://foreshock', fetch, retry });
  const reading = (async () => {
    for await (const message of client.stream({ signal: stop.signal })) messages.push(message);
  })();
  const error = await reading.catch((reason: unknown) => reason);
  return { waits, messages, error: error === enough ? undefined : error };
}

describe('a stream that the server ends', () => {
  it('comes back later each time, and never sooner than it was asked to', async () => {
    const { waits } = await follow(5, () => said(HELLO));
    expect(waits).toEqual([210, 220, 240, 280, 360]);
  });

  it('comes back as soon as the first time where it has given a message', async () => {
    const { waits, messages } = await follow(4, (nth) => said(nth === 3 ? HELLO + MESSAGE : HELLO));
    expect(waits).toEqual([210, 220, 210, 220]);
    expect(messages.map(({ type, id }) => [type, id])).toEqual([['heartbeat', '6']]);
  });

  it('comes back as soon as the first time where it has lasted', async () => {
    const { waits } = await follow(4, (nth, pass) => {
      const pull = (controller: ReadableStreamDefaultController) => {
        pass(nth === 3 ? 1000 : 999);
        controller.close();
      };
      const lasting = new ReadableStream({ pull }, { highWaterMark: 0 });
      return new Response(lasting, { headers: EVENT_STREAM });
    });
    expect(waits).toEqual([10, 20, 10, 20]);
  });

  it('waits no longer than its own bound for what a server asks for, and by chance', async () => {
    const { waits } = await follow(2, () => said('retry: 99999999999\n\n'));
    expect(waits).toEqual([1010, 1020]);
  });
});

describe('a stream that is refused', () => {
  it.each([408, 429, 500, 502, 503, 504, 520])('with %i is asked for again', async (status) => {
    const { waits, error } = await follow(3, (nth) =>
      nth < 3 ? new Response('not now', { status }) : said(MESSAGE),
    );
    expect([waits, error]).toEqual([[10, 20, 10], undefined]);
  });

  it.each([400, 401, 403, 404])('with %i ends', async (status) => {
    const { waits, error } = await follow(3, () => new Response('no', { status }));
    expect(error).toMatchObject({ status });
    expect(waits).toEqual([]);
  });
});

describe('what is taken for a stream', () => {
  it.each(['text/event-stream; charset=utf-8', 'Text/Event-Stream;charset=UTF-8', 'text/event-stream'])(
    'is %s',
    async (type) => {
      const { messages } = await follow(1, () => said(MESSAGE, { 'Content-Type': type }));
      expect(messages).toHaveLength(1);
    },
  );

  it.each(['text/html', 'text/event-streams', 'text/html; text/event-stream'])('is not %s', async (type) => {
    const { error } = await follow(1, () => said(MESSAGE, { 'Content-Type': type }));
    expect(error).toMatchObject({ kind: 'unexpected' });
  });
});
