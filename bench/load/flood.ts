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
}

export interface FloodResult {
  readonly requests: number;
  readonly perSecond: number;
}

/** @throws Error at the first answer that is not 2xx, and where a connection is lost */
export function flood(options: FloodOptions, nextRequest: () => string): Promise<FloodResult> {
  return new Promise((resolve, reject) => {
    const { port, connections, depth, requests } = options;
    const open: Connection[] = [];
    const startedAt = performance.now();
    const endAt = startedAt + options.seconds * 1000;
    let sent = 0;
    let answered = 0;
    const finish = (error?: Error) => {
      for (const connection of open.splice(0)) connection.close();
      const seconds = (performance.now() - startedAt) / 1000;
      if (error === undefined) resolve({ requests: answered, perSecond: answered / seconds });
      else reject(error);
    };
    const take = (most: number): string => {
      let text = '';
      if (performance.now() >= endAt) return text;
      for (let n = 0; n < most && sent < requests; n += 1) {
        text += nextRequest();
        sent += 1;
      }
      return text;
    };
    const begin = async () => {
      let due = 0;
      const connection = await Connection.open(
        port,
        (status, body) => {
          if (status < 200 || status > 299)
            return finish(new Error(`answered ${status}: ${body.toString()}`));
          answered += 1;
          due += 1;
          // Half of the depth at a time: the other half keeps the server busy meanwhile.
          if (due >= depth / 2) {
            const text = take(due);
            due = 0;
            if (text !== '') connection.send(text);
          }
          if (answered === sent && (sent === requests || performance.now() >= endAt)) finish();
        },
        finish,
      );
      open.push(connection);
      const text = take(depth);
      if (text !== '') connection.send(text);
    };
    for (let n = 0; n < connections; n += 1) begin().catch(finish);
  });
}
