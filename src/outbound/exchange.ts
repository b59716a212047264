/**
 * One request and its answer over a connection that stands. The peer is not trusted with anything: not with its
 * length (bodies are cut), its pace (the caller's signal ends the call), its syntax (llhttp's strict mode), nor with
 * compression (bodies stay as they came).
 */
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Answered, Failed, OutboundRequest } from './call-result.ts';
import type { Target } from './target.ts';

/** Of a head, and again of each informational one and of trailers. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Informational answers (1xx) may come in any number; nobody has use for more than a few. */
const MAX_INFORMATIONAL = 8;

export interface ExchangeOptions {
  readonly maxAnswerBytes: number;
  /** Aborted when the call is over, with the reason as a text. */
  readonly over: AbortSignal;
}

/** Resolves when the answer is whole, cut, or known not to come; the connection is closed by then. */
export function exchange(
  request: OutboundRequest,
  target: Target,
  socket: Socket,
  { maxAnswerBytes, over }: ExchangeOptions,
): Promise<Answered | Failed> {
  return new Promise((resolve) => {
    let answer: PartialAnswer | undefined;
    let informational = 0;

    const settle = (outcome: Answered | Failed) => {
      over.removeEventListener('abort', onOver);
      // No connection outlives its call: the next one may go to another place of the same name.
      socket.destroy();
      resolve(outcome);
    };
    /** Nothing more will come. A status that came decides, even if its body did not. */
    const end = (reason: string) => {
      settle(answer === undefined ? { type: 'failed', reason, sent: true } : answer.cut());
    };
    const onOver = () => end(String(over.reason));
    over.addEventListener('abort', onOver, { once: true });

    const outgoing = sendRequest({
      createConnection: () => socket,
      method: request.method,
      path: target.url.pathname + target.url.search,
      headers: headersOf(request, target),
      maxHeaderSize: MAX_HEAD_BYTES,
      insecureHTTPParser: false,
    });
    outgoing.on('information', () => {
      informational += 1;
      if (informational > MAX_INFORMATIONAL) end('the answer never began');
    });
    outgoing.on('upgrade', () => end('the other side changed the protocol'));
    outgoing.on('error', (error: NodeJS.ErrnoException) => end(`no answer: ${error.code ?? 'broken off'}`));
    outgoing.on('close', () => end('no answer: the connection was closed'));
    outgoing.on('response', (incoming) => {
      const partial = new PartialAnswer(incoming, maxAnswerBytes);
      answer = partial;
      incoming.on('data', (chunk: Buffer) => {
        if (!partial.take(chunk)) settle(partial.cut());
      });
      incoming.on('end', () => settle(partial.whole()));
      // Also where the connection is closed before the length that was promised.
      incoming.on('error', () => settle(partial.cut()));
    });
    outgoing.end(request.body ?? undefined);
  });
}

function headersOf(request: OutboundRequest, target: Target): Record<string, string> {
  return {
    host: target.url.host,
    'user-agent': 'foreshock',
    // A compressed answer would be unreadable, not dangerous: nothing here decompresses.
    'accept-encoding': 'identity',
    connection: 'close',
    ...request.headers,
    ...(request.body === null ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
  };
}

/** An answer whose head is there, and as much of its body as is kept. */
class PartialAnswer {
  readonly #incoming: IncomingMessage;
  readonly #decoder = new TextDecoder();
  #bytesLeft: number;
  #body = '';

  constructor(incoming: IncomingMessage, maxAnswerBytes: number) {
    this.#incoming = incoming;
    this.#bytesLeft = maxAnswerBytes;
  }

  /** False where not all of it fitted. */
  take(chunk: Buffer): boolean {
    const fitting = chunk.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= fitting.length;
    this.#body += this.#decoder.decode(fitting, { stream: true });
    return fitting.length === chunk.length;
  }

  whole(): Answered {
    return this.#answered(this.#body + this.#decoder.decode(), true);
  }

  /** Without the character that the cut went through. */
  cut(): Answered {
    return this.#answered(this.#body, false);
  }

  #answered(body: string, complete: boolean): Answered {
    const status = this.#incoming.statusCode ?? 0;
    return { type: 'answered', status, headers: flat(this.#incoming.headers), body, complete };
  }
}

function flat(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
