/** Collecting a request's body: counted as it comes, since Content-Length need not be there or true. */
import type { HttpResponse } from 'uWebSockets.js';
import { tooLarge } from '../domain/rejection.ts';
import type { Exchange } from './exchange.ts';

/**
 * A body over its limit is read to its end and dropped, so that the client, which sends before it listens,
 * gets to see the 413; but not past this, where it is cut off.
 */
const DRAIN_BYTES = 16 * 1024 * 1024;

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
  const refuse = () => {
    exchange.closeAfter();
    exchange.reject(tooLarge(`the body is larger than ${maxBytes} bytes`));
  };
  if (contentLength !== undefined && contentLength > DRAIN_BYTES) {
    refuse();
    return;
  }
  let received = 0;
  let chunks: Buffer[] | undefined;
  res.onData((chunk, isLast) => {
    if (!exchange.open) return;
    exchange.within(() => {
      received += chunk.byteLength;
      if (received > maxBytes) {
        chunks = undefined;
        if (isLast || received > DRAIN_BYTES) refuse();
        return;
      }
      // A view: uWebSockets.js takes the bytes back on return, so only a last chunk may be used as it is.
      const view = Buffer.from(chunk);
      if (isLast && chunks === undefined) {
        done(view);
        return;
      }
      chunks ??= [];
      chunks.push(Buffer.from(view));
      if (isLast) done(Buffer.concat(chunks));
    });
  });
}
