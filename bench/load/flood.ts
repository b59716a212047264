/** As many requests as the server takes: every connection keeps a number of them under way. */
import { Connection } from './connection.ts';

export interface FloodOptions {
  readonly port: number;
  readonly connections: number;
  /** Requests under way on a connection. */
  readonly depth: number;
  /** Ends after so many requests … */
  readonly requests: number;
  /** … or when this long has passed, whichever comes first. */
  readonly seconds: number;
  /**
   * What becomes of a request that is answered 503: it fails the flood, or another is sent in its place, for work that must
   * be done and whose time is not measured: a disk that stands still for a while refuses it. Another, since how long events
   * live may hang on when they are sent.
   */
  readonly refused: 'fails' | 'replaced';
}

/** Retry-After, as the server says it. */
const RETRY_AFTER_MS = 1000;

export interface FloodResult {
  readonly requests: number;
  readonly perSecond: number;
}

/** @throws Error at the first answer that is neither 2xx nor to be made good, and where a connection is lost */
export function flood(options: FloodOptions, nextRequest: () => string): Promise<FloodResult> {
  return new Promise((resolve, reject) => {
    const { port, connections, depth, requests } = options;
    const open: Connection[] = [];
    const startedAt = performance.now();
    const endAt = startedAt + options.seconds * 1000;
    let begun = 0;
    let underWay = 0;
    let answered = 0;
    let isOver = false;
    const finish = (error?: Error) => {
      isOver = true;
      for (const connection of open.splice(0)) connection.close();
      const seconds = (performance.now() - startedAt) / 1000;
      if (error === undefined) resolve({ requests: answered, perSecond: answered / seconds });
      else reject(error);
    };
    const begin = async () => {
      let due = depth;
      let isPaused = false;
      const send = () => {
        let text = '';
        for (; due > 0 && begun < requests && performance.now() < endAt; due -= 1) {
          begun += 1;
          underWay += 1;
          text += nextRequest();
        }
        if (text !== '') connection.send(text);
      };
      const pause = () => {
        isPaused = true;
        setTimeout(() => {
          if (isOver) return;
          isPaused = false;
          send();
          finishIfDone();
        }, RETRY_AFTER_MS);
      };
      const finishIfDone = () => {
        if (underWay === 0 && (answered === requests || performance.now() >= endAt)) finish();
      };
      const connection = await Connection.open(
        port,
        (status, body) => {
          underWay -= 1;
          due += 1;
          if (status >= 200 && status <= 299) answered += 1;
          else if (status === 503 && options.refused === 'replaced') {
            begun -= 1;
            if (!isPaused) pause();
          } else return finish(new Error(`answered ${status}: ${body.toString()}`));
          // Half of the depth at a time: the other half keeps the server busy meanwhile.
          if (due >= depth / 2 && !isPaused) send();
          finishIfDone();
        },
        finish,
      );
      if (isOver) return connection.close();
      open.push(connection);
      send();
    };
    for (let n = 0; n < connections; n += 1) begin().catch(finish);
  });
}
