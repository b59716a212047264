/**
 * `GET /v1/stream` as something to iterate over. A connection that is lost is made anew, and goes on after the last
 * message; one that says nothing for longer than the server ever does is taken for dead. Where the server does not keep
 * what was missed any more, a message `reset` says so, and the next are of what comes from there on.
 *
 * It comes back no sooner than the server asks for (`retry:`, where that is within `maxMs` of the policy), and waits
 * longer each time until a connection has given a message or has lasted.
 */
import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import type { EventType } from '../domain/event.ts';
import type { streamSchemas } from '../http/api-schemas/stream.ts';
import { ForeshockError } from './error.ts';
import { waitBeforeRetry } from './retry.ts';
import type { Transport } from './transport.ts';

type Schemas = typeof streamSchemas;

/** `id` is where to go on after it: the `lastEventId` of another stream. */
export type StreamMessage = {
  [Type in keyof Schemas]: {
    readonly type: Type;
    readonly id: string;
    readonly data: Readonly<z.output<Schemas[Type]>>;
  };
}[keyof Schemas];

/** What makes a connection. */
export interface StreamOptions {
  /** Only what is of this service. */
  readonly service?: string;
  /** Only events of this type. */
  readonly eventType?: EventType;
  /** After which message to begin; without it with what comes from now on. */
  readonly lastEventId?: string;
  /** Ends the iteration, which rejects with its reason. */
  readonly signal?: AbortSignal;
  /** After how long without a sign of life a connection is dead, milliseconds; default 40 000, the server's is 15 000. */
  readonly silenceMs?: number;
  /** It is connected; `isResumed` where it goes on after a message, and nothing was missed but for a `reset`. */
  readonly onOpen?: (isResumed: boolean) => void;
  /** The connection is lost, or was not made; it is made anew after `waitMs`. */
  readonly onLost?: (error: ForeshockError, waitMs: number) => void;
}

const PATH = '/v1/stream';
const SILENCE_MS = 40_000;

/**
 * Messages, as many at a time as came together. Ends only with an error: a `ForeshockError` where the server refuses
 * the request for good (401, 403, 400 …).
 */
export async function* readStream(
  transport: Transport,
  options: StreamOptions,
): AsyncGenerator<readonly StreamMessage[], never, undefined> {
  const { signal, onOpen, onLost } = options;
  const { retry } = transport;
  const place = { lastEventId: options.lastEventId ?? '', leastWaitMs: 0 };
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    let problem: ForeshockError;
    let openedAtMs = Number.POSITIVE_INFINITY;
    try {
      const chunks = readOnce(transport, options, place, () => {
        openedAtMs = retry.now();
        onOpen?.(place.lastEventId !== '');
      });
      for await (const messages of chunks) {
        failures = 0;
        yield messages;
      }
      problem = lost('the server ended the stream');
    } catch (error) {
      if (!(error instanceof ForeshockError && error.isServerAway)) throw error;
      problem = error;
    }
    if (retry.now() - openedAtMs >= retry.maxMs) failures = 0;
    const leastMs = Math.max(problem.retryAfterMs ?? 0, Math.min(place.leastWaitMs, retry.maxMs));
    const waitMs = waitBeforeRetry(retry, ++failures, leastMs);
    onLost?.(problem, waitMs);
    await retry.sleep(waitMs, signal);
  }
}

/** What the next connection has from those before it. */
interface Place {
  lastEventId: string;
  leastWaitMs: number;
}

async function* readOnce(
  transport: Transport,
  options: StreamOptions,
  place: Place,
  onOpen: () => void,
): AsyncGenerator<readonly StreamMessage[], void, undefined> {
  const { signal, silenceMs = SILENCE_MS } = options;
  const connection = new AbortController();
  const stop = () => connection.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  /** What takes too long is given up. Not so the time that a caller takes for a message. */
  const inTime = async <T>(waiting: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => connection.abort(lost('the server has fallen silent')), silenceMs);
    try {
      return await waiting;
    } catch (error) {
      signal?.throwIfAborted();
      if (connection.signal.aborted) throw connection.signal.reason;
      throw error instanceof ForeshockError ? error : lost('the connection was cut');
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const resume = place.lastEventId === '' ? {} : { 'Last-Event-ID': place.lastEventId };
    const accept = 'text/event-stream, application/problem+json';
    const request = {
      method: 'GET',
      path: PATH + queryOf(options),
      accept,
      headers: resume,
      isRepeatable: true,
    } as const;
    const { body, headers } = await inTime(transport.open(request, connection.signal));
    if (body === null || !isEventStream(headers)) throw noStream();
    onOpen();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let gathered: StreamMessage[] = [];
    const parser = createParser({
      onId: (id) => {
        place.lastEventId = id;
      },
      onRetry: (milliseconds) => {
        place.leastWaitMs = milliseconds;
      },
      onEvent: ({ event = '', data }) => {
        gathered.push({ type: event, id: place.lastEventId, data: JSON.parse(data) } as StreamMessage);
      },
    });
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      parser.feed(value);
      if (gathered.length > 0) yield gathered;
      gathered = [];
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    connection.abort();
  }
}

function queryOf({ service, eventType }: StreamOptions): string {
  const query = new URLSearchParams();
  if (service !== undefined) query.set('service', service);
  if (eventType !== undefined) query.set('event_type', eventType);
  return query.size > 0 ? `?${query}` : '';
}

function isEventStream(headers: Headers): boolean {
  const [mediaType = ''] = (headers.get('content-type') ?? '').split(';');
  return mediaType.trim().toLowerCase() === 'text/event-stream';
}

function lost(detail: string): ForeshockError {
  return new ForeshockError({
    kind: 'unreachable',
    call: `GET ${PATH}`,
    status: null,
    title: 'No answer',
    detail,
  });
}

function noStream(): ForeshockError {
  return new ForeshockError({
    kind: 'unexpected',
    call: `GET ${PATH}`,
    status: 200,
    title: 'No stream',
    detail: 'the answer is not a stream; is the address right?',
  });
}
