/** Peers that do not play by the rules: whatever they say, a call ends in time with a value. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { OutboundRequest } from '../../src/outbound/call-result.ts';
import { type CallOptions, call } from '../../src/outbound/http-call.ts';
import { entries } from './entries.ts';
import { aRequest, type Behaviour, type RawPeer, repeat, startRawPeer } from './raw-peer.ts';

const LOOPBACK = entries('127.0.0.1');
/** Short, since many of these calls last as long as they may. */
const LIMITS = { deadlineMs: 300, connectMs: 200, maxAnswerBytes: 1000 };
/** What a busy machine may add to it. */
const SLACK_MS = 1500;

let peer: RawPeer | undefined;
afterEach(async () => {
  await peer?.stop();
  peer = undefined;
});

async function callPeer(
  onRequest: Behaviour,
  {
    request = {},
    options = {},
    onConnect,
  }: {
    readonly request?: Partial<OutboundRequest>;
    readonly options?: CallOptions;
    readonly onConnect?: Behaviour;
  } = {},
) {
  peer = await startRawPeer(onRequest, onConnect);
  const startMs = performance.now();
  const result = await call(aRequest(peer.url, request), LOOPBACK, { limits: LIMITS, ...options });
  expect(performance.now() - startMs).toBeLessThan(LIMITS.deadlineMs + SLACK_MS);
  return result;
}

const saying = (bytes: string) => callPeer((socket) => socket.end(bytes, 'latin1'));
const OK = 'HTTP/1.1 200 OK\r\n';

/** Whatever came of a call, its connection is closed. */
async function expectClosed(): Promise<void> {
  await expect.poll(() => peer?.open()).toBe(0);
}

describe('an honest answer', () => {
  it('is read whole, with its headers in lower case', async () => {
    expect(
      await saying(`HTTP/1.1 202 Yes\r\nX-One: 1\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\ngrüße`),
    ).toEqual({
      type: 'answered',
      status: 202,
      headers: new Map([
        ['x-one', '1'],
        ['set-cookie', 'a, b'],
      ]),
      body: 'gr\ufffd\ufffde',
      complete: true,
    });
    await expectClosed();
  });

  it('may come in chunks, or without a body', async () => {
    expect(
      await saying(`${OK}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`),
    ).toMatchObject({
      body: 'abc',
      complete: true,
    });
    expect(await saying('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({
      status: 204,
      body: '',
      complete: true,
    });
  });

  it('may be exactly as long as is kept', async () => {
    const body = 'x'.repeat(1000);
    expect(await saying(`${OK}content-length: 1000\r\n\r\n${body}`)).toMatchObject({ body, complete: true });
  });

  it('is not decompressed', async () => {
    expect(
      await saying(`${OK}content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00`),
    ).toMatchObject({
      body: '\x1f\ufffd\x08\0',
      complete: true,
    });
  });

  it('is asked for with what the request says, framed and on a connection of its own', async () => {
    await callPeer((socket) => socket.end(`${OK}content-length: 0\r\n\r\n`), {
      request: { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}' },
    });
    expect(peer?.received).toEqual([
      [
        'PUT / HTTP/1.1',
        `host: 127.0.0.1:${peer?.port}`,
        'user-agent: foreshock',
        'accept-encoding: identity',
        'connection: close',
        'content-type: application/json',
        'content-length: 10',
        '',
        '{"a":"\xc3\xbc"}',
      ].join('\r\n'),
    ]);
  });
});

describe('an answer that is cut', () => {
  const kept = { type: 'answered', status: 200, complete: false };

  it.each([
    [
      'longer than is kept',
      (send: string) => `content-length: 1001\r\n\r\n${send}`,
      'x'.repeat(1001),
      'x'.repeat(1000),
    ],
    ['of a huge length', (send: string) => `content-length: 9007199254740991\r\n\r\n${send}`, 'abc', 'abc'],
    [
      'chunked and longer',
      (send: string) => `transfer-encoding: chunked\r\n\r\n7d0\r\n${send}`,
      'x'.repeat(2000),
      'x'.repeat(1000),
    ],
    ['shorter than it said', (send: string) => `content-length: 10\r\n\r\n${send}`, 'abc', 'abc'],
    [
      'chunked without an end',
      (send: string) => `transfer-encoding: chunked\r\n\r\n3\r\n${send}\r\n`,
      'abc',
      'abc',
    ],
  ])('because it is %s keeps its status and its beginning', async (_, framed, send, body) => {
    expect(await saying(OK + framed(send))).toMatchObject({ ...kept, body });
    await expectClosed();
  });

  it('because its chunks cannot be told apart keeps its status', async () => {
    const result = await saying(`${OK}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`);
    expect(result).toMatchObject(kept);
    await expectClosed();
  });

  it('is not cut through a character', async () => {
    const limits = { ...LIMITS, maxAnswerBytes: 4 };
    const result = await callPeer((socket) => socket.end(`${OK}\r\nabc\xc3\xbc`, 'latin1'), {
      options: { limits },
    });
    expect(result).toMatchObject({ ...kept, body: 'abc' });
  });

  it('because it comes a byte at a time ends at the deadline', async () => {
    const result = await callPeer((socket) => {
      socket.write(`${OK}content-length: 900\r\n\r\n`);
      repeat(socket, 'x', 20);
    });
    expect(result).toMatchObject({ ...kept, body: expect.stringMatching(/^x+$/) });
    await expectClosed();
  });

  it('because it never ends is kept up to its limit', async () => {
    const result = await callPeer((socket) => {
      socket.write(`${OK}\r\n`);
      repeat(socket, 'x'.repeat(10_000), 1);
    });
    expect(result).toMatchObject({ ...kept, body: 'x'.repeat(1000) });
    await expectClosed();
  });

  it('because the connection is reset keeps what came before', async () => {
    const result = await callPeer((socket) => {
      socket.write(`${OK}content-length: 900\r\n\r\nabc`);
      setTimeout(() => socket.resetAndDestroy(), 50);
    });
    expect(result).toMatchObject({ ...kept, body: 'abc' });
  });

  it('because of endless chunk extensions or trailers ends', async () => {
    for (const beginning of ['3;', '3\r\nabc\r\n0\r\nx-trailer: ']) {
      const result = await callPeer((socket) => {
        socket.write(`${OK}transfer-encoding: chunked\r\n\r\n${beginning}`);
        repeat(socket, 'x'.repeat(10_000), 1);
      });
      expect(result).toMatchObject(kept);
      await expectClosed();
      await peer?.stop();
    }
  });
});

describe('an answer that is none', () => {
  const failed = { type: 'failed', sent: true };

  it.each([
    ['nothing', ''],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an invalid status line', 'HTTP/1.1 abc Fine\r\n\r\n'],
    ['a status line of two digits', 'HTTP/1.1 20 Fine\r\n\r\n'],
    ['a status line without an end', 'HTTP/1.1 200 '],
    ['a head without an end', `${OK}x-a: b\r\n`],
    ['a header without a colon', `${OK}nonsense\r\n\r\n`],
    ['a header with a NUL in it', `${OK}x-a: b\0c\r\n\r\n`],
    ['a negative length', `${OK}content-length: -1\r\n\r\nabc`],
    ['two lengths', `${OK}content-length: 3\r\ncontent-length: 4\r\n\r\nabcd`],
    ['a length and chunks', `${OK}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a head of 20 KB', `${OK}x-a: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a change of protocols', 'HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('but %s fails', async (_, bytes) => {
    expect(await saying(bytes)).toMatchObject(failed);
    await expectClosed();
  });

  it.each([
    ['a header that never ends', `${OK}x-a: `, 'x'.repeat(1000)],
    ['headers that never end', OK, 'x-a: b\r\n'.repeat(100)],
    ['informational answers that never end', '', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'],
    ['a hundred continues', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a status line that never ends', 'HTTP/1.1 200 ', 'x'.repeat(1000)],
  ])('but %s ends', async (_, beginning, again) => {
    const result = await callPeer((socket) => {
      socket.write(beginning);
      repeat(socket, again, 1);
    });
    expect(result).toMatchObject(failed);
    await expectClosed();
  });

  it('but many informational answers are not waited out', async () => {
    const many = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(9);
    const result = await callPeer((socket) => socket.write(many));
    expect(result).toEqual({ ...failed, reason: 'the answer never began' });
    await expectClosed();
  });

  it('but one informational answer is waited out', async () => {
    const result = await saying(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}content-length: 2\r\n\r\nhi`);
    expect(result).toMatchObject({ type: 'answered', status: 200, body: 'hi' });
  });

  it('but silence ends at the deadline', async () => {
    expect(await callPeer(() => {})).toEqual({ ...failed, reason: 'no answer within 300 ms' });
    await expectClosed();
  });

  it('but headers one byte at a time end at the deadline', async () => {
    const result = await callPeer((socket) => {
      socket.write(`${OK}x-a: `);
      repeat(socket, 'x', 10);
    });
    expect(result).toEqual({ ...failed, reason: 'no answer within 300 ms' });
  });

  it('but a reset, before or after the request, fails', async () => {
    const reset: Behaviour = (socket) => socket.resetAndDestroy();
    expect(await callPeer(reset)).toMatchObject(failed);
    await peer?.stop();
    // Connected, so something may have been written: who knows how far the other side read.
    expect(await callPeer(() => {}, { onConnect: reset })).toMatchObject({ type: 'failed' });
  });
});

describe('an answer before the request is through', () => {
  it('counts, and the rest of the request is not sent', async () => {
    const body = 'x'.repeat(8 * 1024 * 1024);
    const result = await callPeer(() => {}, {
      request: { body },
      onConnect: (socket) => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too much\r\ncontent-length: 2\r\n\r\nno');
      },
    });
    expect(result).toMatchObject({ type: 'answered', status: 413, body: 'no' });
    await peer?.stop();
  });
});

describe('any answer', () => {
  /** Pieces of answers, whole and broken, and bytes that are none. */
  const piece = fc.oneof(
    fc.constantFrom(
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.0 500 \r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 ',
      'content-length: 5\r\n',
      'transfer-encoding: chunked\r\n',
      'transfer-encoding: gzip, chunked\r\n',
      'connection: upgrade\r\nupgrade: h2c\r\n',
      'x: y\r\n',
      '\r\n',
      '\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'hello',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  );

  it('ends the call with a value, at once where the connection ends', async () => {
    let pieces: readonly string[] = [];
    peer = await startRawPeer((socket) => {
      for (const each of pieces) socket.write(each, 'latin1');
      socket.end();
    });
    const { url } = peer;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (answer) => {
        pieces = answer;
        const result = await call(aRequest(url), LOOPBACK, { limits: { ...LIMITS, deadlineMs: 5000 } });
        expect(['answered', 'failed']).toContain(result.type);
        if (result.type === 'failed')
          expect(result).toMatchObject({ sent: true, reason: expect.not.stringContaining('within') });
      }),
      { numRuns: 300, examples: [[['HTTP/1.1 200 OK\r\n', '\r\n', 'hello']]] },
    );
  });
});

describe('a call that is not made', () => {
  it('because nobody listens fails, and nothing was sent', async () => {
    const gone = await startRawPeer(() => {});
    await gone.stop();
    expect(await call(aRequest(gone.url), LOOPBACK, { limits: LIMITS })).toEqual({
      type: 'failed',
      reason: 'no connection: ECONNREFUSED',
      sent: false,
    });
  });

  it('because the server is stopping fails, and nothing was sent', async () => {
    const stopped = { options: { signal: AbortSignal.abort() } };
    expect(await callPeer(() => {}, stopped)).toEqual({
      type: 'failed',
      reason: 'the server is stopping',
      sent: false,
    });
    expect(peer?.received.join('')).toBe('');
  });

  it('to its end because the server stops says that it was sent', async () => {
    const stop = new AbortController();
    const result = await callPeer(() => stop.abort(), { options: { signal: stop.signal } });
    expect(result).toEqual({ type: 'failed', reason: 'the server is stopping', sent: true });
    await expectClosed();
  });

  it('leaves nothing behind at the signal', async () => {
    const listeners = new Set<unknown>();
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.add(args[1]);
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.delete(args[1]);
      remove(...args);
    };
    await callPeer((socket) => socket.end(`${OK}\r\n`), { options: { signal } });
    expect(listeners.size).toBe(0);
  });
});
