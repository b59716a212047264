/** An answer that does not end by itself: Server-Sent Events over a response of uWebSockets.js. */
import type { HttpResponse } from 'uWebSockets.js';

/**
 * A comment: uWebSockets.js passes on what it holds back only with something new. And it ends a chunk when the next
 * begins: a client that waits for the end of one would have every message only with the one after it.
 */
const NUDGE = ':\n';

export interface EventStreamListener {
  /** What was held back has been passed on. */
  drained(): void;
  gone(): void;
}

export class EventStream {
  readonly #res: HttpResponse;
  #open = true;
  #listener: EventStreamListener | undefined;

  constructor(res: HttpResponse) {
    this.#res = res;
    res.onWritable(() => {
      const isDrained = res.write(NUDGE);
      if (isDrained) this.#listener?.drained();
      return isDrained;
    });
  }

  set listener(listener: EventStreamListener) {
    this.#listener = listener;
  }

  /** False where the client does not read fast enough: it is held back then, and `drained` is told of. */
  write(bytes: Uint8Array): boolean {
    if (!this.#open) return true;
    let isPassedOn = true;
    this.#res.cork(() => {
      isPassedOn = this.#res.write(bytes) && this.#res.write(NUDGE);
    });
    return isPassedOn;
  }

  /** Ends the answer. Asked to close the connection too, uWebSockets.js would write that header into the body. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#res.cork(() => this.#res.end());
  }

  close(): void {
    if (this.#open) this.#res.close();
  }

  /** The client has gone. */
  aborted(): void {
    this.#open = false;
    this.#listener?.gone();
  }
}
