/**
 * One request and its answer. Whatever happens in between (the client gone, an answer that comes late, a
 * handler that throws), exactly one answer is written, or none where nobody is left to read it.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { Rejection } from '../domain/rejection.ts';
import { EventStream } from './event-stream.ts';
import type { RequestId } from './request-id.ts';
import {
  errorResponse,
  failure,
  type Headers,
  type Response,
  STREAM_HEADERS,
  statusAndId,
} from './responses.ts';
import type { RouteTraffic } from './traffic.ts';

export interface ExchangeOptions {
  readonly requestId: RequestId;
  readonly isHead: boolean;
  readonly traffic: RouteTraffic;
  /** Told of what a handler threw: a mistake of ours, answered with 500. */
  readonly onThrow: (error: unknown, requestId: string) => void;
}

export class Exchange {
  readonly #requestId: RequestId;
  readonly #res: HttpResponse;
  readonly #isHead: boolean;
  readonly #onThrow: ExchangeOptions['onThrow'];
  readonly #traffic: RouteTraffic;
  /** Told with every answer, where the caller's requests are limited. */
  rateLimitHeaders: Headers | undefined;
  readonly #begunAt: number | undefined;
  #wantsJson = false;
  #open = true;
  #inCallback = true;
  #closeAfter = false;
  #stream: EventStream | undefined;

  constructor(res: HttpResponse, options: ExchangeOptions) {
    this.#res = res;
    this.#requestId = options.requestId;
    this.#isHead = options.isHead;
    this.#onThrow = options.onThrow;
    this.#traffic = options.traffic;
    this.#begunAt = options.traffic.begin();
    // First of all: without it, an exception in a handler would end the process.
    res.onAborted(() => {
      if (this.#open) this.#traffic.aborted += 1;
      this.#open = false;
      this.#stream?.aborted();
    });
  }

  /** False once it is answered or the client is gone. */
  get open(): boolean {
    return this.#open;
  }

  set wantsJson(wants: boolean) {
    this.#wantsJson = wants;
  }

  /** Of the peer: 4 or 16 bytes; none where it is gone. To be asked while the request is being taken. */
  get remoteAddress(): Uint8Array {
    return this.#open ? new Uint8Array(this.#res.getRemoteAddress()) : new Uint8Array();
  }

  /** The connection is closed after the answer. */
  closeAfter(): void {
    this.#closeAfter = true;
  }

  /** Runs a step that uWebSockets.js called for: it has corked the socket, so writes go out together. */
  within(step: () => void): void {
    this.enter();
    this.guard(step);
    this.leave();
  }

  /** `within`, in pieces: for a caller that is on the way of every ingest, and saves a closure. */
  enter(): void {
    this.#inCallback = true;
  }

  leave(): void {
    this.#inCallback = false;
  }

  /** Runs a step whose failure is ours. */
  guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.threw(error);
    }
  }

  /** What a step threw is our mistake, answered with 500. */
  threw(error: unknown): void {
    this.#onThrow(error, this.#requestId.toString());
    this.answer(failure(this.#wantsJson, this.#requestId));
  }

  answer(response: Response): void {
    if (!this.#open) return;
    this.#open = false;
    this.#traffic.answered(response.status, this.#begunAt);
    if (this.#inCallback) this.#write(response);
    else this.#res.cork(() => this.#write(response));
  }

  reject(rejection: Rejection, extra: Headers = []): void {
    if (this.#open) this.#traffic.rejected(rejection.kind);
    this.answer(errorResponse(rejection, this.#wantsJson, this.#requestId, extra));
  }

  /** Begins an answer that goes on; undefined where there is nobody to write it to. Only in a step of ours. */
  stream(): EventStream | undefined {
    if (!this.#open) return undefined;
    if (this.#isHead) {
      this.answer({ status: 200, headers: STREAM_HEADERS, body: null });
      return undefined;
    }
    this.#open = false;
    this.#traffic.answered(200, this.#begunAt);
    this.#writeHead(200, STREAM_HEADERS);
    this.#stream = new EventStream(this.#res);
    return this.#stream;
  }

  /** Closes the connection at once, whatever else stands in its buffer. */
  drop(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#res.close();
  }

  #write(response: Response): void {
    const res = this.#res;
    const { status, headers, body } = response;
    this.#writeHead(status, headers);
    // Called with any argument, it would write a Content-Length of its own and leave the answer pending.
    if (status === 204 || status === 304 || this.#isHead) {
      if (this.#closeAfter) res.writeHeader('Connection', 'close');
      if (status !== 204 && status !== 304)
        res.writeHeader('Content-Length', String(Buffer.byteLength(body ?? '')));
      res.endWithoutBody();
    } else if (body === null && !this.#closeAfter) {
      // To hand it an empty text was 0.1 µs.
      res.end();
    } else res.end(body ?? '', this.#closeAfter);
  }

  #writeHead(status: Response['status'], headers: Headers): void {
    const res = this.#res;
    res.writeStatus(statusAndId(status, this.#requestId));
    for (const header of headers) res.writeHeader(header[0], header[1]);
    if (this.rateLimitHeaders === undefined) return;
    for (const header of this.rateLimitHeaders) res.writeHeader(header[0], header[1]);
  }
}
