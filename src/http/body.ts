/** Collecting a request's body: counted as it comes, since Content-Length need not be there or true. */
import type { HttpResponse } from 'uWebSockets.js';
// The global of that name is a getter, which would be called for every request.
import { Buffer } from 'node:buffer';
import { tooLarge } from '../domain/rejection.ts';
import type { Exchange } from './exchange.ts';

/**
 * A body over its limit is read to its end and dropped, so that the client, which sends before it listens,
 * gets to see the 413; but not past this, where it is cut off.
 */
const DRAIN_BYTES = 16 * 1024 * 1024;

const NO_BYTES = Buffer.alloc(0);

export interface BodyOptions {
  readonly maxBytes: number;
  readonly contentLength: number | undefined;
}

/** Hands the whole body to `done`, or answers 413. The bytes are good only during the call. */
export function readBody(
  res: HttpResponse,
  exchange: Exchange,
  options: BodyOptions,
  done: (body: Buffer) => void,
): void {
  const { maxBytes, contentLength } = options;
  if (contentLength !== undefined && contentLength > DRAIN_BYTES) return refuse(exchange, maxBytes, true);
  // uWebSockets.js says nothing of the end of a body of no bytes where the head has come in pieces.
  if (contentLength === 0) return done(NO_BYTES);
  let received = 0;
  let body: Buffer | undefined;
  res.onData((chunk, isLast) => {
    if (!exchange.open) return;
    exchange.enter();
    try {
      const before = received;
      received += chunk.byteLength;
      if (received > maxBytes) {
        body = undefined;
        if (isLast || received > DRAIN_BYTES) refuse(exchange, maxBytes, !isLast);
        return;
      }
      // A view: uWebSockets.js takes the bytes back on return, so only a last chunk may be used as it is.
      const view = Buffer.from(chunk);
      if (isLast && before === 0) return done(view);
      body = grown(body, before, received, maxBytes);
      view.copy(body, before);
      if (isLast) done(body.subarray(0, received));
    } catch (error) {
      exchange.threw(error);
    } finally {
      exchange.leave();
    }
  });
}

function refuse(exchange: Exchange, maxBytes: number, cutOff: boolean): void {
  if (cutOff) exchange.closeAfter();
  exchange.reject(tooLarge(`the body is larger than ${maxBytes} bytes`));
}

/** One buffer that doubles: a body that comes a byte at a time must not cost an object a byte. */
function grown(body: Buffer | undefined, filled: number, needed: number, maxBytes: number): Buffer {
  if (body !== undefined && needed <= body.length) return body;
  const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(4096, 2 * needed)));
  body?.copy(larger, 0, 0, filled);
  return larger;
}
